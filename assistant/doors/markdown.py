"""Markdown of people and models as safe HTML, whole or while it is still being written.

Three walls: markdown-it-py renders no raw HTML and no images and accepts only links of three kinds; nh3 lets a
closed list of tags and attributes through; and nothing that htmx would read as its own tag leaves here, because
htmx 4 rewrites `<hx-…` by a regular expression before the browser parses it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

LONGEST = 100_000
"""Characters of one message that are read as Markdown; a longer one is shown as it is written."""

_BLOCKS = ("p", "br", "hr", "h2", "ul", "ol", "li", "blockquote", "pre", "div")
_TABLES = ("table", "thead", "tbody", "tr", "th", "td")
TAGS = frozenset((*_BLOCKS, *_TABLES, "a", "code", "em", "s", "strong"))
_ATTRIBUTES: dict[str, set[str]] = {"*": set(), "a": {"href"}, "ol": {"start"}}
_CLASSES = {"div": {"table"}, "th": {"right", "centre"}, "td": {"right", "centre"}}
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\s\\]")
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
"""Controls, carriage returns, marks of writing direction and tags: they show nothing and move what is shown."""
_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]*")
_ALIGN = {"text-align:right": "right", "text-align:center": "centre"}


def allowed_link(url: str) -> bool:
    """http and https with a host, mailto, and paths of this site; decided on the text that the browser will get."""
    if _CONTROLS.search(url):
        return False
    if _PATH.fullmatch(url):
        return True
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    match parts.scheme:
        case "http" | "https":
            return bool(parts.hostname) and "@" not in parts.netloc
        case "mailto":
            return "@" in parts.path
        case _:
            return False


class _Renderer(RendererHTML):
    """HTML under a page's heading: all headings of one rank, so that none is skipped; tables that scroll; no style."""

    def heading_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return "<h2>"

    def heading_close(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return "</h2>\n"

    def table_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return '<div class="table"><table>\n'

    def table_close(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return _cell("th", tokens[at])

    def td_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return _cell("td", tokens[at])


def _cell(tag: str, token: Token) -> str:
    side = _ALIGN.get(str(token.attrGet("style")))
    return f'<{tag} class="{side}">' if side else f"<{tag}>"


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "maxNesting": 12}, renderer_cls=_Renderer)
    reader.enable(["table", "strikethrough"])
    # References reach backwards: a definition at the end would change blocks that are finished.
    reader.disable(["image", "reference", "html_block", "html_inline", "autolink"])
    reader.validateLink = allowed_link  # type: ignore[method-assign]
    return reader


_reader_of_all = _reader()
_reader_of_blocks = _reader()
_reader_of_blocks.core.ruler.enableOnly(["normalize", "block"])
_cleaner = nh3.Cleaner(
    tags=set(TAGS),
    attributes=_ATTRIBUTES,
    allowed_classes=_CLASSES,
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener noreferrer",
    strip_comments=True,
)


def render(text: str) -> SafeString:
    """The text as HTML that may stand in a page. Never raises; hostile input costs time linear in its length."""
    text = _UNSEEN.sub("", text)
    if len(text) > LONGEST:
        return mark_safe(f"<p>{escape(text)}</p>")  # noqa: S308 - escaped on this line
    cleaned = _cleaner.clean(_reader_of_all.render(text))
    return mark_safe(cleaned.replace("<hx-", "&lt;hx-"))  # noqa: S308 - from nh3


_CLOSED_BY_A_BLANK_LINE = frozenset({"paragraph_open", "heading_open", "hr"})


def finished(text: str) -> int:
    """How many characters at the start belong to blocks that more text at the end can no longer change.

    The last block is open, and so is a line that has not ended: "#" begins a heading, "#1" does not.
    """
    whole_lines = text[: text.rfind("\n") + 1]
    blocks = [token for token in _reader_of_blocks.parse(whole_lines) if token.level == 0 and token.map]
    if not blocks:
        return 0
    lines = whole_lines.split("\n")
    start, end = blocks[-1].map or (0, 0)
    if blocks[-1].type in _CLOSED_BY_A_BLANK_LINE and end < len(lines) - 1 and not lines[end].strip():
        start = end
    return sum(len(line) + 1 for line in lines[:start])


@dataclass
class Writing:
    """A message while it is written: finished blocks are given out once, the open one as often as it changes."""

    text: str = ""
    done: int = field(default=0)

    def add(self, more: str) -> tuple[SafeString, SafeString]:
        """The HTML of the blocks that `more` finished, and of the block that is open now."""
        self.text += _UNSEEN.sub("", more)
        tail = self.text[self.done :]
        if len(self.text) > LONGEST:
            return SafeString(""), mark_safe(f"<p>{escape(tail)}</p>")  # noqa: S308 - escaped on this line
        ready = finished(tail)
        self.done += ready
        return (render(tail[:ready]) if ready else SafeString("")), render(tail[ready:])


def plain(text: str, limit: int = 200) -> str:
    """The words of a Markdown text without its marks, for a title or an announcement."""
    words: list[str] = []
    for token in _reader_of_all.parse(text[: 4 * limit]):
        words += [child.content for child in token.children or [] if child.content] + (
            [token.content] if token.type in ("fence", "code_block") else []
        )
    joined = " ".join(" ".join(words).split())
    return joined if len(joined) <= limit else joined[: limit - 1].rstrip() + "…"
