"""Fields for figures as people write them, in the reader's language; what can be read in two ways is asked about."""

from decimal import Decimal
from typing import Any

from babel.numbers import NumberFormatError, format_decimal, parse_decimal
from django import forms
from django.utils.translation import gettext as _

from ledger import reader
from ledger.amounts import Ambiguous, read_price, read_quantity
from ledger.cents import MoneyError
from ledger.locales import babel_locale
from ledger.money import Portion, percent_text

NOTHING = Portion(percent=Decimal(0))
UNIT_PRICE_PLACES = 4


class FigureField(forms.CharField):
    """A figure with the value that stands. Left as it is written there, it stays that value to the last digit."""

    currency = "USD"
    standing: tuple[str, Any] | None = None
    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})

    def stand(self, value: Any) -> None:
        """Show this value, and take it back unread where nobody touched it."""
        text = "" if value is None else self.written(value)
        self.initial, self.standing = text, (text, value)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if self.standing is not None and text == self.standing[0]:
            return self.standing[1]
        try:
            return self.read(text) if text else None
        except MoneyError as error:
            raise forms.ValidationError(error.sentence) from error

    def written(self, value: Any) -> str:
        return _decimal(value, "0.####")

    def read(self, text: str) -> Any:
        raise NotImplementedError


class QuantityField(FigureField):
    """A quantity, more than zero."""

    def read(self, text: str) -> Decimal:
        found = read_quantity(text, reader.locale())
        if isinstance(found, Ambiguous):
            raise _question([reader.number(one) for one in found.candidates])
        if found <= 0:
            raise forms.ValidationError(_("The quantity must be more than zero."))
        return found


class PriceField(FigureField):
    """A price of one unit, in the company's currency; up to four places."""

    def written(self, value: Decimal) -> str:
        return _decimal(value, "0.00##")

    def read(self, text: str) -> Decimal:
        try:
            found = read_price(text, reader.locale(), self.currency)
        except MoneyError as error:
            if error.code != "TOO_MANY_DECIMALS":
                raise
            return _fine(text, error)
        if isinstance(found, Ambiguous):
            raise _question([reader.amount(cents, self.currency) for cents in found.candidates])
        return Decimal(found.cents).scaleb(-2)


class PortionField(FigureField):
    """A percentage ("5 %") or an amount ("150.00"); empty is nothing."""

    widget = forms.TextInput(attrs={"autocomplete": "off"})

    def written(self, value: Portion) -> str:
        if value.percent is not None:
            return f"{_decimal(value.percent, '0.###')}%"
        return _decimal(Decimal(value.cents or 0).scaleb(-2), "0.00")

    def read(self, text: str) -> Portion:
        if not text.endswith("%"):
            found = read_price(text, reader.locale(), self.currency)
            if isinstance(found, Ambiguous):
                raise _question([reader.amount(cents, self.currency) for cents in found.candidates])
            return Portion(cents=found.cents)
        percent = read_quantity(text.removesuffix("%").strip(), reader.locale())
        if isinstance(percent, Ambiguous):
            raise _question([f"{reader.number(one)}%" for one in percent.candidates])
        if not 0 <= percent <= 100:
            raise forms.ValidationError(_("A percentage is from 0 to 100."))
        return Portion(percent=percent)


def same(one: Portion | None, other: Portion | None) -> bool:
    """Whether two portions say the same; a portion of nothing is none."""
    return _plain(one) == _plain(other)


def _plain(portion: Portion | None) -> tuple[str, int] | None:
    if portion is None or not (portion.percent or portion.cents):
        return None
    return ("", portion.cents) if portion.cents else (percent_text(portion.percent or Decimal(0)), 0)


def _decimal(value: Decimal, pattern: str) -> str:
    """Without marks between thousands: they are what could be read in two ways."""
    return str(format_decimal(value, format=pattern, locale=babel_locale(reader.locale())))


def _fine(text: str, error: MoneyError) -> Decimal:
    """A price with three or four places."""
    try:
        price = parse_decimal(text, locale=babel_locale(reader.locale()), strict=True)
    except NumberFormatError:
        raise error from None
    exponent = price.as_tuple().exponent
    if not isinstance(exponent, int) or -exponent > UNIT_PRICE_PLACES or not 0 <= price < 10**9:
        raise error
    return Decimal(price)


def _question(readings: list[str]) -> forms.ValidationError:
    return forms.ValidationError(_("Do you mean %(shown)s?") % {"shown": _(" or ").join(readings)})
