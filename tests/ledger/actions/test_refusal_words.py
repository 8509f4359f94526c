"""Refusals name amounts, days and percentages as their reader writes them, and tell programs the machine form."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.utils import translation

from ledger.actions.clients import delete_client
from ledger.actions.company import change_settings
from ledger.actions.invoice_issuing import issue_invoice
from ledger.actions.invoice_quotes import create_invoice_of_quote
from ledger.actions.quote_sending import plan_quote_send
from ledger.actions.refunds import plan_refund
from ledger.errors import DomainError
from ledger.locales import plain
from ledger.models import Invoice
from ledger.money import Portion
from tests.bills import accepted, brought, charged, draft, fresh, issued, paid
from tests.cast import Cast
from tests.offers import cedar_bend

LANGUAGES = ("en", "pt-br")


def refusal(act: Callable[[], Any], language: str) -> tuple[str, dict[str, object]]:
    """The sentence with plain spaces, and what goes with it."""
    with translation.override(language), pytest.raises(DomainError) as refused, transaction.atomic():
        act()
    return plain(refused.value.sentence), dict(refused.value.data)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "%(ref)s has $1,500.00 left to pay; that is $0.05 too much."),
        ("pt-br", "Faltam US$ 1.500,00 para quitar %(ref)s; esse valor passa US$ 0,05 do saldo."),
    ],
)
def test_an_allocation_over_the_balance(lone_ridge: Cast, language: str, sentence: str) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1500.00")
        said, told = refusal(lambda: paid(lone_ridge, 150_005, allocations=[(invoice, 150_005)]), language)
    assert said == sentence % {"ref": invoice.ref}
    assert told == {"invoice": invoice.ref, "balance": "1500.00", "excess": "0.05"}


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The invoices named take $1,500.00, but only $1,499.00 came in."),
        ("pt-br", "As faturas citadas somam US$ 1.500,00, mas só entraram US$ 1.499,00."),
    ],
)
def test_invoices_that_take_more_than_came_in(lone_ridge: Cast, language: str, sentence: str) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1500.00")
        said, told = refusal(lambda: paid(lone_ridge, 149_900, allocations=[(invoice, 150_000)]), language)
    assert (said, told) == (sentence, {"total": "1500.00", "amount": "1499.00"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_h19_what_is_over(lone_ridge: Cast, language: str) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "840.00")
        said, told = refusal(lambda: paid(lone_ridge, 234_000, invoice), language)
    assert said.startswith({"en": "$1,500.00 ", "pt-br": "US$ 1.500,00 "}[language])
    assert (told["excess"], told["amount"]) == ("1500.00", "2340.00")


@pytest.mark.parametrize("language", LANGUAGES)
def test_i7_a_refund_over_what_is_left(lone_ridge: Cast, language: str) -> None:
    with lone_ridge.scope():
        payment = charged(lone_ridge, 123_450, issued(lone_ridge, "1234.50"))
        said, told = refusal(
            lambda: plan_refund(fresh(payment), by=lone_ridge.dana, amount_cents=123_451, reason="other"), language
        )
    assert {"en": "$1,234.50", "pt-br": "US$ 1.234,50"}[language] in said
    assert told == {"left": "1234.50", "ref": payment.ref}


@pytest.mark.parametrize(
    ("language", "held"),
    [
        ("en", "2 invoices (1 open, $1,045.50), 1 payment"),
        ("pt-br", "2 faturas (1 em aberto, US$ 1.045,50), 1 pagamento"),
    ],
)
def test_i9_what_keeps_a_client(lone_ridge: Cast, language: str, held: str) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1045.50")
        paid(lone_ridge, 100, issued(lone_ridge, "1.00"))
        said, told = refusal(lambda: delete_client(invoice.client, by=lone_ridge.dana), language)
    assert held in said
    assert told["open_amount"] == "1045.50"


@pytest.mark.parametrize(("language", "day"), [("en", "December 31, 2999"), ("pt-br", "31 de dezembro de 2999")])
def test_i20_books_that_are_closed(lone_ridge: Cast, language: str, day: str) -> None:
    with lone_ridge.scope():
        change_settings(by=lone_ridge.dana, changes={"books_closed_on": "2999-12-31"})
        said, told = refusal(lambda: issued(lone_ridge, "1.00"), language)
    assert day in said
    assert told["closed_on"] == "2999-12-31"


@pytest.mark.parametrize(("language", "day"), [("en", "December 31, 2999"), ("pt-br", "31 de dezembro de 2999")])
def test_i5_a_series_that_is_dated_later(lone_ridge: Cast, language: str, day: str) -> None:
    with lone_ridge.scope():
        brought(lone_ridge, "INV-0001", "1.00", issued_on=date(2999, 12, 31), due_on=date(2999, 12, 31))
        said, _told = refusal(lambda: issue_invoice(draft(lone_ridge, "1.00"), by=lone_ridge.dana), language)
    assert day in said


@pytest.mark.parametrize(("language", "given"), [("en", "12.5 %"), ("pt-br", "12,5 %")])
def test_i14_a_discount_over_the_limit(lone_ridge: Cast, language: str, given: str) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge, discount=Portion(percent=Decimal("12.5")))
        said, told = refusal(lambda: plan_quote_send(quote, by=lone_ridge.alex), language)
    assert given in said.replace("12.5%", "12.5 %").replace("12,5%", "12,5 %")
    assert (told["given"], told["limit"]) == ("12.5", "10")


@pytest.mark.parametrize(("language", "left"), [("en", "62.5"), ("pt-br", "62,5")])
def test_h18_more_than_is_left_of_a_quote(lone_ridge: Cast, language: str, left: str) -> None:
    with lone_ridge.scope():
        quote = accepted(lone_ridge, cedar_bend(lone_ridge))
        first = create_invoice_of_quote(quote, by=lone_ridge.dana, percent=Decimal("37.5"))
        assert Invoice.objects.get(pk=first.pk).lines.first().description.startswith("37.5% of quote")
        said, told = refusal(lambda: create_invoice_of_quote(quote, by=lone_ridge.dana, percent=Decimal(70)), language)
    assert left in said
    assert told == {"left": "62.5"}
