"""Whatever a model or a stranger writes: allowed tags, allowed links, nothing for htmx, no time lost."""

import time
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assistant.doors import markdown

VOID = {"br", "hr"}
ALLOWED_ATTRIBUTES = {
    "a": {"href", "rel"},
    "ol": {"start"},
    "th": {"class"},
    "td": {"class"},
    "div": {"class"},
}
TAGS_OF_OTHERS = ("<", ">", "</", "<hx-get ", "<hx-partial hx-target=body>", "<script>", "<img src=x onerror=", "<!--")
LINKS = ("](", "[a", ")", "![", "javascript:", "data:text/html,", "//host", "/c/", "https://a.example/", "mailto:a@b.c")
MARKS = ("`", "```\n", "~~", "*", "**", "_", "# ", "\n", "\n\n", "> ", "- ", "1. ", "|", "|-|-|\n", "---\n", "===\n")
ODD = ('"', "'", "&", "&lt;", "&#106;", "&colon;", "\\", "\t", "    ", "\x00", "\r\n", "\u202e", "é", "😀", "onclick=")
PIECES = st.sampled_from((*TAGS_OF_OTHERS, *LINKS, *MARKS, *ODD))
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map("".join))


class Reader(HTMLParser):
    """Reads HTML as a browser would and holds on to everything that is not allowed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.links: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in markdown.TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ALLOWED_ATTRIBUTES.get(tag, set()):
                self.wrong.append(f"<{tag} {name}={value}>")
            if name == "href":
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(f"<!{decl}>")


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def harmless(html: str) -> bool:
    reader = read(html)
    assert reader.wrong == [], html
    assert all(markdown.allowed_link(link) for link in reader.links), html
    return "<hx-" not in html.lower()


@settings(max_examples=600, deadline=None)
@given(TEXTS)
@example("<hx-a onfocus=alert(1) autofocus>")
@example('[x](/c/ "<hx-a onfocus=alert(1)>")')
@example("`<hx-partial hx-target=body>`")
def test_any_text_becomes_harmless_html(text: str) -> None:
    assert harmless(markdown.render(text))


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.lists(st.integers(min_value=1, max_value=9), min_size=1, max_size=60))
@example("para\n#foo\n", [5, 1, 3])
@example("a\n-\n- b\n\nc\n---\nd\n", [1])
@example("| a | b |\n|---|---|\n| 1 | 2 |\n\nend\n", [2])
@example("```\ncode\n\nmore\n```\nafter\n", [4])
@example("[a]: http://x.example\n\n[a]\n", [3])
def test_written_in_pieces_the_html_is_that_of_the_whole(text: str, sizes: list[int]) -> None:
    writing, ready, tail, at = markdown.Writing(), "", "", 0
    for number in range(10_000):
        if at >= len(text):
            break
        size = sizes[number % len(sizes)]
        more, tail = writing.add(text[at : at + size])
        ready, at = ready + more, at + size
    assert ready + tail == markdown.render(text)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "java\tscript:alert(1)",
        "\x01javascript:alert(1)",
        " javascript:alert(1)",
        "data:text/html;base64,PHNjcmlwdD4=",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example/x",
        "/\\evil.example",
        "\\\\evil.example",
        "https://",
        "http:evil.example",
        "https://user:secret@evil.example/",
        "ftp://a.example/",
        "c/relative",
        "#fragment",
        "mailto:nobody",
        "https://[::1",
    ],
)
def test_other_links_stay_words(url: str) -> None:
    assert not markdown.allowed_link(url)
    reader = read(markdown.render(f"[label](<{url}>)"))
    # A browser reads /%5C as a path of this site; a bare backslash it would read as a slash.
    assert [link for link in reader.links if not link.startswith("/%5C")] == []
    assert "label" in reader.words


@pytest.mark.parametrize("url", ["https://a.example/x?y=1", "http://a.example", "mailto:a@b.example", "/c/", "/q/x#y"])
def test_three_kinds_of_links_are_links(url: str) -> None:
    assert read(markdown.render(f"[label](<{url}>)")).links == [url]


def test_an_image_is_never_fetched() -> None:
    html = markdown.render("![total](https://evil.example/?q=10157.64) and ![x][y]")
    assert "<img" not in html
    assert read(html).wrong == []


def test_the_usual_marks_are_rendered() -> None:
    html = markdown.render("# Due\n\n1. **a** ~~b~~ `c`\n2. _d_\n\n> e\n\n| x | y |\n|---|--:|\n| 1 | 2 |\n")
    for part in (
        "<h2>Due</h2>",
        "<strong>a</strong> <s>b</s> <code>c</code>",
        "<em>d</em>",
        "<blockquote>",
        '<div class="table"><table>',
        '<td class="right">2</td>',
    ):
        assert part in html


def test_marks_of_direction_and_tags_do_not_survive() -> None:
    html = markdown.render("pay \u202e0001\u202c to \u2066x\u2069\U000e0041")
    assert html == "<p>pay 0001 to x</p>\n"


HOSTILE = {
    "brackets": lambda n: "[" * n,
    "links": lambda n: "[a](" * (n // 4),
    "images": lambda n: "![a](" * (n // 5),
    "stars": lambda n: "*a **a " * (n // 7),
    "underscores": lambda n: "_a __a " * (n // 7),
    "quotes": lambda n: "> " * (n // 2) + "a",
    "lists": lambda n: "- " * (n // 2) + "a",
    "ticks": lambda n: "`a" * (n // 2),
    "table": lambda n: "|a|b|\n|-|-|\n" + "|x|y|\n" * (n // 6),
    "escapes": lambda n: "\\" * n,
    "entities": lambda n: "&" * n,
    "tags": lambda n: "<" * n,
    "lines": lambda n: "\n" * n,
    "strikes": lambda n: "~~a " * (n // 4),
    "closed": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "mixed": lambda n: "*[`<" * (n // 4),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_costs_time_in_proportion_to_its_length(make: Callable[[int], str]) -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        markdown.render(text)
        markdown.finished(text)
        return time.process_time() - start

    half = min(seconds(make(4_000)) for _ in range(3))
    whole = min(seconds(make(32_000)) for _ in range(2))
    assert whole < 24 * half + 0.1  # eight times the length; quadratic would be sixty-four times


def test_a_text_of_enormous_length_is_shown_as_it_is_written() -> None:
    html = markdown.render("[" * (markdown.LONGEST + 1))
    assert html == "<p>" + "[" * (markdown.LONGEST + 1) + "</p>"


def test_plain_words_for_titles_and_announcements() -> None:
    assert markdown.plain("## Two _Smiths_\n\n- [John](/clients/1)\n- `Q-1042`") == "Two Smiths John Q-1042"
    assert markdown.plain("word " * 100, limit=20) == "word word word word…"
