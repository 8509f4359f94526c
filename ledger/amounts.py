"""Amounts and quantities as people write them, in figures or words; nothing is guessed.

"1.500" is fifteen hundred in pt-BR and may be one and a half in en-US: a factor of a thousand on a charge
is the worst silent error (H09, H10). Programs write the machine form, which `ledger.money.parse_money` reads.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Generic, TypeVar

from django.utils.translation import gettext as _

from ledger.cents import QUANTITY, MoneyError, bounded, scaled
from ledger.locales import babel_locale, plain
from ledger.number_words import spoken_amount, spoken_quantity

Number = TypeVar("Number", int, Decimal)

_LONGEST = 120
_FIGURES = r"(?:[0-9]|[.,](?=[0-9]))(?:[0-9.,]*[0-9])?"
_SIGNS = {"r$": "BRL", "us$": "USD", "$": None, "usd": "USD", "brl": "BRL", "€": "EUR", "eur": "EUR"}
_SIGN = r"(?:r\$|us\$|\$|usd|brl|€|eur)"
_NAMES = {"real": "BRL", "reais": "BRL", "dollar": "USD", "dollars": "USD", "dólar": "USD", "dólares": "USD"}
_SUFFIXES: dict[str, tuple[int, ...]] = {
    "k": (1_000,), "mil": (1_000,), "thousand": (1_000,), "mi": (1_000_000,), "million": (1_000_000,),
    "milhão": (1_000_000,), "milhao": (1_000_000,), "milhões": (1_000_000,), "milhoes": (1_000_000,),
    "m": (1_000, 1_000_000),  # a thousand in the building trade, a million elsewhere
}  # fmt: skip
_AMOUNT = re.compile(
    rf"(?P<minus>[-−])?\s*(?P<sign>{_SIGN})?\s*(?P<figures>{_FIGURES})\s*(?P<suffix>{'|'.join(_SUFFIXES)})?"
    rf"(?:\s+(?:de\s+)?(?P<name>{'|'.join(_NAMES)}|usd|brl|eur))?"
)
_COUNTED = re.compile(
    rf"(?P<count>{_FIGURES})\s*[^0-9$€,.-]{{1,60}}?\s*(?P<price>{_SIGN}\s*[0-9.,].*?)(?:\s+each|\s+cada)?"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """What a text says: cents (negative if it says so), and the currency and the count it names, if any."""

    cents: int
    currency: str | None = None
    quantity: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous(Generic[Number]):
    """A text that can be read in two ways: ask. Candidates are cents, or quantities, smallest first."""

    text: str
    candidates: tuple[Number, ...]


def read_amount(text: str, locale: str, currency: str | None = None) -> Amount | Ambiguous[int]:
    """The amount that a person wrote, in cents: "R$ 1.500,50", "$38K", "(50.00)", "dois mil reais".

    Raises MoneyError: AMOUNT_UNREADABLE, TOO_MANY_DECIMALS (a part of a cent), AMOUNT_TOO_LARGE, and
    CURRENCY_MISMATCH where the text names another currency than the `currency` given.
    """
    words = _tidy(text)
    negative = words.startswith("(") and words.endswith(")")
    words = words[1:-1].strip() if negative else words
    found = _figures_amount(words, locale) or _counted(words, locale) or _words_amount(words)
    if found is None or (negative and isinstance(found, Amount) and found.cents < 0):
        raise MoneyError("AMOUNT_UNREADABLE", _("That is not an amount that can be read."), text=text[:40])
    if isinstance(found, Ambiguous):
        candidates = [-cents for cents in found.candidates] if negative else found.candidates
        return Ambiguous(text, tuple(sorted(candidates)))
    if currency and found.currency and found.currency != currency:
        sentence = _("That amount is in %(named)s, and here everything is in %(kept)s.")
        sentence %= {"named": found.currency, "kept": currency}
        raise MoneyError("CURRENCY_MISMATCH", sentence, named=found.currency, kept=currency)
    return Amount(-found.cents if negative else found.cents, found.currency, found.quantity)


def read_price(text: str, locale: str, currency: str | None = None) -> Amount | Ambiguous[int]:
    """As `read_amount`, for a price: a negative one raises MoneyError and is never turned positive (H10)."""
    found = read_amount(text, locale, currency)
    cents = found.candidates if isinstance(found, Ambiguous) else (found.cents,)
    if min(cents, default=0) < 0:
        raise MoneyError("NEGATIVE_AMOUNT", _("That may not be negative."), field="price")
    return found


def read_quantity(text: str, locale: str) -> Decimal | Ambiguous[Decimal]:
    """The quantity that a person wrote, with at most three decimals: "12,5", "meia dúzia", "vinte e oito".

    Raises MoneyError: AMOUNT_UNREADABLE, TOO_MANY_DECIMALS, AMOUNT_TOO_LARGE.
    """
    words = _tidy(text)
    spoken = spoken_quantity(words)
    readings = _readings(words, locale) if re.fullmatch(_FIGURES, words) else []
    if spoken is not None and not readings:
        readings = [Fraction(spoken)]
    if not readings:
        raise MoneyError("AMOUNT_UNREADABLE", _("That is not a quantity that can be read."), text=text[:40])
    exact = [reading for reading in readings if (reading * 1000).denominator == 1]
    if not exact:
        raise MoneyError("TOO_MANY_DECIMALS", _("That number has too many decimals."), most=QUANTITY.places)
    if max(exact) >= 10 ** (QUANTITY.digits - QUANTITY.places):
        raise MoneyError("AMOUNT_TOO_LARGE", _("That number is too large."))
    quantities = [Decimal((reading * 1000).numerator).scaleb(-3) for reading in exact]
    if len(readings) > 1:
        return Ambiguous(text, tuple(sorted(quantities)))
    scaled(quantities[0], QUANTITY, "quantity")
    return quantities[0]


def _tidy(text: str) -> str:
    if len(text) > _LONGEST:
        raise MoneyError("AMOUNT_UNREADABLE", _("That is not an amount that can be read."), text=text[:40])
    return " ".join(plain(text).casefold().split())


def _figures_amount(words: str, locale: str) -> Amount | Ambiguous[int] | None:
    match = _AMOUNT.fullmatch(words)
    if match is None or (match["sign"] and match["name"]):
        return None
    name = match["name"] or match["sign"] or "$"
    currency = _NAMES.get(name, _SIGNS.get(name))
    factors = _SUFFIXES[match["suffix"]] if match["suffix"] else (1,)
    readings = [reading * factor for reading in _readings(match["figures"], locale) for factor in factors]
    return _settled(readings, -1 if match["minus"] else 1, currency)


def _counted(words: str, locale: str) -> Amount | Ambiguous[int] | None:
    """A count in front of a price: "3 sets from $275" is 275.00 for each of 3 (H10)."""
    match = _COUNTED.fullmatch(words)
    if match is None:
        return None
    price, counts = _figures_amount(match["price"], locale), _readings(match["count"], locale)
    if len(counts) != 1 or (counts[0] * 1000).denominator != 1 or not isinstance(price, Amount):
        return price if isinstance(price, Ambiguous) else None
    return Amount(price.cents, price.currency, Decimal((counts[0] * 1000).numerator).scaleb(-3))


def _words_amount(words: str) -> Amount | None:
    spoken = spoken_amount(words)
    return Amount(bounded(spoken.hundredths), spoken.currency) if spoken else None


def _settled(readings: list[Fraction], sign: int, currency: str | None) -> Amount | Ambiguous[int] | None:
    if not readings:
        return None
    cents = {(reading * 100).numerator for reading in readings if (reading * 100).denominator == 1}
    if not cents:
        raise MoneyError("TOO_MANY_DECIMALS", _("That number has too many decimals."), most=2)
    bounded(max(cents))
    if len(readings) > 1:
        return Ambiguous("", tuple(sign * value for value in cents))
    return Amount(sign * cents.pop(), currency)


def _readings(figures: str, locale: str) -> list[Fraction]:
    """Every value that the figures may stand for: none, one, or two where one mark could be either."""
    marks = [mark for mark in figures if mark in ".,"]
    if not marks:
        return [Fraction(int(figures))]
    last = marks[-1]
    whole, _mark, fraction = figures.rpartition(last)
    if len(set(marks)) == 2:
        groups = _grouped(whole, "." if last == "," else ",")
        return [] if groups is None else [_fraction(groups, fraction)]
    if len(marks) > 1:
        groups = _grouped(figures, last)
        return [] if groups is None else [Fraction(int(groups))]
    as_decimal = _fraction(whole, fraction)
    groups = _grouped(figures, last)
    if groups is None or figures.startswith("0"):
        return [as_decimal]
    decimal_mark = babel_locale(locale).number_symbols["latn"]["decimal"]
    return [as_decimal, Fraction(int(groups))] if last == decimal_mark else [Fraction(int(groups))]


def _grouped(figures: str, mark: str) -> str | None:
    """The digits of a number written in groups of three with that mark, or None where it is not."""
    groups = figures.split(mark)
    regular = 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    return "".join(groups) if regular and all(group.isdecimal() for group in groups) else None


def _fraction(whole: str, fraction: str) -> Fraction:
    return Fraction(int(whole + fraction), 10 ** len(fraction))
