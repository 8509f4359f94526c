"""Recording a payment by a card: what it says is what is stored (H19, H20, H22, en-09)."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assistant.gate import execution
from ledger.actions.company import change_settings
from ledger.dates import today
from ledger.errors import DomainError
from ledger.models import Client, Payment
from tests.bills import charged, draft, fresh, issued, paid
from tests.cast import Cast, john_smith
from tests.desks import Desk, desk_of, fact, warned


def day(cast: Cast, before: int = 0) -> str:
    return (today(cast.company.timezone) - timedelta(days=before)).isoformat()


def propose(desk: Desk, amount: str, **given):
    values = {"client_ref": "C-0001", "method": "check", "received_on": day(desk.cast)}
    return desk.propose("record_payment", amount=amount, **values | given)


def test_en09_a_check_larger_than_the_balance(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "4180.25")
    desk = desk_of(lone_ridge)
    with pytest.raises(DomainError) as refused:
        propose(desk, "4500.00", allocations=[{"invoice_ref": "INV-0001", "amount": "4500.00"}], reference="1187")
    assert (refused.value.code, refused.value.data["excess"]) == ("ALLOCATION_EXCEEDS_BALANCE", "319.75")
    named = [{"invoice_ref": "INV-0001", "amount": "4180.25"}]
    with pytest.raises(DomainError) as refused:
        propose(desk, "4500.00", allocations=named, reference="1187")
    assert (refused.value.code, refused.value.data["excess"]) == ("OVERPAYMENT", "319.75")
    action = propose(desk, "4500.00", allocations=named, reference="1187", allow_credit=True)
    assert (action.level, action.operation) == (1, "internal")
    assert fact(action, "amount") == {"cents": 450_000, "currency": "USD"}
    assert (fact(action, "method"), fact(action, "reference")) == ("check", "1187")
    assert fact(action, "becomes_credit") == {"cents": 31_975, "currency": "USD"}
    [change] = fact(action, "pays")
    assert (change["name"], change["before"]["cents"], change["after"]["cents"]) == ("INV-0001", 418_025, 0)
    assert action.summary == (
        "Record a payment of $4,500.00 from John Smith. It pays INV-0001 $4,180.25. $319.75 become credit."
    )
    action = desk.run(action)
    assert action.receipt["text"] == (
        "Payment PAY-0001 of $4,500.00 was recorded. INV-0001 is paid. $319.75 are kept as credit."
    )
    with lone_ridge.scope():
        assert (fresh(invoice).status, Payment.objects.get().amount_cents) == ("paid", 450_000)
        assert Client.objects.get().credit_cents == 31_975


def test_h19_a_company_that_takes_no_overpayments_says_so(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "840.00")
        change_settings(by=lone_ridge.dana, changes={"overpayment": "refuse"})
    with pytest.raises(DomainError) as refused:
        propose(desk_of(lone_ridge), "900.00", allow_credit=True)
    assert "takes no overpayments" in refused.value.sentence


def test_h20_mark_as_paid_after_part_payments(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "260.00")
        paid(lone_ridge, 18_500, invoice)
    desk = desk_of(lone_ridge)
    rest = desk.read("get_invoice", invoice_ref="INV-0001")["balance"]
    named = [{"invoice_ref": "INV-0001", "amount": rest}]
    assert desk.run(propose(desk, rest, allocations=named)).receipt["text"].endswith("INV-0001 is paid.")
    with pytest.raises(DomainError) as refused:
        propose(desk, "1.00", allocations=[{"invoice_ref": "INV-0001", "amount": "1.00"}])
    assert refused.value.sentence == "INV-0001 is already paid."
    with lone_ridge.scope():
        assert sorted(Payment.objects.values_list("amount_cents", flat=True)) == [7_500, 18_500]


def test_h22_five_confirms_of_one_card_are_one_payment(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1000.00")
    desk = desk_of(lone_ridge)
    action = propose(desk, "250.00")
    start = threading.Barrier(5)

    def press() -> None:
        start.wait()
        try:
            desk.confirm(action)
            execution.execute(lone_ridge.tenant_id, action.pk)
        finally:
            connection.close()

    presses = [threading.Thread(target=press) for _ in range(5)]
    for thread in presses:
        thread.start()
    for thread in presses:
        thread.join()
    assert desk.fresh(action).status == "executed"
    with lone_ridge.scope():
        assert (Payment.objects.get().key, fresh(invoice).balance_cents) == (action.pk, 75_000)
    second = desk.run(propose(desk, "250.00"))  # a deliberate second one, from a card of its own
    assert second.status == "executed"
    with lone_ridge.scope():
        assert (Payment.objects.count(), fresh(invoice).balance_cents) == (2, 50_000)


def test_two_payments_on_different_invoices_are_two_cards(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "100.00")
        issued(lone_ridge, "200.00")
    desk = desk_of(lone_ridge)
    cards = [
        propose(desk, "50.00", allocations=[{"invoice_ref": ref, "amount": "50.00"}])
        for ref in ("INV-0001", "INV-0002")
    ]
    assert [desk.fresh(card).status for card in cards] == ["pending", "pending"]
    assert [desk.run(card).status for card in cards] == ["executed", "executed"]


def test_a_balance_that_moved_after_the_card_stops_it(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "100.00")
    desk = desk_of(lone_ridge)
    action = propose(desk, "100.00")
    desk.confirm(action)
    with lone_ridge.scope():
        paid(lone_ridge, 10_000, invoice)
    action = desk.execute(action)
    assert (action.status, action.failure["code"]) == ("failed", "CHANGED")
    with lone_ridge.scope():
        assert Payment.objects.count() == 1


def test_a_payment_that_looks_like_one_on_record_is_warned_of(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        paid(lone_ridge, 10_000, issued(lone_ridge, "1000.00"), reference="1187")
    action = propose(desk_of(lone_ridge), "100.00", reference="1187")
    assert warned(action) == {"record_payment_alike"}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"received_on": "2999-01-01"}, "FUTURE_DATE"),
        ({"received_on": "12/31/2026"}, "DATE_FORM"),
        ({"amount": "-5.00"}, "INVALID_ARGUMENTS"),
        ({"amount": "1,000.00"}, "INVALID_ARGUMENTS"),
        ({"method": "card"}, "INVALID_ARGUMENTS"),
        ({"allocations": [{"invoice_ref": "D-0002", "amount": "1.00"}]}, "NOT_PAYABLE"),
        ({"allocations": [{"invoice_ref": "INV-0099", "amount": "1.00"}]}, "NOT_FOUND"),
        ({"client_ref": "C-0099"}, "NOT_FOUND"),
    ],
)
def test_what_cannot_be_recorded_puts_up_no_card(lone_ridge: Cast, given, code) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "100.00")
        draft(lone_ridge, "100.00")
    with pytest.raises(DomainError) as refused:
        propose(desk_of(lone_ridge), **({"amount": "100.00"} | given))
    assert refused.value.code == code


def test_in_portuguese(aurora: Cast) -> None:
    with aurora.scope():
        issued(aurora, "1850.00", client=john_smith(aurora, name="João Silva", phone="+5519991230101"))
    desk = desk_of(aurora, "pt-br")
    action = propose(desk, "1850.00", method="transfer")
    assert action.summary.startswith("Registrar um pagamento de R$\u00a01.850,00 de João Silva.")


def test_payments_are_listed_with_their_sums(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1000.00")
        paid(lone_ridge, 10_000, invoice, received_on=today("America/Chicago") - timedelta(days=40))
        charged(lone_ridge, 20_000, invoice)
    desk = desk_of(lone_ridge)
    told = desk.read("list_payments")
    assert [(one["ref"], one["amount"], one["method"]) for one in told["payments"]] == [
        ("PAY-0002", "200.00", "card"),
        ("PAY-0001", "100.00", "check"),
    ]
    assert (told["received"], told["net"]) == ("300.00", "300.00")
    for given, refs in (
        ({"method": "card"}, ["PAY-0002"]),
        ({"start": day(lone_ridge, 5)}, ["PAY-0002"]),
        ({"end": day(lone_ridge, 5)}, ["PAY-0001"]),
        ({"status": "succeeded"}, ["PAY-0002", "PAY-0001"]),
        ({"status": "refunded"}, []),
        ({"client_ref": "C-0001", "limit": 1}, ["PAY-0002"]),
    ):
        assert [one["ref"] for one in desk.read("list_payments", **given)["payments"]] == refs, given


def test_the_list_takes_the_same_queries_for_one_and_for_thirty(lone_ridge: Cast) -> None:
    desk = desk_of(lone_ridge)
    counts = []
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1000.00")
    for more in (1, 29):
        with lone_ridge.scope():
            for _ in range(more):
                paid(lone_ridge, 100, invoice)
        with CaptureQueriesContext(connection) as queries:
            desk.read("list_payments", limit=50)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_one_payment_is_told_with_what_it_pays(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        charged(lone_ridge, 12_000, issued(lone_ridge, "100.00"))
    told = desk_of(lone_ridge).read("get_payment", payment_ref="PAY-0001")
    assert (told["amount"], told["refundable"], told["provider"], told["card"]) == ("120.00", "120.00", "cards", "4242")
    [allocation] = told["allocations"]
    assert (allocation["invoice"], allocation["amount"], allocation["invoice_status"]) == ("INV-0001", "100.00", "paid")


def test_mallory_finds_no_payment(lone_ridge: Cast, strangers: Cast) -> None:
    with lone_ridge.scope():
        paid(lone_ridge, 100, issued(lone_ridge, "1.00"))
    desk = desk_of(strangers)
    assert desk.read("list_payments")["payments"] == []
    for call in (
        lambda: desk.read("get_payment", payment_ref="PAY-0001"),
        lambda: propose(desk, "1.00"),
        lambda: desk.propose("refund_payment", payment_ref="PAY-0001", amount="1.00", reason="other", note="x"),
    ):
        with pytest.raises(DomainError) as refused:
            call()
        assert refused.value.code == "NOT_FOUND"


@pytest.mark.parametrize("typed", ["abc", "", "-5", "1,5", "0", "99999999999", "١٢"])
def test_h46_an_amount_that_is_none_is_refused_and_the_card_stays(lone_ridge: Cast, typed: str) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "840.00")
    desk = desk_of(lone_ridge)
    action = propose(desk, "250.00")
    answer = desk.edit(action, amount=typed)
    assert (str(answer.kind), desk.fresh(action).status) == ("refused", "pending")
    assert desk.run(action).status == "executed"
    with lone_ridge.scope():
        assert Payment.objects.get().amount_cents == 25_000
