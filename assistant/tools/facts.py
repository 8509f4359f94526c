"""What a card shows: structured facts from the system of record, frozen as codes and values.

Labels are rendered in the reader's language by the doors (vocabulary.py); only the summary is text, in the language
in which it was shown. Everything here is strings, integers, lists and dictionaries, so that its hash is stable.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

Kind = Literal[
    "text", "ref", "email", "money", "date", "datetime", "percent", "count", "long", "hash", "code", "changes"
]


def money(cents: int, currency: str) -> dict[str, Any]:
    return {"cents": cents, "currency": currency}


@dataclass(frozen=True)
class Fact:
    """One line of a card. `name` is a word of the vocabulary; `value` fits `kind`:

    text, ref, email, long, hash: str · money: {"cents", "currency"} · date, datetime: ISO 8601 · percent: a decimal as
    str · count: int · code: a word of the vocabulary's VALUES · changes: a list of {"name", "kind", "before", "after"},
    where a name that is no word of the vocabulary (a ref) stands for itself. `marks` are words of the vocabulary
    about this fact ("new_address", "changed_recently", "same_as_last", "hidden_characters").
    """

    name: str
    kind: Kind
    value: Any
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Phrase:
    """A sentence of the vocabulary with its parameters (str, int, or a dictionary: money, date, failure)."""

    code: str
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Attached:
    """The document that goes out with it: exactly these bytes."""

    kind: str
    id: str
    sha256: str
    pages: int
    name: str


@dataclass(frozen=True)
class Preview:
    """The card, as data. `title` asks the question, `button` says what a press does, with object and amount.

    `typed` is what a strong card asks to be typed, where it is not held (the amount as shown).
    """

    title: Phrase
    button: Phrase
    facts: tuple[Fact, ...]
    consequences: tuple[Phrase, ...]
    warnings: tuple[Phrase, ...] = ()
    document: Attached | None = None
    typed: str = ""


@dataclass(frozen=True)
class Target:
    """A row whose version counts: if it moves, what was shown is no longer what would run."""

    kind: str
    id: str
    version: int


@dataclass(frozen=True)
class Outside:
    """Where outside content came from: kind ("email", "lead_notes", "web_form") and the record's ref."""

    kind: str
    ref: str


def plain(value: Any) -> Any:
    """A dataclass of this module as strings, integers, lists and dictionaries; empty parts are kept."""
    match value:
        case Fact():
            return {
                "name": value.name,
                "kind": value.kind,
                "value": plain(value.value),
                "marks": list(value.marks),
            }
        case Phrase():
            return {"code": value.code, "params": plain(value.params)}
        case Attached() | Target() | Outside():
            return {key: plain(item) for key, item in vars(value).items()}
        case Preview():
            return {key: plain(item) for key, item in vars(value).items()}
        case datetime() | date():
            return value.isoformat()
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case None | str() | bool() | int():
            return value
        case _:
            return str(value)
