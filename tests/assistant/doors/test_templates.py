"""What may not stand in a template or a style sheet: it would break the policy of content, or the look."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
STYLES = sorted((ROOT / "static/css").glob("*.css"))
OWN_RULES = {"tokens.css", "admin.css"}
"""The tokens themselves, and the sheet that gives them to the names of Django's own, unlayered ones."""
SCRIPTS = sorted((ROOT / "static/js").glob("*.js"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_template_keeps_to_the_policy_of_content(path: Path):
    """No inline script, style or handler, no `hx-on`, no `js:` value, no filter on a trigger: each needs eval."""
    text = path.read_text()
    forbidden = {
        r"\sstyle\s*=": "inline style",
        r"<style\b": "style element",
        r"<script(?![^>]*\bsrc=)[^>]*>": "inline script",
        r"<[^>{%]*\son[a-z]+\s*=\s*[\"']": "inline handler",
        r"\bhx-on\b": "hx-on",
        r"[\"'](?:js|javascript):": "script as a value",
        r"hx-trigger=\"[^\"]*\[": "filter on a trigger",
        r"\|safe\b": "unescaped value",
        r"\{%\s*autoescape\s+off": "unescaped block",
        r"https?://(?!www\.w3\.org)": "another host",
        r"sse-swap|sse-connect": "htmx 2",
    }
    found = [why for pattern, why in forbidden.items() if re.search(pattern, text)]
    assert found == []


def test_only_the_text_modules_declare_markup_safe():
    """`mark_safe` stands beside the escape or the cleaner that makes it true, and nowhere else."""
    allowed = {"assistant/doors/markdown.py"}
    sources = [p for folder in ("assistant", "ledger") for p in (ROOT / folder).rglob("*.py")]
    using = {str(p.relative_to(ROOT)) for p in sources if re.search(r"\bmark_safe\b", p.read_text())}
    assert using <= allowed


@pytest.mark.parametrize("path", [p for p in STYLES if p.name not in OWN_RULES], ids=lambda path: path.name)
def test_a_style_sheet_takes_its_colours_from_the_tokens(path: Path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    rest = re.sub(r"@layer [\w, ]+;", "", text)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?!\{)", text) in ([], ["#fff"])
    assert re.match(r"\s*(@layer \w+ \{|@keyframes)", rest)


def test_marigold_means_waits_for_you_and_nothing_else():
    """The colour appears only in the rules of things that wait for a person's decision."""
    waits = re.compile(r"\.count|\.dot|\.waiting|\.is-waiting|\.slip|\.delta")
    wrong = []
    for path in STYLES:
        selectors: list[str] = []
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        for words, end in re.findall(r"([^{};]*)([{};])", text):
            if end == "{":
                selectors.append(words.strip())
            elif "marigold" in words and not waits.search(" ".join(selectors)):
                wrong.append(f"{path.name} {selectors}")
            if end == "}":
                selectors.pop()
    assert [line for line in wrong if not line.startswith("tokens.css")] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_makes_no_markup_and_evaluates_nothing(path: Path):
    text = path.read_text()
    assert (
        re.findall(
            r"innerHTML\s*[+]?=[^=]|insertAdjacentHTML|document\.write|\beval\(|new Function|\.outerHTML\s*=", text
        )
        == []
    )
    assert len(text.splitlines()) < 200
