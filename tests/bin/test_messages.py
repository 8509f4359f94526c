"""Finding, updating and judging translations, on a small project."""

import ast
from pathlib import Path

import pytest

from bin.workshop import messages
from tests.server import ROOT

PYTHON = """
from django.utils.translation import gettext as _, gettext_lazy, gettext_lazy as lazy, ngettext, pgettext
_("Send quote")
lazy("Later")
gettext_lazy("Refused: %(why)s")
ngettext("%(count)s card", "%(count)s cards", 2)
pgettext("verb", "Open")
"""
PAGE = """{% load i18n %}
<form>
    <p>{% translate "Welcome" %}</p>
      {% blocktranslate trimmed with name=client.name %}
        For {{ name }},
        with thanks
      {% endblocktranslate %}
  {% blocktranslate count n=cards|length %}one card{% plural %}{{ n }} cards{% endblocktranslate %}
  <input aria-label="{% translate "Quote's number" %}">
</form>
"""
TRANSLATED = {
    "Send quote": "Enviar orçamento",
    "Later": "Mais tarde",
    "Refused: %(why)s": "Recusado: %(why)s",
    "Welcome": "Bem-vindo",
    "Open": "Abrir",
    "For %(name)s, with thanks": "Para %(name)s, com agradecimentos",
    "Quote's number": "Número do orçamento",
    "%(count)s card": ("%(count)s cartão", "%(count)s cartões"),
    "one card": ("um cartão", "%(n)s cartões"),
}


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    for folder in ("ledger", "assistant", "templates"):
        (tmp_path / folder).mkdir()
    (tmp_path / "ledger" / "words.py").write_text(PYTHON)
    (tmp_path / "templates" / "page.html").write_text(PAGE)
    return tmp_path


def translate(path: Path, entries: dict[str, str | tuple[str, ...]]) -> None:
    catalog = messages.load("pt_BR")
    for message in catalog:
        key = message.id[0] if isinstance(message.id, tuple) else message.id
        if key in entries:
            message.string = entries[key]
    with path.open("wb") as file:
        messages.write_po(file, catalog)


def test_every_way_of_marking_a_message_is_found(project: Path) -> None:
    found = {
        (text if isinstance(text, str) else text[0], context) for _name, text, context in messages.found_messages()
    }
    assert found == {(key, "verb" if key == "Open" else None) for key in TRANSLATED}


def test_a_complete_catalogue_has_no_complaint_and_is_compiled(project: Path) -> None:
    messages.update("pt_BR")
    translate(messages.path_of("pt_BR"), TRANSLATED)
    assert messages.complaints("pt_BR") == []
    messages.compile_all()
    assert (project / "locale" / "pt_BR" / "LC_MESSAGES" / "django.mo").stat().st_size > 100


def test_what_is_missing_wrong_or_gone_is_named(project: Path) -> None:
    messages.update("pt_BR")
    translate(messages.path_of("pt_BR"), TRANSLATED | {"Welcome": "", "Refused: %(why)s": "Recusado: %(por)s"})
    (project / "ledger" / "words.py").write_text(PYTHON.replace("Send quote", "Send the quote"))
    complaints = messages.complaints("pt_BR")
    assert [line.split(":")[0] for line in complaints if "Welcome" in line] == ["not translated"]
    assert [line for line in complaints if "'Send quote'" in line] == [
        "no longer in the source (run bin/messages): 'Send quote'"
    ]
    assert [line for line in complaints if "'Send the quote'" in line] == [
        "not in the catalogue (run bin/messages): 'Send the quote'"
    ]
    assert len([line for line in complaints if "Refused" in line]) == 1
    assert len(complaints) == 4
    assert messages.load("pt_BR").num_plurals == 2


def test_an_update_keeps_what_was_translated(project: Path) -> None:
    messages.update("pt_BR")
    translate(messages.path_of("pt_BR"), TRANSLATED)
    (project / "templates" / "other.html").write_text('{% load i18n %}{% translate "New" %}')
    messages.update("pt_BR")
    assert messages.complaints("pt_BR") == ["not translated: 'New'"]


def test_every_template_and_module_of_the_product_can_be_read() -> None:
    assert len(list(messages.found_messages())) > 100
    assert messages.ROOT == ROOT


def test_no_module_marks_messages_by_a_name_that_extraction_does_not_know() -> None:
    names = {
        alias.asname or alias.name
        for folder in ("ledger", "assistant")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for alias in node.names
        if "gettext" in alias.name
    }
    assert {"_", "lazy"} <= names
    assert names - messages.KEYWORDS.keys() == set()
