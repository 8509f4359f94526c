"""A dossier: headed parts with lines, rows and tables of plain text, as a PDF that a screen reader can follow.

The caller's texts are in the reader's language; nothing of them is ever read as markup (dossier.typ).
"""

import json
from dataclasses import asdict, dataclass, field

from ledger.documents import typeset
from ledger.documents.wording import printed_lines


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of as many texts as there are heads."""

    heads: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Part:
    """What stands under one heading; `empty` is said where there is nothing else."""

    heading: str
    lines: list[str] = field(default_factory=list)
    rows: list[tuple[str, str]] = field(default_factory=list)
    table: Table | None = None
    empty: str = ""

    @property
    def says_something(self) -> bool:
        return bool(self.lines or self.rows or self.table or self.empty)


@dataclass(frozen=True, slots=True)
class Dossier:
    """`sheet` is a paper of Typst (a4, us-letter), `page` has {page} and {pages}, `good` colours the headline."""

    title: str
    name: str
    company: str
    sheet: str
    language: str
    note: str
    headline: str
    good: bool
    page: str
    parts: list[Part]


def pdf(dossier: Dossier) -> bytes:
    """The bytes; about 40 ms of CPU a page."""
    lang, _, region = dossier.language.partition("-")
    words = _printed(asdict(dossier) | {"lang": lang, "region": region})
    return typeset.pdf("dossier.typ", json.dumps(words, ensure_ascii=False, sort_keys=True))


def _printed(value: object) -> object:
    """Every text as it can be set: clean, its lines kept, and a long run of letters may break."""
    match value:
        case str():
            return "\n".join(printed_lines(value))
        case dict():
            return {key: _printed(item) for key, item in value.items()}
        case list() | tuple():
            return [_printed(item) for item in value]
        case _:
            return value
