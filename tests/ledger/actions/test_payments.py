"""Payments: what came in pays what is owed, and nothing of it disappears (H19 to H22, I6 to I8, I20)."""

import threading
import uuid
from datetime import date, timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from ledger import tenancy
from ledger.actions.balances import received_cents
from ledger.actions.clients import delete_client
from ledger.actions.company import change_settings
from ledger.actions.payment_plans import plan_payment, rest_of
from ledger.actions.payments import receive_payment
from ledger.dates import today
from ledger.errors import DomainError, NotAllowed
from ledger.models import Allocation, AuditEvent, Client, Invoice, Payment
from tests.bills import brought, charged, draft, fresh, issued, paid, the_client
from tests.cast import Cast, john_smith


def state(invoice: Invoice) -> tuple[str, int]:
    invoice = fresh(invoice)
    return (invoice.status, invoice.balance_cents)


def test_h20_part_payments_come_to_paid_without_a_further_step(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "260.00")
        paid(lone_ridge, 9_000, invoice)
        assert state(invoice) == ("partially_paid", 17_000)
        paid(lone_ridge, 17_000, invoice)
        assert state(invoice) == ("paid", 0)


def test_h20_mark_as_paid_pays_the_rest_and_then_nothing(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "260.00")
        paid(lone_ridge, 18_500, invoice)
        assert rest_of(fresh(invoice)) == 7_500
        paid(lone_ridge, rest_of(fresh(invoice)), invoice)
        assert state(invoice) == ("paid", 0)
        for attempt in (lambda: rest_of(fresh(invoice)), lambda: paid(lone_ridge, 100, invoice)):
            with pytest.raises(DomainError) as refused, transaction.atomic():
                attempt()
            assert (refused.value.code, refused.value.sentence) == ("ALREADY_PAID", "INV-0001 is already paid.")
        assert list(Payment.objects.order_by("ref").values_list("amount_cents", flat=True)) == [18_500, 7_500]


def test_h19_what_is_over_becomes_credit_when_a_person_allows_it(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "840.00")
        with pytest.raises(DomainError) as refused, transaction.atomic():
            paid(lone_ridge, 90_000, invoice)
        assert (refused.value.code, refused.value.data["excess"]) == ("OVERPAYMENT", "60.00")
        assert not Payment.objects.exists()
        payment = paid(lone_ridge, 90_000, invoice, allow_credit=True)
        assert (payment.amount_cents, state(invoice)) == (90_000, ("paid", 0))
        assert Allocation.objects.get().amount_cents == 84_000
        assert Client.objects.get().credit_cents == 6_000


def test_h19_a_company_may_take_no_overpayments(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        change_settings(by=lone_ridge.dana, changes={"overpayment": "refuse"})
        invoice = issued(lone_ridge, "840.00")
        with pytest.raises(DomainError) as refused, transaction.atomic():
            paid(lone_ridge, 90_000, invoice, allow_credit=True)
        assert refused.value.code == "OVERPAYMENT"
        assert state(invoice) == ("issued", 84_000)


def test_more_than_the_balance_of_a_named_invoice_is_refused_with_the_figures(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "4180.25")
        with pytest.raises(DomainError) as refused:
            paid(lone_ridge, 450_000, allocations=[(invoice, 450_000)])
        data = refused.value.data
        assert (refused.value.code, data["balance"], data["excess"]) == (
            "ALLOCATION_EXCEEDS_BALANCE",
            "4180.25",
            "319.75",
        )


def test_without_a_name_the_oldest_invoice_is_paid_first(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        later = issued(lone_ridge, "100.00", due_days=30)
        sooner = issued(lone_ridge, "50.00", due_days=5)
        draft(lone_ridge, "70.00")
        paid(lone_ridge, 8_000)
        assert (state(sooner), state(later)) == (("paid", 0), ("partially_paid", 7_000))


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"method": "card"}, "UNKNOWN_CHOICE"),
        ({"amount_cents": 0}, "AMOUNT_OUT_OF_RANGE"),
        ({"received_on": date(2999, 1, 1)}, "FUTURE_DATE"),
        ({"reference": "x" * 61}, "TOO_LONG"),
    ],
)
def test_what_a_payment_cannot_be(lone_ridge: Cast, given, code) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "100.00")
        values = {"amount_cents": 100} | given
        with pytest.raises(DomainError) as refused, transaction.atomic():
            paid(lone_ridge, **values)
        assert refused.value.code == code
        assert not Payment.objects.exists()


def test_tomorrow_is_the_companys_tomorrow(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "100.00")
        day = today("America/Chicago")
        paid(lone_ridge, 100, received_on=day)
        with pytest.raises(DomainError) as refused:
            paid(lone_ridge, 100, received_on=day + timedelta(days=1))
        assert refused.value.code == "FUTURE_DATE"


def test_i20_nothing_is_recorded_in_a_closed_period(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "100.00")
        change_settings(by=lone_ridge.dana, changes={"books_closed_on": "2026-10-31"})
        with pytest.raises(DomainError) as refused, transaction.atomic():
            paid(lone_ridge, 100, received_on=date(2026, 10, 31))
        assert refused.value.code == "PERIOD_CLOSED"
        paid(lone_ridge, 100, received_on=date(2026, 11, 1))


@pytest.mark.parametrize("kind", ["draft", "another client's", "twice", "beyond the payment"])
def test_what_a_payment_may_not_pay(lone_ridge: Cast, kind: str) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "100.00")
        other = issued(lone_ridge, "100.00", client=john_smith(lone_ridge, name="Ann Other", email="ann@example.com"))
        allocations, code = {
            "draft": ([(draft(lone_ridge, "1.00", client=invoice.client), 100)], "NOT_PAYABLE"),
            "another client's": ([(other, 100)], "INVOICE_OF_ANOTHER"),
            "twice": ([(invoice, 100), (invoice, 100)], "BAD_ALLOCATION"),
            "beyond the payment": ([(invoice, 5_000)], "ALLOCATIONS_EXCEED_PAYMENT"),
        }[kind]
        with pytest.raises(DomainError) as refused, transaction.atomic():
            paid(lone_ridge, 1_000, allocations=allocations)
        assert refused.value.code == code


def test_a_payment_that_looks_like_one_on_record_is_named(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "1000.00")
        first = paid(lone_ridge, 10_000, reference="1187")
        values = {"by": lone_ridge.dana, "method": "check", "received_on": first.received_on}
        for amount, reference, same in ((10_000, "1187", (first,)), (10_001, "1187", ()), (10_000, "1188", ())):
            plan = plan_payment(first.client, amount_cents=amount, reference=reference, **values)
            assert plan.same == same


def test_a_seller_may_not_record_payments(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "100.00")
        with pytest.raises(NotAllowed):
            paid(lone_ridge, 100, by=lone_ridge.alex)


def test_h22_five_at_once_with_one_key_are_one_payment(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1000.00")
    key, told, start = uuid.uuid4(), [], threading.Barrier(5)

    def press() -> None:
        start.wait()
        with tenancy.tenant(lone_ridge.tenant_id):
            told.append(paid(lone_ridge, 25_000, invoice, key=key).pk)
        connection.close()

    presses = [threading.Thread(target=press) for _ in range(5)]
    for thread in presses:
        thread.start()
    for thread in presses:
        thread.join()
    assert len(told) == 5
    assert len(set(told)) == 1
    with lone_ridge.scope():
        assert state(invoice) == ("partially_paid", 75_000)
        paid(lone_ridge, 25_000, invoice, key=uuid.uuid4())  # a deliberate second one
        assert state(invoice) == ("partially_paid", 50_000)


def test_ten_payments_at_once_never_pay_more_than_is_owed(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "500.00")
    told, start = [], threading.Barrier(10)

    def press() -> None:
        start.wait()
        try:
            with tenancy.tenant(lone_ridge.tenant_id):
                paid(lone_ridge, 10_000, allocations=[(invoice, 10_000)])
            told.append("")
        except DomainError as refused:
            told.append(refused.code)
        connection.close()

    presses = [threading.Thread(target=press) for _ in range(10)]
    for thread in presses:
        thread.start()
    for thread in presses:
        thread.join()
    assert sorted(told) == [""] * 5 + ["ALREADY_PAID"] * 5
    with lone_ridge.scope():
        assert state(invoice) == ("paid", 0)
        assert Payment.objects.count() == 5


def test_money_from_a_provider_is_booked_once_whatever_is_owed(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "100.00")
        first = charged(lone_ridge, 12_000, invoice, provider_id="pi_1")
        assert charged(lone_ridge, 12_000, invoice, provider_id="pi_1").pk == first.pk
        assert (state(invoice), Client.objects.get().credit_cents) == (("paid", 0), 2_000)
        late = receive_payment(
            invoice.client,
            by=None,
            provider="cards",
            provider_id="pi_2",
            method="card",
            amount_cents=500,
            received_on=first.received_on,
        )
        assert (late.amount_cents, Client.objects.get().credit_cents) == (500, 2_500)


def test_income_is_what_came_in_within_the_days(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "1000.00")
        paid(lone_ridge, 10_000, received_on=date(2026, 10, 31))
        paid(lone_ridge, 20_000, received_on=date(2026, 11, 1))
        assert received_cents(date(2026, 11, 1), date(2026, 11, 30)) == 20_000


def test_h26_invoices_and_payments_hold_their_client(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = the_client(lone_ridge)
        paid(lone_ridge, 10_000, issued(lone_ridge, "100.00"))
        issued(lone_ridge, "45.50")
        with pytest.raises(DomainError) as refused, transaction.atomic():
            delete_client(client, by=lone_ridge.dana)
        assert refused.value.code == "HAS_ISSUED_DOCUMENTS"
        assert "2 invoices (1 open, $45.50), 1 payment" in refused.value.sentence
        assert "archived" in refused.value.sentence
        with pytest.raises(DatabaseError), transaction.atomic():
            Client.objects.filter(pk=client.pk)._raw_delete("default")  # the database alone refuses as well
        assert (Invoice.objects.count(), Payment.objects.count(), Client.objects.get().deleted_at) == (2, 1, None)


def test_h26_a_client_without_documents_is_deleted(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = the_client(lone_ridge)
        delete_client(client, by=lone_ridge.dana)
        assert fresh(client).deleted_at is not None


# What the database holds by itself


def test_i6_the_database_refuses_sums_that_do_not_agree(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "100.00")
        payment = paid(lone_ridge, 5_000, invoice)
    for spoil in (
        lambda: Allocation.objects.update(amount_cents=4_000),
        lambda: Invoice.objects.update(allocated_cents=4_000, balance_cents=6_000),
        lambda: Invoice.objects.update(credited_cents=100, balance_cents=4_900),
        lambda: Payment.objects.update(status="reversed", refunded_cents=100),
    ):
        with pytest.raises(DatabaseError, match="does not agree"), lone_ridge.scope():
            spoil()
    with pytest.raises(DatabaseError, match="pays more than it is"), lone_ridge.scope():
        Allocation.objects.update(amount_cents=6_000)
        Invoice.objects.update(allocated_cents=6_000, balance_cents=4_000)
    with lone_ridge.scope():
        assert (state(invoice), fresh(payment).status) == (("partially_paid", 5_000), "recorded")


@pytest.mark.parametrize(
    "changes",
    [{"amount_cents": 1}, {"received_on": date(2020, 1, 1)}, {"reference": "x"}, {"provider": "cards"}],
)
def test_a_payment_keeps_what_it_says(lone_ridge: Cast, changes) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "100.00")
        paid(lone_ridge, 5_000)
        with pytest.raises(DatabaseError), transaction.atomic():
            Payment.objects.update(**changes)


def test_i8_the_balance_is_never_below_zero(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "1.00")
        with pytest.raises(DatabaseError, match="invoice_balance"), transaction.atomic():
            Invoice.objects.update(allocated_cents=200, balance_cents=-100)


def test_i9_neither_payments_nor_allocations_can_be_removed(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        paid(lone_ridge, 100, issued(lone_ridge, "1.00"))
        for model in (Allocation, Payment, Invoice):
            with pytest.raises(DatabaseError), transaction.atomic():
                model.objects.all()._raw_delete("default")


def test_i19_a_payment_pays_its_own_clients_invoices_only(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        payment = paid(lone_ridge, 100, issued(lone_ridge, "1.00"))
        other = issued(lone_ridge, "1.00", client=john_smith(lone_ridge, name="Ann Other", email="ann@example.com"))
        with pytest.raises(DatabaseError, match="its own client"), transaction.atomic():
            Allocation.objects.create(payment=payment, invoice=other, amount_cents=0)


def test_what_was_recorded_stands_in_the_audit(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        brought(lone_ridge, "OLD-1", "9.00", issued_on=date(2026, 1, 2), due_on=date(2026, 1, 3))
        paid(lone_ridge, 900)
        kinds = AuditEvent.objects.filter(kind__in=["invoice.issued", "payment.recorded"]).values_list(
            "kind", flat=True
        )
        assert sorted(kinds) == ["invoice.issued", "payment.recorded"]
