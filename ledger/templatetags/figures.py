"""Amounts, quantities, days and instants as the page's reader writes them."""

from datetime import date, datetime
from decimal import Decimal
from urllib.parse import urlencode

from django import template

from ledger import contacts, money, reader

register = template.Library()


@register.simple_tag
def amount(cents: int, currency: str) -> str:
    """Cents as money: `$1,500.00`, `R$ 1.500,00`."""
    return reader.amount(cents, currency)


@register.simple_tag
def stated(text: str, currency: str) -> str:
    """An amount in the machine's form ("10157.64") as the reader writes it."""
    try:
        return reader.amount(money.parse_money(text), currency)
    except money.MoneyError:
        return f"{text} {currency}"


@register.simple_tag
def price(unit_price: Decimal, currency: str) -> str:
    """A unit price with its four places where it has them."""
    cents = unit_price * 100
    if cents == cents.to_integral_value():
        return reader.amount(int(cents), currency)
    return f"{number(unit_price)} {currency}"


@register.simple_tag
def querystring_of(**fields: str) -> str:
    """The fields that say something, as the query of an address."""
    return urlencode({name: value for name, value in fields.items() if value})


@register.filter
def number(value: Decimal) -> str:
    """A quantity without idle zeros: `28`, `3.5`, `3,5`."""
    return reader.number(value)


@register.filter
def phone(value: str) -> str:
    """A number as the reader writes it: `(512) 555-0142`, `(19) 99123-0102`; abroad with its country's code."""
    if not value.startswith("+"):
        return value
    return contacts.format_phone(value, "BR" if reader.locale() == "pt-BR" else "US")


@register.filter
def day(value: date | None) -> str:
    """A day in words that no two countries read differently: `Dec 1, 2026`, `1 de dez. de 2026`."""
    return reader.day(value, "medium") if value else "–"


@register.filter
def moment(value: datetime | None) -> str:
    """An instant in the time zone of the page."""
    if value is None:
        return "–"
    return reader.moment(value)
