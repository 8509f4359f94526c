"""Translations without the gettext binaries: extract, compile and check by Babel.

bin/messages            take new messages from the source into locale/pt_BR, drop those that are gone
bin/messages compile    write the .mo files that Django reads (bin/dev, bin/test and bin/ci do it by themselves)
bin/messages check      say what is missing, not translated or malformed
"""

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent.parent
LOCALES = ("pt_BR",)
SOURCES = ("ledger", "assistant", "templates")
KEYWORDS: dict[str, Any] = DEFAULT_KEYWORDS | {
    "gettext_lazy": None,
    "gettext_noop": None,
    "lazy": None,  # gettext_lazy, in a module that needs both
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
# Two forms, as Django's own catalogue of this language has them; Babel would add a third for millions.
NEW_CATALOG = r"""# The words of Aval in this language.
msgid ""
msgstr ""
"Project-Id-Version: Aval 1\n"
"Report-Msgid-Bugs-To: Aval\n"
"POT-Creation-Date: 2026-11-30 00:00+0000\n"
"PO-Revision-Date: 2026-11-30 00:00+0000\n"
"Last-Translator: Aval\n"
"Language-Team: Aval\n"
"Language: pt_BR\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=utf-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\n"
"""
Found = tuple[str, str | tuple[str, ...], str | None]


def path_of(locale: str) -> Path:
    return ROOT / "locale" / locale / "LC_MESSAGES" / "django.po"


def found_messages() -> Iterator[Found]:
    """Every message of the source: file, text (or singular and plural), context."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".py", ".html", ".txt") or "migrations" in path.parts:
                continue
            source = path.read_text(encoding="utf-8")
            if path.suffix != ".py":
                # Django turns a template into calls between blanks; indentation would confuse a tokenizer.
                source = "\n".join(line.strip() for line in templatize(source, origin=str(path)).split("\n"))
            name = str(path.relative_to(ROOT))
            for _line, text, _comments, context in extract("python", io.BytesIO(source.encode()), keywords=KEYWORDS):
                yield name, text, context


def template() -> Catalog:
    catalog = Catalog(project="Aval", charset="utf-8")
    for name, text, context in found_messages():
        catalog.add(text, locations=[(name, 0)], context=context)
    return catalog


def load(locale: str) -> Catalog:
    path = path_of(locale)
    content = path.read_bytes() if path.exists() else NEW_CATALOG.encode()
    return read_po(io.BytesIO(content), locale=locale)


def update(locale: str) -> None:
    """Rewrite the .po: known translations stay, new messages come in empty, gone ones leave."""
    catalog = load(locale)
    catalog.update(template(), no_fuzzy_matching=True, update_header_comment=False, update_creation_date=False)
    catalog.obsolete.clear()
    path = path_of(locale)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, width=110, sort_output=True, include_lineno=False, omit_header=False)


def compile_all() -> None:
    """Write each .mo that is missing or older than its .po, whole or not at all."""
    for locale in LOCALES:
        source = path_of(locale)
        target = source.with_suffix(".mo")
        if not source.exists() or (target.exists() and target.stat().st_mtime > source.stat().st_mtime):
            continue
        fresh = target.with_name(f"django.mo.{os.getpid()}")
        with fresh.open("wb") as file:
            write_mo(file, load(locale))
        fresh.rename(target)


def complaints(locale: str) -> list[str]:
    """What keeps a locale from being complete."""
    catalog, wanted = load(locale), template()
    known = {(message.id, message.context): message for message in catalog if message.id}
    needed = {(message.id, message.context) for message in wanted if message.id}
    found = [f"not in the catalogue (run bin/messages): {_first(key[0])!r}" for key in needed - known.keys()]
    found += [f"no longer in the source (run bin/messages): {_first(key[0])!r}" for key in known.keys() - needed]
    for key in needed & known.keys():
        found += [f"{why}: {_first(key[0])!r}" for why in _faults(known[key], catalog)]
    return sorted(found)


def _faults(message: Message, catalog: Catalog) -> Iterator[str]:
    texts = message.string if isinstance(message.string, tuple) else (message.string,)
    if not texts or not all(texts):
        yield "not translated"
    elif message.fuzzy:
        yield "fuzzy"
    else:
        yield from (str(error) for error in message.check(catalog))


def _first(text: str | tuple[str, ...] | list[str]) -> str:
    return text if isinstance(text, str) else text[0]


def main(arguments: list[str]) -> int:
    match arguments:
        case []:
            for locale in LOCALES:
                update(locale)
            compile_all()
        case ["compile"]:
            compile_all()
        case ["check"]:
            wrong = [f"{locale}: {line}" for locale in LOCALES for line in complaints(locale)]
            print("\n".join([*wrong, f"{len(list(template())) - 1} messages, {len(wrong)} complaints"]))
            return 1 if wrong else 0
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
