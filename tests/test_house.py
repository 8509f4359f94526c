"""Rules of the house that the import contracts cannot say: parts of a package, and calls."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.server import ROOT

BELOW_THE_DOORS = ("assistant/agent", "assistant/gate", "assistant/tools", "ledger/actions", "ledger/models")
WEB = ("django.http", "django.template", "django.shortcuts", "django.views", "django.test")
SOURCES = ("ledger", "assistant")


def modules(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if "migrations" not in path.parts]


def imported(tree: ast.AST) -> Iterator[str]:
    """Every dotted name that a module imports; `from a.b import c` gives a.b.c."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_nothing_below_the_doors_knows_the_web() -> None:
    offences = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules(*BELOW_THE_DOORS)
        for name in imported(parsed(path))
        if any(name == part or name.startswith(f"{part}.") for part in WEB)
    ]
    assert offences == []
    assert len(modules(*BELOW_THE_DOORS)) > 20


def test_no_trigger_is_switched_off_outside_migrations() -> None:
    offences = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules(*SOURCES)
        for name in called(parsed(path))
        if name in ("pgtrigger.ignore", "ignore") or name.startswith("pgtrigger.ignore")
    ]
    assert offences == []


def test_html_is_called_safe_where_it_is_cleaned_or_rendered_only() -> None:
    """Markdown's module cleans; the doors join what templates rendered. Nowhere else is text taken for HTML."""
    users: dict[str, set[str]] = {"mark_safe": set(), "SafeString": set()}
    for path in modules(*SOURCES):
        for name in called(parsed(path)):
            users.get(name.rsplit(".", 1)[-1], set()).add(str(path.relative_to(ROOT)))
    assert users["mark_safe"] == {"assistant/doors/markdown.py"}
    assert [path for path in users["SafeString"] if not path.startswith("assistant/doors/")] == []


def test_templates_switch_no_escaping_off() -> None:
    pages = sorted((ROOT / "templates").rglob("*.html"))
    offences = [
        str(page)
        for page in pages
        for word in ("|safe", "autoescape off", " onclick=", "<style", " style=")
        if word in page.read_text()
    ]
    assert offences == []


MACHINE_FORM = ("amount_text", "percent_text", "isoformat")


def sentences_with_machine_forms(tree: ast.AST) -> Iterator[str]:
    """Texts put together from an amount, a percentage or a day as programs write it."""
    for node in ast.walk(tree):
        filled = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
        if filled or isinstance(node, ast.JoinedStr):
            yield from (name for name in called(node) if name.rsplit(".", 1)[-1] in MACHINE_FORM)


def test_no_sentence_shows_the_machine_form() -> None:
    """`ledger.reader` writes what a person reads; ISO days stand in the prompt alone, which the model reads."""
    assert list(sentences_with_machine_forms(ast.parse('_("%(a)s") % {"a": amount_text(1)}'))) == ["amount_text"]
    offences = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules(*SOURCES)
        for name in sentences_with_machine_forms(parsed(path))
        if path.relative_to(ROOT).as_posix() != "assistant/agent/prompt.py"
    ]
    assert offences == []
