"""Money in whole cents: rounding, discounts, tax, deposits. Nothing here knows a database or a request.

Every step is exact integer arithmetic with one rounding at its end: no Decimal context and no float can move
a cent. The rules are those of the field cases H01 to H07; `tests/data/money_vectors.json` pins them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from babel.numbers import format_currency, get_currency_precision
from django.utils.translation import gettext as _

from ledger.cents import MAX_CENTS as MAX_CENTS
from ledger.cents import QUANTITY, UNIT_PRICE, bounded, divided, rate, scaled, whole_cents
from ledger.cents import MoneyError as MoneyError
from ledger.cents import Rounding as Rounding
from ledger.cents import share_out as share_out
from ledger.locales import babel_locale
from ledger.locales import plain as plain

_MACHINE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,2})?")


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

    @classmethod
    def given(cls, percent: Decimal | None, cents: int | None) -> "Portion | None":
        """What two columns hold, of which at most one is filled; None where neither is."""
        return None if percent is None and cents is None else cls(percent=percent, cents=cents)

    def of(self, whole: int, rounding: Rounding, field: str) -> int:
        """What it comes to, in cents. Raises MoneyError if it is negative or more than the whole."""
        if self.percent is not None:
            return percent_of(whole, self.percent, rounding)
        part = whole_cents(self.cents, field)
        if part > whole:
            sentence = _("That is more than the whole amount.")
            raise MoneyError("MORE_THAN_THE_WHOLE", sentence, field=field, most=whole)
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
    """How a document is computed; frozen with it, so that it can be computed again.

    The three modes may be given as stored strings; an unknown one raises ValueError.
    """

    tax_mode: TaxMode = TaxMode.EXCLUSIVE
    tax_rounding: TaxRounding = TaxRounding.PER_RATE
    rounding: Rounding = Rounding.HALF_UP
    discount: Portion | None = None
    deposit: Portion | None = None

    def __post_init__(self) -> None:
        for name, kind in (("tax_mode", TaxMode), ("tax_rounding", TaxRounding), ("rounding", Rounding)):
            object.__setattr__(self, name, kind(getattr(self, name)))


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

    def as_json(self) -> dict[str, object]:
        return {"rate": percent_text(self.rate), "base": self.base, "tax": self.tax}


@dataclass(frozen=True, slots=True)
class Totals:
    """A document in cents: `total = subtotal - discount`, `+ tax` if prices exclude it.

    `balance = total - deposit`.
    """

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
            "tax_lines": [tax_line.as_json() for tax_line in self.tax_lines],
            "tax": self.tax,
            "total": self.total,
            "deposit": self.deposit,
            "balance": self.balance,
        }


def totals(lines: Sequence[Line], settings: MoneySettings) -> Totals:
    """The document's totals from its lines: the only place where they are computed (I3).

    Raises MoneyError for a quantity of zero or less, a negative price, a discount above its base, a rate
    above 100 %, more decimals than a column holds, or a result above MAX_CENTS.
    """
    rounding = settings.rounding
    priced = [_priced(line, rounding) for line in lines]
    counted = [net if line.counts else 0 for line, (_gross, _off, net) in zip(lines, priced, strict=True)]
    subtotal = bounded(sum(counted))
    discount = settings.discount.of(subtotal, rounding, "discount") if settings.discount else 0
    shares = share_out(discount, counted)
    rows = tuple(
        LineTotals(gross, off, net, share, base - share, line.counts)
        for line, (gross, off, net), base, share in zip(lines, priced, counted, shares, strict=True)
    )
    tax_lines = _tax_lines(lines, rows, settings)
    tax = sum(t.tax for t in tax_lines)
    added = tax if settings.tax_mode is TaxMode.EXCLUSIVE else 0
    total = bounded(subtotal - discount + added)
    deposit = settings.deposit.of(total, rounding, "deposit") if settings.deposit else 0
    return Totals(rows, tax_lines, subtotal, discount, tax, total, deposit, total - deposit)


def line_amount(quantity: Decimal, unit_price: Decimal, rounding: Rounding = Rounding.HALF_UP) -> int:
    """Quantity times unit price in cents, rounded once. Raises MoneyError as `totals` does."""
    units = scaled(quantity, QUANTITY, "quantity")
    if units == 0:
        raise MoneyError("QUANTITY_NOT_POSITIVE", _("The quantity must be more than zero."), field="quantity")
    price = scaled(unit_price, UNIT_PRICE, "unit_price")
    return bounded(divided(units * price, 100_000, rounding))


def percent_of(cents: int, percent: Decimal, rounding: Rounding = Rounding.HALF_UP) -> int:
    """A percentage (0 to 100) of an amount, in cents, rounded once."""
    return divided(whole_cents(cents, "amount") * rate(percent, "percent"), 100_000, rounding)


def parse_money(text: str) -> int:
    """Cents from the machine form: "150", "150.5", "150.00"; digits and one dot, as tools and APIs write it.

    Raises MoneyError for anything else: a sign, a comma, a float's exponent, NaN, more than nine digits.
    What people type is read by `ledger.amounts`.
    """
    if not _MACHINE.fullmatch(text):
        raise MoneyError("AMOUNT_FORM", _("Write the amount like 1500.00, with at most two decimals."))
    whole, _dot, fraction = text.partition(".")
    return int(whole) * 100 + int(fraction.ljust(2, "0"))


def amount_text(cents: int) -> str:
    """The machine form of an amount: 15000 is "150.00", -5 is "-0.05". The inverse of `parse_money`."""
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
        sentence = _("Only currencies with two decimals are kept.")
        raise MoneyError("CURRENCY_UNSUPPORTED", sentence, currency=currency)
    return str(format_currency(Decimal(cents).scaleb(-2), currency, locale=babel_locale(locale)))


def _priced(line: Line, rounding: Rounding) -> tuple[int, int, int]:
    """Gross, discount and net. The discount comes off the rounded gross, so 100 % leaves nothing (H01)."""
    gross = line_amount(line.quantity, line.unit_price, rounding)
    discount = line.discount.of(gross, rounding, "discount") if line.discount else 0
    return gross, discount, gross - discount


def _tax_lines(lines: Sequence[Line], rows: Sequence[LineTotals], settings: MoneySettings) -> tuple[TaxLine, ...]:
    bases: dict[int, list[int]] = {}
    for line, row in zip(lines, rows, strict=True):
        thousandths = rate(line.tax_rate, "tax_rate")
        if row.counts:
            bases.setdefault(thousandths, []).append(row.taxable)
    tax_lines = []
    for thousandths, taxable in sorted(bases.items()):
        parts = taxable if settings.tax_rounding is TaxRounding.PER_LINE else [sum(taxable)]
        tax = sum(_tax(part, thousandths, settings) for part in parts)
        tax_lines.append(TaxLine(Decimal(thousandths).scaleb(-3), sum(taxable), tax))
    return tuple(tax_lines)


def _tax(base: int, thousandths: int, settings: MoneySettings) -> int:
    """Tax on a base at a rate in thousandths of a percent; inclusive prices are worked backwards (H07)."""
    divisor = 100_000 if settings.tax_mode is TaxMode.EXCLUSIVE else 100_000 + thousandths
    return divided(base * thousandths, divisor, settings.rounding)
