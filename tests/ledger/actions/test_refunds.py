"""Refunds: held before the provider is asked, taken off what was paid, never more than that (H21, I7)."""

import threading
import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from ledger import tenancy
from ledger.actions.balances import received_cents
from ledger.actions.refunds import plan_refund, record_refund, record_refund_failed, reserve_refund
from ledger.dates import today
from ledger.errors import DomainError, NotAllowed
from ledger.models import Client, CreditNote, Invoice, Payment, Refund
from tests.bills import charged, fresh, issued, paid
from tests.cast import Cast


def reserve(cast: Cast, payment: Payment, cents: int, **given: Any) -> Refund:
    values: dict[str, Any] = {"by": cast.owner, "key": uuid.uuid4(), "amount_cents": cents, "reason": "duplicate"}
    return reserve_refund(fresh(payment), **values | given)


def refund(cast: Cast, payment: Payment, cents: int, **given: Any) -> Refund:
    held = reserve(cast, payment, cents, **given)
    return record_refund(held, by=cast.owner, provider_id=f"re-{held.ref}")


def state(row: Any) -> tuple[Any, ...]:
    row = fresh(row)
    if isinstance(row, Invoice):
        return (row.status, row.balance_cents, row.credited_cents)
    return (row.status, row.refunded_cents, row.pending_refund_cents)


def test_h21_a_part_refund_reopens_the_invoice(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "320.00")
        payment = charged(lone_ridge, 32_000, invoice)
        refund(lone_ridge, payment, 8_000, reason="duplicate")
        payment = fresh(payment)
        assert (payment.net_cents, payment.refundable_cents) == (24_000, 24_000)
        assert state(payment) == ("partially_refunded", 8_000, 0)
        assert state(invoice) == ("partially_paid", 8_000, 0)
        day = today("America/Chicago")
        assert received_cents(day, day) == 24_000


def test_h21_with_a_credit_note_the_client_owes_nothing_again(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "320.00")
        payment = charged(lone_ridge, 32_000, invoice)
        made = refund(lone_ridge, payment, 8_000, reason="service_issue", note="gutter joint failed")
        assert state(invoice) == ("paid", 0, 8_000)
        note = CreditNote.objects.get()
        assert (note.ref, note.amount_cents, note.refund_id, note.invoice_id) == ("CN-0001", 8_000, made.pk, invoice.pk)
        assert state(payment) == ("partially_refunded", 8_000, 0)


def test_a_whole_refund_leaves_nothing_refundable(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "100.00", "20.00")
        payment = charged(lone_ridge, 12_000, invoice)
        refund(lone_ridge, payment, 2_000, reason="other")
        refund(lone_ridge, payment, 10_000, reason="other")
        assert state(payment) == ("refunded", 12_000, 0)
        assert state(invoice) == ("issued", 12_000, 0)
        with pytest.raises(DomainError) as refused, transaction.atomic():
            reserve(lone_ridge, payment, 1)
        assert refused.value.code == "REFUND_EXCEEDS_PAID"


def test_credit_notes_hold_the_tax_that_belongs_to_them(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "100.01", tax=Decimal("8.25"))
        assert (invoice.tax_total_cents, invoice.total_cents) == (825, 10_826)
        payment = charged(lone_ridge, 10_826, invoice)
        for cents in (3_333, 3_333, 4_160):
            refund(lone_ridge, payment, cents, reason="cancelled")
        notes = list(CreditNote.objects.order_by("serial"))
        assert [note.ref for note in notes] == ["CN-0001", "CN-0002", "CN-0003"]
        assert sum(note.tax_total_cents for note in notes) == 825
        assert state(invoice) == ("paid", 0, 10_826)


def test_i7_what_is_held_cannot_be_refunded_again(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        payment = charged(lone_ridge, 10_000, issued(lone_ridge, "100.00"))
        held = reserve(lone_ridge, payment, 7_000)
        assert state(payment) == ("succeeded", 0, 7_000)
        with pytest.raises(DomainError) as refused, transaction.atomic():
            reserve(lone_ridge, payment, 3_001)
        assert (refused.value.code, refused.value.data["left"]) == ("REFUND_EXCEEDS_PAID", "30.00")
        record_refund_failed(held, by=lone_ridge.dana, problem="REFUSED")
        assert (state(payment), fresh(held).status) == (("succeeded", 0, 0), "failed")
        assert reserve(lone_ridge, payment, 10_000).status == "reserved"


def test_i7_ten_at_once_hold_no_more_than_was_paid(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        payment = charged(lone_ridge, 50_000, issued(lone_ridge, "500.00"))
    told, start = [], threading.Barrier(10)

    def press() -> None:
        start.wait()
        try:
            with tenancy.tenant(lone_ridge.tenant_id):
                reserve(lone_ridge, payment, 10_000)
            told.append("")
        except DomainError as refused:
            told.append(refused.code)
        connection.close()

    presses = [threading.Thread(target=press) for _ in range(10)]
    for thread in presses:
        thread.start()
    for thread in presses:
        thread.join()
    assert sorted(told) == [""] * 5 + ["REFUND_EXCEEDS_PAID"] * 5
    with lone_ridge.scope():
        assert state(payment) == ("succeeded", 0, 50_000)


def test_saying_an_outcome_again_changes_nothing(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        payment = charged(lone_ridge, 10_000, issued(lone_ridge, "100.00"))
        held = reserve(lone_ridge, payment, 4_000)
        for _ in range(2):
            record_refund(held, by=None, provider_id="re_1")
        record_refund_failed(held, by=None, problem="LATE")
        assert (state(payment), fresh(held).status) == (("partially_refunded", 4_000, 0), "succeeded")


def test_what_was_over_comes_from_the_clients_credit_first(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "84.00")
        payment = charged(lone_ridge, 9_000, invoice)
        assert Client.objects.get().credit_cents == 600
        plan = plan_refund(fresh(payment), by=lone_ridge.dana, amount_cents=1_000, reason="overcharge")
        assert (plan.from_credit_cents, [(s.cents, s.balance_after) for s in plan.settlements]) == (600, [(400, 0)])
        held = reserve(lone_ridge, payment, 1_000, reason="overcharge")
        assert Client.objects.get().credit_cents == 0  # nobody can use it meanwhile
        record_refund_failed(held, by=None, problem="REFUSED")
        assert Client.objects.get().credit_cents == 600
        refund(lone_ridge, payment, 1_000, reason="overcharge")
        assert (Client.objects.get().credit_cents, CreditNote.objects.get().amount_cents) == (0, 400)
        assert state(invoice) == ("paid", 0, 400)


def test_two_refunds_on_their_way_do_not_take_the_same_money(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        first, second = issued(lone_ridge, "60.00"), issued(lone_ridge, "40.00")
        payment = charged(lone_ridge, 10_000)
        one, other = reserve(lone_ridge, payment, 5_000), reserve(lone_ridge, payment, 5_000)
        assert [(row["ref"], row["cents"]) for row in one.settles] == [(second.ref, 4_000), (first.ref, 1_000)]
        assert [(row["ref"], row["cents"]) for row in other.settles] == [(first.ref, 5_000)]
        for held in (other, one):
            record_refund(held, by=None, provider_id=f"re-{held.ref}")
        assert (state(first), state(second)) == (("issued", 6_000, 0), ("issued", 4_000, 0))


@pytest.mark.parametrize(("days", "code"), [(90, ""), (91, "PIX_REFUND_WINDOW")])
def test_i7_a_pix_goes_back_for_ninety_days(aurora: Cast, days: int, code: str) -> None:
    with aurora.scope():
        issued(aurora, "100.00")
        received_on = today("America/Sao_Paulo") - timedelta(days=days)
        payment = charged(aurora, 10_000, provider="pix", provider_id="E1", method="pix", received_on=received_on)
        if not code:
            assert plan_refund(fresh(payment), by=aurora.bia, amount_cents=1, reason="other").day == 90
            return
        with pytest.raises(DomainError) as refused:
            plan_refund(fresh(payment), by=aurora.bia, amount_cents=1, reason="other")
        assert refused.value.code == code


def test_what_cannot_be_refunded(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        by_hand = paid(lone_ridge, 100, issued(lone_ridge, "1.00"))
        by_card = charged(lone_ridge, 100, issued(lone_ridge, "1.00"))
        Payment.objects.filter(pk=by_card.pk).update(status="disputed")
        for payment, code in ((by_hand, "MANUAL_PAYMENT"), (by_card, "OPEN_DISPUTE")):
            with pytest.raises(DomainError) as refused:
                plan_refund(fresh(payment), by=lone_ridge.dana, amount_cents=1, reason="other")
            assert refused.value.code == code
        with pytest.raises(NotAllowed):
            plan_refund(fresh(by_card), by=lone_ridge.alex, amount_cents=1, reason="other")


def test_i7_the_database_refuses_a_refund_beyond_what_was_paid(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        payment = charged(lone_ridge, 10_000, issued(lone_ridge, "100.00"))
        for changes in ({"pending_refund_cents": 10_001}, {"refunded_cents": 1}, {"refunded_cents": -1}):
            with pytest.raises(DatabaseError), transaction.atomic():
                Payment.objects.filter(pk=payment.pk).update(**changes)
    with pytest.raises(DatabaseError, match="does not agree with its refunds"), lone_ridge.scope():
        Payment.objects.filter(pk=payment.pk).update(pending_refund_cents=5_000)


def test_a_refund_keeps_what_it_says_and_its_key(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        payment = charged(lone_ridge, 10_000, issued(lone_ridge, "100.00"))
        held = reserve(lone_ridge, payment, 5_000)
        for changes in ({"amount_cents": 1}, {"key": uuid.uuid4()}, {"settles": []}, {"reason": "other"}):
            with pytest.raises(DatabaseError), transaction.atomic():
                Refund.objects.filter(pk=held.pk).update(**changes)
        with pytest.raises(DatabaseError, match="refund_key_once"), transaction.atomic():
            reserve(lone_ridge, payment, 1_000, key=held.key)
