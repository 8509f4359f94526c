"""The books checked over all rows: silent while they agree, and naming what does not."""

from datetime import date

import pytest
from django.db import transaction

from ledger.actions.book_checks import wrong_in_books
from ledger.actions.refunds import record_refund
from ledger.models import Allocation, Client, CreditNote, Invoice, InvoiceLine, Payment, Sequence
from tests.bills import brought, charged, draft, fresh, issued, paid
from tests.cast import Cast
from tests.ledger.actions.test_refunds import reserve


class Undo(Exception):
    """Takes a deliberate fault back before the database would refuse to commit it."""


def busy_books(cast: Cast) -> None:
    """Part payments, an overpayment, a refund with a credit note, one that failed, one on its way, a draft."""
    brought(cast, "INV-0001", "5.00", issued_on=date(2026, 1, 2), due_on=date(2026, 1, 17))
    Sequence.objects.filter(kind="invoice").delete()
    Sequence.objects.create(kind="invoice", next=7)
    first, second = issued(cast, "100.00"), issued(cast, "84.00")
    paid(cast, 4_000, first)
    payment = charged(cast, 9_000, second)
    record_refund(reserve(cast, payment, 1_000, reason="goodwill"), by=None, provider_id="re_1")
    reserve(cast, payment, 2_000)
    draft(cast, "1.00")


def test_books_that_agree_have_nothing_wrong(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        busy_books(lone_ridge)
    with lone_ridge.scope():
        assert wrong_in_books() == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda: Allocation.objects.filter(amount_cents__gt=0).update(amount_cents=1),
            "with its payments",
        ),
        (lambda: Payment.objects.update(pending_refund_cents=1), "does not agree with its refunds"),
        (lambda: Client.objects.update(credit_cents=12_345), "has another credit"),
        (lambda: Allocation.objects.filter(amount_cents__gt=0).update(amount_cents=99_999), "pays more than it is"),
    ],
)
def test_what_does_not_agree_is_named(lone_ridge: Cast, spoil, words) -> None:
    with lone_ridge.scope():
        busy_books(lone_ridge)
    with pytest.raises(Undo), lone_ridge.scope():
        spoil()
        assert any(words in one for one in wrong_in_books())
        raise Undo


def test_a_total_that_its_lines_do_not_come_to_is_named(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "100.00")
        with pytest.raises(Undo), transaction.atomic():
            InvoiceLine.objects.filter(invoice=invoice).update(unit_price="90.00")
            assert wrong_in_books() == ["D-0001 is not what its lines come to"]
            raise Undo
        assert fresh(invoice).total_cents == 10_000
        assert not CreditNote.objects.exists()
        assert Invoice.objects.count() == 1
