"""Amounts, dates and percentages in words that the model wrote, held against what the record says (product.md, Risk).

Nothing is corrected: what the record does not have is named on the card, for the person to judge.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from babel.dates import get_month_names

from ledger.amounts import Ambiguous, read_amount
from ledger.cents import MoneyError
from ledger.locales import LOCALES, babel_locale, plain

MOST = 8
_NUMBER = r"[0-9](?:[0-9.,]*[0-9])?"
_PERCENT = re.compile(rf"({_NUMBER})\s*(?:%|per\s?cent\b|por\s?cento\b)", re.IGNORECASE)
_AMOUNT = re.compile(
    rf"(?:R\$|US\$|\$|€)\s*{_NUMBER}|\b{_NUMBER}\s*(?:reais|real|dollars?|d[óo]lar(?:es)?|USD|BRL)\b"
    r"|\b[0-9]{1,3}(?:[.,][0-9]{3})+(?:[.,][0-9]{2})?\b|\b[0-9]+[.,][0-9]{2}\b",
    re.IGNORECASE,
)
_DIGITS_DATE = re.compile(
    r"\b(?:[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}/[0-9]{1,2}(?:/[0-9]{2,4})?|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2,4})\b"
)
_MONTHS = {
    re.sub(r"\W", "", name.lower()): number
    for locale in LOCALES
    for width in ("wide", "abbreviated")
    for number, name in get_month_names(width, locale=babel_locale(locale)).items()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WORDS_DATE = re.compile(
    rf"\b(?:(?P<month1>{_MONTH})\.?\s+(?P<day1>[0-9]{{1,2}})(?:st|nd|rd|th)?|"
    rf"(?P<day2>[0-9]{{1,2}})(?:º|st|nd|rd|th)?\s+(?:de\s+|of\s+)?(?P<month2>{_MONTH}))\b"
    r"(?:,?\s+(?:de\s+)?(?P<year>[0-9]{4}))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Known:
    """What the record says: amounts in cents, days, percentages."""

    cents: frozenset[int]
    days: frozenset[date]
    percents: frozenset[Decimal]


def strange_figures(text: str, known: Known, locale: str) -> tuple[str, ...]:
    """The figures in a text that the record does not have, as they are written, at most MOST of them."""
    text = plain(text)
    found: list[str] = []
    left = text
    readers: list[tuple[re.Pattern[str], Callable[[re.Match[str]], bool]]] = [
        (_PERCENT, lambda match: _percent(match[1], known)),
        (_WORDS_DATE, lambda match: _day_in_words(match, known)),
        (_DIGITS_DATE, lambda match: _day_in_digits(match[0], known)),
        (_AMOUNT, lambda match: _amount(match[0], known, locale)),
    ]
    for pattern, fits in readers:
        for match in pattern.finditer(left):
            if not fits(match):
                found.append(match[0].strip())
        left = pattern.sub(lambda match: " " * len(match[0]), left)
    return tuple(dict.fromkeys(sorted(found, key=text.find)))[:MOST]


def _amount(text: str, known: Known, locale: str) -> bool:
    try:
        read = read_amount(text, locale)
    except MoneyError:
        return False
    candidates = read.candidates if isinstance(read, Ambiguous) else (read.cents,)
    return any(cents in known.cents for cents in candidates)


def _percent(number: str, known: Known) -> bool:
    readings = (number.replace(",", "."), number.replace(".", "").replace(",", "."))
    return any(_is_number(reading) and Decimal(reading) in known.percents for reading in readings)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) is not None


def _day_in_words(match: re.Match[str], known: Known) -> bool:
    name = (match["month1"] or match["month2"]).lower()
    month, day = _MONTHS[name], int(match["day1"] or match["day2"])
    return any(_same(one, match["year"], month, day) for one in known.days)


def _day_in_digits(text: str, known: Known) -> bool:
    parts = [int(part) for part in re.split(r"[-/.]", text)]
    return any(
        _same(one, str(year) if year else None, month, day)
        for year, month, day in _readings(parts, iso="-" in text)
        for one in known.days
    )


def _readings(parts: list[int], *, iso: bool) -> Iterator[tuple[int | None, int, int]]:
    """Year, month and day in every order that people write: a figure is strange only if none of them fits."""
    if iso:
        yield parts[0], parts[1], parts[2]
        return
    year = parts[2] + 2000 if len(parts) == 3 and parts[2] < 100 else (parts[2] if len(parts) == 3 else None)
    yield year, parts[0], parts[1]
    yield year, parts[1], parts[0]


def _same(day: date, year: str | None, month: int, number: int) -> bool:
    return (day.month, day.day) == (month, number) and (year is None or int(year) == day.year)
