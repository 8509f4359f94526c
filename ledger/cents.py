"""The arithmetic under `ledger.money`: whole numbers in and out, one rounding, a refusal in words.

Columns: quantities NUMERIC(12,3), unit prices NUMERIC(14,4), percentages NUMERIC(6,3), money BIGINT cents.
"""

from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from django.utils.translation import gettext as _

from ledger.errors import DomainError

MAX_CENTS = 99_999_999_999_999
"""Just under a trillion: far above any job, far below BIGINT, so that sums of documents fit too."""

_DIGITS = 40  # more decimals than this are refused unread: 1e-999999 costs nothing


class MoneyError(DomainError, ValueError):
    """An amount, a quantity or a percentage that the books cannot hold."""


class Rounding(StrEnum):
    """What becomes of half a cent: away from zero, or to the even neighbour."""

    HALF_UP = "half_up"
    HALF_EVEN = "half_even"


class Column(NamedTuple):
    """A NUMERIC column: how many digits in all, how many of them after the point."""

    digits: int
    places: int


QUANTITY, UNIT_PRICE, PERCENT = Column(12, 3), Column(14, 4), Column(6, 3)


def divided(numerator: int, denominator: int, rounding: Rounding) -> int:
    """A quotient of whole numbers (zero or more) rounded to a whole number."""
    quotient, remainder = divmod(numerator, denominator)
    doubled = remainder * 2
    if doubled > denominator or (doubled == denominator and (rounding == Rounding.HALF_UP or quotient % 2)):
        quotient += 1
    return quotient


def scaled(value: object, column: Column, field: str) -> int:
    """A Decimal in its column's smallest unit. MoneyError for a float or a misfit; nothing is rounded."""
    if not isinstance(value, Decimal) or not value.is_finite():
        raise MoneyError("NOT_A_NUMBER", _("That is not a number."), field=field)
    if value < 0:
        raise MoneyError("NEGATIVE_AMOUNT", _("That may not be negative."), field=field)
    if not value:
        return 0
    if value.adjusted() >= column.digits - column.places:
        raise MoneyError("AMOUNT_TOO_LARGE", _("That number is too large."), field=field)
    exponent = value.as_tuple().exponent
    readable = isinstance(exponent, int) and exponent >= -_DIGITS
    numerator, denominator = value.as_integer_ratio() if readable else (1, 10**_DIGITS)
    units, beyond = divmod(numerator * 10**column.places, denominator)
    if beyond:
        sentence = _("That number has too many decimals.")
        raise MoneyError("TOO_MANY_DECIMALS", sentence, field=field, most=column.places)
    return units


def rate(percent: Decimal, field: str) -> int:
    """A percentage from 0 to 100 in thousandths of a percent."""
    thousandths = scaled(percent, PERCENT, field)
    if thousandths > 100_000:
        raise MoneyError("PERCENT_ABOVE_100", _("A percentage may not be more than 100."), field=field)
    return thousandths


def whole_cents(cents: int | None, field: str) -> int:
    """The same cents, if they are a whole number from zero to MAX_CENTS."""
    if not isinstance(cents, int) or isinstance(cents, bool):
        raise MoneyError("NOT_A_NUMBER", _("That is not a number."), field=field)
    if cents < 0:
        raise MoneyError("NEGATIVE_AMOUNT", _("That may not be negative."), field=field)
    return bounded(cents)


def bounded(cents: int) -> int:
    """The same cents, if they are not above MAX_CENTS."""
    if cents > MAX_CENTS:
        raise MoneyError("AMOUNT_TOO_LARGE", _("That number is too large."), most=MAX_CENTS)
    return cents


def share_out(cents: int, weights: Sequence[int]) -> list[int]:
    """Cents spread over weights by largest remainder, ties to the earlier; shares add up exactly (H04)."""
    whole = sum(weights)
    if cents == 0 or whole == 0:
        return [0] * len(weights)
    shares = [cents * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda at: (-(cents * weights[at] % whole), at))
    for at in by_remainder[: cents - sum(shares)]:
        shares[at] += 1
    return shares
