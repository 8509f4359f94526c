"""Codes and values of cards as words, in the reader's language, time zone and way of writing numbers.

The card's facts are frozen as codes and values; here, and only here on the way to a page, they become text. What a
reader could not see (direction marks, zero-width characters, padding) is spelled out (T23).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from assistant.tools import failures, registry
from assistant.tools.effects import Effect
from assistant.tools.vocabulary import LABELS, MARKS, PHRASES, VALUES
from ledger import reader
from ledger.text import visible

GOOD_MARKS = frozenset({"same_as_last"})
_CODE = re.compile(r"(⟨[^⟩]*⟩)")

EFFECTS = {
    Effect.VISIBLE: lazy("The client sees it"),
    Effect.NOTICE: lazy("A message goes out"),
    Effect.BOOKS: lazy("Changes the books"),
    Effect.DOCUMENT: lazy("A document goes out"),
    Effect.COMMITMENT: lazy("Binds the company"),
    Effect.REMOVAL: lazy("Removes records"),
    Effect.PERMANENT: lazy("Removes for good"),
    Effect.PERMISSION: lazy("Changes who may do what"),
    Effect.BULK: lazy("Many at once"),
    Effect.SPENDS: lazy("Costs money"),
    Effect.OVER_CAP: lazy("Costs more than the cap"),
    Effect.MONEY_IN: lazy("Asks for money"),
    Effect.MONEY_OUT: lazy("Money leaves"),
    Effect.PRIVATE: lazy("Private data"),
    Effect.STRANGER: lazy("Address not on record"),
}
STRONG_EFFECTS = frozenset(
    {Effect.PERMANENT, Effect.BULK, Effect.OVER_CAP, Effect.MONEY_OUT, Effect.PRIVATE, Effect.STRANGER}
)
OPERATIONS = {
    "internal": lazy("In this company's own records"),
    "external": lazy("Through a provider outside"),
}
REASONS = {
    "recipient": lazy("Recipient"),
    "amount": lazy("Amount"),
    "dates": lazy("Dates"),
    "content": lazy("Content"),
    "not_now": lazy("Not now"),
    "other": lazy("Something else"),
}
DOORS = {
    "web": lazy("Web"),
    "agent": lazy("Assistant"),
    "mcp": lazy("MCP client"),
    "api": lazy("API"),
    "whatsapp": lazy("WhatsApp"),
    "admin": lazy("Administration"),
    "system": lazy("The system"),
}


@dataclass(frozen=True)
class Shown:
    """One value ready for a page. `figure` is an amount apart from its currency sign, for large type."""

    text: SafeString
    kind: str
    figure: tuple[str, str] | None = None


@dataclass(frozen=True)
class Mark:
    """What is known about a fact, and whether it speaks for it."""

    text: str
    good: bool


def shown_text(text: str, *, lines: bool = False) -> SafeString:
    """The text, escaped, with everything unseen spelled out and set apart."""
    parts = _CODE.split(visible(text, lines=lines).text)
    return format_html_join("", "{}", ((_part(part),) for part in parts if part))


def _part(part: str) -> str | SafeString:
    return format_html('<span class="unseen">{}</span>', part) if _CODE.fullmatch(part) else part


def label(name: str) -> str:
    """The word for a fact, a field or a key; an unknown one is shown as it is written."""
    return str(LABELS.get(name) or name.replace("_", " ").capitalize())


def tool_label(name: str) -> str:
    made = registry.get(name)
    return str(made.label) if made else name


def mark(code: str) -> Mark:
    return Mark(str(MARKS.get(code, code)), code in GOOD_MARKS)


def value(kind: str, raw: Any) -> Shown:
    """A fact's value by its kind (assistant/tools/facts.py). Never raises on a value that does not fit: it is shown."""
    if raw is None or raw == "":
        return Shown(format_html("{}", "–"), "text")
    try:
        match kind:
            case "money":
                amount = reader.amount(raw["cents"], raw["currency"])
                return Shown(format_html("{}", amount), kind, _figure(amount))
            case "date":
                return _plain(reader.day(date.fromisoformat(raw), "full"), kind)
            case "datetime":
                return _plain(moment(datetime.fromisoformat(raw)), kind)
            case "percent":
                return _plain(f"{reader.number(Decimal(str(raw)))}%", kind)
            case "count":
                return _plain(str(raw), kind)
            case "long":
                return Shown(shown_text(str(raw), lines=True), kind)
            case "code":
                return _plain(str(VALUES.get(raw, raw)), kind)
            case "changes":
                return Shown(format_html_join("; ", "{} {} → {}", map(_change, raw)), kind)
            case "hash":
                return Shown(format_html("<code>{}</code>", str(raw)), kind)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return Shown(shown_text(json.dumps(raw, ensure_ascii=False, default=str)), "text")
    if isinstance(raw, list | tuple):
        return Shown(shown_text(", ".join(str(item) for item in raw)), kind)
    return Shown(shown_text(str(raw)), kind)


def _change(row: Mapping[str, Any]) -> tuple[str, SafeString, SafeString]:
    before, after = (value(row["kind"], row[when]).text for when in ("before", "after"))
    return (str(LABELS.get(row["name"]) or row["name"]), before, after)


def sentence(phrase: Mapping[str, Any]) -> str:
    """A phrase of the vocabulary with its parameters as the reader writes them."""
    words = PHRASES.get(phrase["code"])
    if words is None:
        return str(phrase["code"])
    params = {name: _param(param) for name, param in phrase.get("params", {}).items()}
    try:
        return str(words % params)
    except (KeyError, TypeError, ValueError):
        return str(phrase["code"])


def moment(at: datetime) -> str:
    """An instant in the reader's time zone: the clock alone today, with the day otherwise."""
    local = timezone.localtime(at)
    return clock(at) if local.date() == timezone.localdate() else reader.moment(at)


def clock(at: datetime, *, seconds: bool = False) -> str:
    local = timezone.localtime(at)
    if reader.locale() == "pt-BR":
        return local.strftime("%H:%M:%S" if seconds else "%H:%M")
    hour = local.strftime("%I").lstrip("0")
    return f"{hour}{local.strftime(':%M:%S' if seconds else ':%M')}\u202f{'AM' if local.hour < 12 else 'PM'}"


def flattened(data: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every value of a payload with its path, in order: nothing that runs is left off the card (T20)."""
    match data:
        case dict() if data:
            for key, item in data.items():
                yield from flattened(item, f"{path}.{key}" if path else str(key))
        case list() | tuple() if data:
            for at, item in enumerate(data, start=1):
                yield from flattened(item, f"{path}.{at}")
        case None | {} | [] | ():
            yield path, "–"
        case bool():
            yield path, _("yes") if data else _("no")
        case _:
            yield path, str(data)


def _plain(text: str, kind: str) -> Shown:
    return Shown(format_html("{}", text), kind)


def _figure(amount: str) -> tuple[str, str]:
    """("R$", "2.086,00"): the sign before the first digit, minus and all, and the number."""
    start = next((at for at, character in enumerate(amount) if character.isdigit()), 0)
    return amount[:start].strip("\u00a0\u202f "), amount[start:]


def _param(param: Any) -> str | int:
    match param:
        case {"cents": int(), "currency": str()}:
            return str(value("money", param).text)
        case int():
            return param
        case {"failure": str(code)}:
            return failures.why(code)
        case {"date": str(day)}:
            return reader.day(date.fromisoformat(day))
        case _:
            return visible(str(param)).text
