"""Figures as the person who reads now writes them: the language in force decides, as it does for every sentence.

Every amount, day and number in a text of ours is written by these; the machine form is for programs and the model.
"""

import contextlib
import zoneinfo
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

from babel.numbers import format_decimal
from django.utils import timezone, translation
from django.utils.translation import get_language

from ledger import dates, money
from ledger.locales import babel_locale


@contextlib.contextmanager
def reading(language: str, zone: str) -> Iterator[None]:
    """Write for somebody: in their language, at the times of their zone (a name of the tz database)."""
    with translation.override(language), timezone.override(zoneinfo.ZoneInfo(zone)):
        yield


def locale() -> str:
    """The locale that goes with the language in force."""
    return "pt-BR" if (get_language() or "").lower().startswith("pt") else "en-US"


def amount(cents: int, currency: str) -> str:
    """Cents as money: `$1,500.00`, `R$ 1.500,00` (with Babel's no-break space)."""
    return money.format_money(cents, currency, locale())


def day(value: date, length: str = "long") -> str:
    """A day in words that no two countries read differently: `December 1, 2026`, `1 de dezembro de 2026`."""
    return dates.format_date(value, locale(), length)


def moment(at: datetime) -> str:
    """An instant in the reader's time zone, day and time."""
    return dates.format_datetime(at, timezone.get_current_timezone_name(), locale())


def number(value: Decimal) -> str:
    """A quantity or a percentage without idle zeros: `28`, `3.5`, `3,5`."""
    return str(format_decimal(value, format="#,##0.####", locale=babel_locale(locale())))


def bare_amount(cents: int) -> str:
    """An amount of 1/100 units without its sign, as a reader types it: "350.00" or "350,00"."""
    return str(format_decimal(Decimal(cents).scaleb(-2), format="0.00", locale=babel_locale(locale())))
