"""Money in whole cents: rounding, discounts, tax, deposits. Nothing here knows a database or a request.

Every step is exact integer arithmetic with one rounding at its end, so no Decimal context and no float can move a cent.
The rules are those of the field cases H01 to H07; `tests/data/money_vectors.json` pins them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from babel.numbers import format_currency, get_currency_precision
from django.utils.translation import gettext as _

from ledger.errors import DomainError
from ledger.locales import babel_locale
from ledger.locales import plain as plain

MAX_CENTS = 99_999_999_999_999
"""Just under a trillion: far above any job, far below BIGINT, so that sums of documents fit too."""

_QUANTITY, _UNIT_PRICE, _PERCENT = (12, 3), (14, 4), (6, 3)
_DIGITS = 40  # more decimals than this are refused unread: 1e-999999 costs nothing
_MACHINE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,2})?")


class MoneyError(DomainError, ValueError):
    """An amount, a quantity or a percentage that the books cannot hold."""


class Rounding(StrEnum):
    """What becomes of half a cent: away from zero, or to the even neighbour."""

    HALF_UP = "half_up"
    HALF_EVEN = "half_even"


class TaxMode(StrEnum):
    """Whether tax comes on top of prices or is already inside them."""

    EXCLUSIVE = "exclusive"
    INCLUSIVE = "inclusive"


class TaxRounding(StrEnum):
    """One rounding for each rate on its summed base, or one for each line (H02)."""

    PER_RATE = "per_rate"
    PER_LINE = "per_line"


@dataclass(frozen=True, slots=True)
class Portion:
    """A discount or a deposit: a percentage (0 to 100) or whole cents, never both."""

    percent: Decimal | None = None
    cents: int | None = None

    def __post_init__(self) -> None:
        if (self.percent is None) == (self.cents is None):
            raise MoneyError("PERCENT_OR_AMOUNT", _("Give either a percentage or an amount."))

    def of(self, whole: int, rounding: Rounding, field: str) -> int:
        """What it comes to, in cents. Raises MoneyError if it is negative or more than the whole."""
        if self.percent is not None:
            return percent_of(whole, self.percent, rounding)
        part = _whole_cents(self.cents, field)
        if part > whole:
            raise MoneyError("MORE_THAN_THE_WHOLE", _("That is more than the whole amount."), field=field, most=whole)
        return part


@dataclass(frozen=True, slots=True)
class Line:
    """One line: quantity NUMERIC(12,3), unit price NUMERIC(14,4), tax rate in percent NUMERIC(6,3).

    An optional line counts only when it is selected.
    """

    quantity: Decimal
    unit_price: Decimal
    tax_rate: Decimal = Decimal(0)
    discount: Portion | None = None
    optional: bool = False
    selected: bool = False

    @property
    def counts(self) -> bool:
        return self.selected or not self.optional


@dataclass(frozen=True, slots=True)
class MoneySettings:
    """How a document is computed; frozen with it, so that it can be computed again."""

    tax_mode: TaxMode = TaxMode.EXCLUSIVE
    tax_rounding: TaxRounding = TaxRounding.PER_RATE
    rounding: Rounding = Rounding.HALF_UP
    discount: Portion | None = None
    deposit: Portion | None = None


@dataclass(frozen=True, slots=True)
class LineTotals:
    """One line in cents: `gross - discount = net`, `net - discount_share = taxable`.

    A line that does not count keeps its gross and net, to be shown, and has neither share nor tax base.
    """

    gross: int
    discount: int
    net: int
    discount_share: int
    taxable: int
    counts: bool


@dataclass(frozen=True, slots=True)
class TaxLine:
    """The tax of one rate. `base` includes the tax when prices do."""

    rate: Decimal
    base: int
    tax: int


@dataclass(frozen=True, slots=True)
class Totals:
    """A document in cents: `total = subtotal - discount` (and `+ tax`, when prices exclude it); `balance = total - deposit`."""

    lines: tuple[LineTotals, ...]
    tax_lines: tuple[TaxLine, ...]
    subtotal: int
    discount: int
    tax: int
    total: int
    deposit: int
    balance: int

    @property
    def net(self) -> int:
        """The total without its tax, in both modes (H07)."""
        return self.total - self.tax

    def as_json(self) -> dict[str, object]:
        """Integers and strings only, for a snapshot, a payload or a tool's answer."""
        return {
            "line_gross": [line.gross for line in self.lines],
            "line_discount": [line.discount for line in self.lines],
            "line_net": [line.net for line in self.lines],
            "discount_alloc": [line.discount_share for line in self.lines],
            "subtotal": self.subtotal,
            "discount": self.discount,
            "tax_lines": [{"rate": percent_text(t.rate), "base": t.base, "tax": t.tax} for t in self.tax_lines],
            "tax": self.tax,
            "total": self.total,
            "deposit": self.deposit,
            "balance": self.balance,
        }


def totals(lines: Sequence[Line], settings: MoneySettings) -> Totals:
    """The document's totals from its lines: the only place where they are computed (I3).

    Raises MoneyError for a quantity of zero or less, a negative price, a discount above its base, a rate above 100 %,
    more decimals than a column holds, or a result above MAX_CENTS.
    """
    rounding = settings.rounding
    priced = [_priced(line, rounding) for line in lines]
    counted = [net if line.counts else 0 for line, (_gross, _off, net) in zip(lines, priced, strict=True)]
    subtotal = _bounded(sum(counted))
    discount = settings.discount.of(subtotal, rounding, "discount") if settings.discount else 0
    shares = share_out(discount, counted)
    rows = tuple(
        LineTotals(gross, off, net, share, base - share, line.counts)
        for line, (gross, off, net), base, share in zip(lines, priced, counted, shares, strict=True)
    )
    tax_lines = _tax_lines(lines, rows, settings)
    tax = sum(t.tax for t in tax_lines)
    added = tax if settings.tax_mode is TaxMode.EXCLUSIVE else 0
    total = _bounded(subtotal - discount + added)
    deposit = settings.deposit.of(total, rounding, "deposit") if settings.deposit else 0
    return Totals(rows, tax_lines, subtotal, discount, tax, total, deposit, total - deposit)


def line_amount(quantity: Decimal, unit_price: Decimal, rounding: Rounding = Rounding.HALF_UP) -> int:
    """Quantity times unit price in cents, rounded once. Raises MoneyError as `totals` does."""
    units = _scaled(quantity, _QUANTITY, "quantity")
    if units == 0:
        raise MoneyError("QUANTITY_NOT_POSITIVE", _("The quantity must be more than zero."), field="quantity")
    price = _scaled(unit_price, _UNIT_PRICE, "unit_price")
    return _bounded(_divided(units * price, 100_000, rounding))


def percent_of(cents: int, percent: Decimal, rounding: Rounding = Rounding.HALF_UP) -> int:
    """A percentage (0 to 100) of an amount, in cents, rounded once."""
    return _divided(_whole_cents(cents, "amount") * _rate(percent, "percent"), 100_000, rounding)


def share_out(cents: int, weights: Sequence[int]) -> list[int]:
    """Cents spread over weights by largest remainder, ties to the earlier one; the shares add up exactly (H04)."""
    whole = sum(weights)
    if cents == 0 or whole == 0:
        return [0] * len(weights)
    shares = [cents * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda at: (-(cents * weights[at] % whole), at))
    for at in by_remainder[: cents - sum(shares)]:
        shares[at] += 1
    return shares


def parse_money(text: str) -> int:
    """Cents from the machine form: "150", "150.5", "150.00"; digits and one dot, as tools and APIs write it.

    Raises MoneyError for anything else: a sign, a comma, a float's exponent, NaN, more than nine digits.
    What people type is read by `ledger.amounts`.
    """
    if not isinstance(text, str) or not _MACHINE.fullmatch(text):
        raise MoneyError("AMOUNT_FORM", _("Write the amount like 1500.00: digits, a dot, at most two decimals."))
    whole, _dot, fraction = text.partition(".")
    return int(whole) * 100 + int(fraction.ljust(2, "0"))


def amount_text(cents: int) -> str:
    """The machine form of an amount: 15000 is "150.00". The inverse of `parse_money`, with a sign where there is one."""
    sign = "-" if cents < 0 else ""
    whole, fraction = divmod(abs(cents), 100)
    return f"{sign}{whole}.{fraction:02d}"


def percent_text(percent: Decimal) -> str:
    """A percentage without idle zeros: "8.25", "5", "0"."""
    text = f"{percent:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_money(cents: int, currency: str, locale: str) -> str:
    """The amount as people read it: `$1,500.00`, `R$ 1.500,00` (with Babel's no-break space; see `plain`).

    Raises MoneyError for a currency that does not have two decimals.
    """
    if get_currency_precision(currency) != 2:
        raise MoneyError("CURRENCY_UNSUPPORTED", _("Only currencies with two decimals are kept here."), currency=currency)
    return str(format_currency(Decimal(cents).scaleb(-2), currency, locale=babel_locale(locale)))


def _priced(line: Line, rounding: Rounding) -> tuple[int, int, int]:
    """Gross, discount and net of a line. The discount comes off the rounded gross, so 100 % leaves exactly nothing (H01)."""
    gross = line_amount(line.quantity, line.unit_price, rounding)
    discount = line.discount.of(gross, rounding, "discount") if line.discount else 0
    return gross, discount, gross - discount


def _tax_lines(lines: Sequence[Line], rows: Sequence[LineTotals], settings: MoneySettings) -> tuple[TaxLine, ...]:
    bases: dict[int, list[int]] = {}
    for line, row in zip(lines, rows, strict=True):
        rate = _rate(line.tax_rate, "tax_rate")
        if row.counts:
            bases.setdefault(rate, []).append(row.taxable)
    tax_lines = []
    for rate, taxable in sorted(bases.items()):
        parts = taxable if settings.tax_rounding is TaxRounding.PER_LINE else [sum(taxable)]
        tax = sum(_tax(part, rate, settings) for part in parts)
        tax_lines.append(TaxLine(Decimal(rate).scaleb(-3), sum(taxable), tax))
    return tuple(tax_lines)


def _tax(base: int, rate: int, settings: MoneySettings) -> int:
    """Tax on a base at a rate in thousandths of a percent; inclusive prices are worked backwards (H07)."""
    divisor = 100_000 if settings.tax_mode is TaxMode.EXCLUSIVE else 100_000 + rate
    return _divided(base * rate, divisor, settings.rounding)


def _divided(numerator: int, denominator: int, rounding: Rounding) -> int:
    """A quotient of whole numbers (zero or more) rounded to a whole number."""
    quotient, remainder = divmod(numerator, denominator)
    doubled = remainder * 2
    if doubled > denominator or (doubled == denominator and (rounding is Rounding.HALF_UP or quotient % 2)):
        quotient += 1
    return quotient


def _scaled(value: Decimal, column: tuple[int, int], field: str) -> int:
    """The value in its column's smallest unit. Nothing is rounded away: what does not fit is refused."""
    digits, places = column
    if not isinstance(value, Decimal) or not value.is_finite():
        raise MoneyError("NOT_A_NUMBER", _("That is not a number."), field=field)
    if value < 0:
        raise MoneyError("NEGATIVE_AMOUNT", _("That may not be negative."), field=field)
    if not value:
        return 0
    if value.adjusted() >= digits - places:
        raise MoneyError("AMOUNT_TOO_LARGE", _("That number is too large."), field=field)
    exponent = value.as_tuple().exponent
    numerator, denominator = value.as_integer_ratio() if exponent >= -_DIGITS else (1, 10**_DIGITS)
    scaled, beyond = divmod(numerator * 10**places, denominator)
    if beyond:
        raise MoneyError("TOO_MANY_DECIMALS", _("That number has too many decimals."), field=field, most=places)
    return scaled


def _rate(percent: Decimal, field: str) -> int:
    thousandths = _scaled(percent, _PERCENT, field)
    if thousandths > 100_000:
        raise MoneyError("PERCENT_ABOVE_100", _("A percentage may not be more than 100."), field=field)
    return thousandths


def _whole_cents(cents: int | None, field: str) -> int:
    if not isinstance(cents, int) or isinstance(cents, bool):
        raise MoneyError("NOT_A_NUMBER", _("That is not a number."), field=field)
    if cents < 0:
        raise MoneyError("NEGATIVE_AMOUNT", _("That may not be negative."), field=field)
    return _bounded(cents)


def _bounded(cents: int) -> int:
    if cents > MAX_CENTS:
        raise MoneyError("AMOUNT_TOO_LARGE", _("That number is too large."), most=MAX_CENTS)
    return cents
