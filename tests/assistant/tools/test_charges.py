"""Refunds through the gate: strong, once, looked up when in doubt, never sent again (H21, H45, H60, en-04)."""

import threading
from typing import Any

import pytest
from django.db import connection

from assistant.gate import approvals, execution, reconciliation, renewing
from assistant.gate.approvals import Click, Kind
from assistant.models import Alert, Decision, PendingAction
from assistant.tools import registry
from ledger.actions.company import change_settings
from ledger.errors import DomainError
from ledger.models import AuditEvent, Client, CreditNote, Payment, Refund, SandboxDelivery
from ledger.providers.sandbox import Mode, set_knob
from tests.bills import charged, fresh, issued, paid
from tests.cast import Cast, lone_ridge
from tests.desks import Desk, desk_of, fact, warned

STRONG: dict[str, Any] = {"fresh_login": True, "held": True, "reason": "gutter joint failed"}


def charged_desk(cast: Cast, amount: str = "1240.00") -> Desk:
    """A desk with PAY-0001 by card, which paid INV-0001."""
    with cast.scope():
        invoice = issued(cast, amount)
        charged(cast, invoice.total_cents, invoice, provider_id="pi_demo_0310")
    return desk_of(cast)


def propose(desk: Desk, amount: str, **given: Any) -> PendingAction:
    values = {"payment_ref": "PAY-0001", "reason": "duplicate", "note": "paid twice"}
    return desk.propose("refund_payment", amount=amount, **values | given)


def state(cast: Cast) -> tuple[str, int, int]:
    with cast.scope():
        payment = Payment.objects.get()
        return (payment.status, payment.refunded_cents, payment.pending_refund_cents)


def asked(cast: Cast) -> list[tuple[str, int, int]]:
    """What the provider was asked: key, amount, how often."""
    with cast.scope():
        rows = SandboxDelivery.objects.filter(port="cards").order_by("pk")
        return [(row.key, row.payload["amount"], row.requests) for row in rows]


def test_the_card_is_strong_and_shows_what_a_person_must_know(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge)
    action = propose(desk, "500.00", reason="service_issue", note="Emily's gutter leaks")
    assert (action.level, action.approvals, action.operation, action.undo_seconds) == (3, 1, "external", 0)
    assert action.effects == ["money_out"]
    shown = {name: fact(action, name) for name in ("amount", "paid", "already_refunded", "left_after")}
    assert {name: value["cents"] for name, value in shown.items()} == {
        "amount": 50_000,
        "paid": 124_000,
        "already_refunded": 0,
        "left_after": 74_000,
    }
    assert (fact(action, "client"), fact(action, "payment"), fact(action, "card")) == (
        "John Smith, Austin",
        "PAY-0001",
        "4242",
    )
    [change] = fact(action, "invoices_after")
    assert (change["name"], change["before"]["cents"], change["after"]["cents"]) == ("INV-0001", 0, 0)
    codes = [phrase["code"] for phrase in action.preview["consequences"]]
    assert codes == ["refund_leaves", "refund_credits"]
    assert action.preview["title"]["code"] == "refund_card_title"
    assert action.preview["typed"] == "500.00"
    assert action.payload["amount_cents"] == 50_000
    assert action.summary == "Refund $500.00 of payment PAY-0001 to John Smith, the way it came."
    assert warned(action) == set()
    assert (state(lone_ridge), asked(lone_ridge)) == (("succeeded", 0, 0), [])


def test_h21_the_card_says_which_invoice_opens_again(lone_ridge: Cast) -> None:
    action = propose(charged_desk(lone_ridge, "320.00"), "80.00")
    [change] = fact(action, "invoices_after")
    assert (change["before"]["cents"], change["after"]["cents"]) == (0, 8_000)
    [reopens] = [phrase for phrase in action.preview["consequences"] if phrase["code"] == "refund_reopens"]
    assert (reopens["params"]["invoice"], reopens["params"]["balance"]["cents"]) == ("INV-0001", 8_000)


def test_a_refund_takes_a_fresh_login_a_hold_or_the_amount_and_a_reason(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge)
    action = propose(desk, "350.00")
    for missing in (
        {"fresh_login": False},
        {"held": False},
        {"held": False, "typed": "350"},
        {"held": False, "typed": "$350.00"},
        {"reason": " "},
    ):
        assert desk.confirm(action, **STRONG | missing).kind == Kind.REFUSED, missing
    assert desk.fresh(action).status == "pending"
    assert desk.confirm(action, **STRONG | {"held": False, "typed": "350.00"}).kind == Kind.DECIDED


def test_a_refund_is_made_once_and_on_record_everywhere(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge)
    action = desk.run(propose(desk, "350.00", reason="service_issue"), **STRONG)
    assert action.status == "executed"
    assert asked(lone_ridge) == [(str(action.pk), 35_000, 1)]
    with lone_ridge.scope():
        refund = Refund.objects.get()
        assert (refund.key, refund.status, refund.provider_id) == (
            action.pk,
            "succeeded",
            action.receipt["provider_ref"],
        )
        assert CreditNote.objects.get().amount_cents == 35_000
        assert sorted(AuditEvent.objects.filter(kind__startswith="refund.").values_list("kind", flat=True)) == [
            "refund.reserved",
            "refund.succeeded",
        ]
    assert state(lone_ridge) == ("partially_refunded", 35_000, 0)
    assert action.receipt["text"] == ("$350.00 of PAY-0001 were refunded to John Smith (R-0001). Credit note: CN-0001.")
    told = desk.read("get_payment", payment_ref="PAY-0001")
    assert [(one["amount"], one["status"]) for one in told["refunds"]] == [("350.00", "succeeded")]


def test_en04_over_the_threshold_a_second_person_decides(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        change_settings(by=lone_ridge.dana, changes={"l3_threshold_cents": 30_000})
    desk = charged_desk(lone_ridge)
    first = propose(desk, "500.00")
    second = propose(desk, "350.00")  # "yes but make it 350": a newer card for the same payment
    assert (desk.fresh(first).status, second.approvals) == ("superseded", 2)
    assert desk.confirm(first, **STRONG).kind == Kind.CONFLICT
    assert desk.confirm(second, **STRONG).kind == Kind.DECIDED
    assert desk.fresh(second).status == "awaiting_second"
    assert desk.confirm(second, **STRONG).kind != Kind.DECIDED  # the same person, once more
    assert desk.fresh(second).status == "awaiting_second"
    assert asked(lone_ridge) == []
    assert desk.confirm(second, by=lone_ridge.sam, **STRONG).kind == Kind.DECIDED
    assert desk.execute(second).status == "executed"
    assert asked(lone_ridge) == [(str(second.pk), 35_000, 1)]


def test_a_seller_may_not_ask_for_a_refund(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge)
    with pytest.raises(DomainError) as refused:
        desk.propose(
            "refund_payment",
            by=lone_ridge.alex,
            payment_ref="PAY-0001",
            amount="1.00",
            reason="other",
            note="because",
        )
    assert refused.value.code == "FORBIDDEN"


@pytest.mark.parametrize(
    ("amount", "code"),
    [("1240.01", "REFUND_EXCEEDS_PAID"), ("0.00", "AMOUNT_OUT_OF_RANGE"), ("abc", "INVALID_ARGUMENTS")],
)
def test_a_refund_beyond_the_payment_puts_up_no_card(lone_ridge: Cast, amount: str, code: str) -> None:
    desk = charged_desk(lone_ridge)
    with pytest.raises(DomainError) as refused:
        propose(desk, amount)
    assert refused.value.code == code


def test_a_payment_by_hand_is_not_refunded_by_us(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        paid(lone_ridge, 100, issued(lone_ridge, "1.00"))
    with pytest.raises(DomainError) as refused:
        propose(desk_of(lone_ridge), "1.00")
    assert refused.value.code == "MANUAL_PAYMENT"


def test_a_refusal_gives_the_amount_back(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge)
    set_knob(lone_ridge.tenant_id, "cards", Mode.REFUSE, remaining=1)
    action = desk.run(propose(desk, "350.00"), **STRONG)
    assert (action.status, action.failure["code"]) == ("failed", "REFUND_REFUSED")
    assert state(lone_ridge) == ("succeeded", 0, 0)
    with lone_ridge.scope():
        assert Refund.objects.get().status == "failed"


# H45: confirmed from everywhere at once


def test_h45_three_confirms_at_once_are_one_refund(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge)
    action = propose(desk, "250.00")
    answers, start = [], threading.Barrier(3)

    def press() -> None:
        start.wait()
        try:
            answers.append(desk.confirm(action, **STRONG))
            execution.execute(lone_ridge.tenant_id, action.pk)
        finally:
            connection.close()

    presses = [threading.Thread(target=press) for _ in range(3)]
    for thread in presses:
        thread.start()
    for thread in presses:
        thread.join()
    assert sorted(answer.kind for answer in answers) == [Kind.DECIDED, Kind.REPEATED, Kind.REPEATED]
    assert desk.fresh(action).status == "executed"
    assert asked(lone_ridge) == [(str(action.pk), 25_000, 1)]
    assert desk.confirm(action, **STRONG).kind == Kind.REPEATED  # and the next day again
    with lone_ridge.scope():
        click = Click(action.pk, action.conversation_id, lone_ridge.dana, action.digest, reason="changed my mind")
        assert approvals.reject(click).kind == Kind.CONFLICT
        assert Decision.objects.filter(action=action).count() == 1
    assert state(lone_ridge) == ("partially_refunded", 25_000, 0)


# H60: one intent, one key


def test_h60_a_time_out_after_it_succeeded_is_looked_up_and_never_sent_again(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge)
    set_knob(lone_ridge.tenant_id, "cards", Mode.TIMEOUT_AFTER_ACCEPT, remaining=1)
    action = desk.run(propose(desk, "250.00"), **STRONG)
    assert action.status == "in_doubt"
    assert state(lone_ridge) == ("succeeded", 0, 25_000)  # held, and not called refunded
    told = desk.read("get_payment", payment_ref="PAY-0001")
    assert [(one["amount"], one["status"]) for one in told["refunds"]] == [("250.00", "pending")]
    for _retry in range(3):  # the job twice, the restarted worker once
        execution.execute(lone_ridge.tenant_id, action.pk)
    assert asked(lone_ridge) == [(str(action.pk), 25_000, 1)]
    reconciliation.reconcile(lone_ridge.tenant_id, action.pk)
    action = desk.fresh(action)
    assert (action.status, state(lone_ridge)) == ("executed", ("partially_refunded", 25_000, 0))
    assert asked(lone_ridge) == [(str(action.pk), 25_000, 1)]
    with lone_ridge.scope():
        assert Refund.objects.get().provider_id == action.receipt["provider_ref"]
        assert not Alert.objects.filter(action=action, handled_at=None).exists()
    other = desk.run(propose(desk, "260.00"), **STRONG)
    assert asked(lone_ridge)[1] == (str(other.pk), 26_000, 1)


def test_h60_while_it_is_in_doubt_the_amount_stays_held(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge, "300.00")
    set_knob(lone_ridge.tenant_id, "cards", Mode.TIMEOUT_BEFORE, remaining=1)
    action = desk.run(propose(desk, "250.00"), **STRONG)
    reconciliation.reconcile(lone_ridge.tenant_id, action.pk)
    assert desk.fresh(action).status == "in_doubt"  # the provider knows nothing: a person has to say
    with pytest.raises(DomainError) as refused:
        propose(desk, "50.01")
    assert (refused.value.code, refused.value.data["left"]) == ("REFUND_EXCEEDS_PAID", "50.00")
    with lone_ridge.scope():
        reconciliation.settle(action.pk, by=lone_ridge.dana, done=False, note="called the provider: nothing there")
    assert (desk.fresh(action).status, state(lone_ridge)) == ("failed", ("succeeded", 0, 0))


def test_h60_another_request_under_the_key_stops_and_is_shown(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge)
    action = propose(desk, "250.00")
    with lone_ridge.scope():
        SandboxDelivery.objects.create(
            port="cards",
            key=str(action.pk),
            status="accepted",
            payload={"payment": "pi_demo_0310", "amount": 1, "currency": "USD"},
        )
    action = desk.run(action, **STRONG)
    reconciliation.reconcile(lone_ridge.tenant_id, action.pk)
    assert desk.fresh(action).status == "in_doubt"
    assert state(lone_ridge) == ("succeeded", 0, 25_000)
    with lone_ridge.scope():
        assert Alert.objects.filter(action=action, handled_at=None).exists()


def test_an_edit_asks_again_with_the_new_amount(lone_ridge: Cast) -> None:
    desk = charged_desk(lone_ridge)
    action = propose(desk, "500.00")
    with lone_ridge.scope():
        made = registry.TOOLS["refund_payment"]
        with pytest.raises(DomainError):
            renewing.edit(action, made, by=lone_ridge.dana, fields={"amount": "abc"}, shown_hash=action.digest)
    assert desk.fresh(action).status == "pending"
    with lone_ridge.scope():
        edited = renewing.edit(action, made, by=lone_ridge.dana, fields={"amount": "350.00"}, shown_hash=action.digest)
    assert (fact(edited, "amount")["cents"], edited.preview["typed"]) == (35_000, "350.00")
    assert desk.run(edited, **STRONG).status == "executed"
    assert asked(lone_ridge) == [(str(edited.pk), 35_000, 1)]


def test_credit_that_was_used_after_the_card_stops_the_refund() -> None:
    cast = lone_ridge()
    with cast.scope():
        charged(cast, 9_000, issued(cast, "84.00"))
    desk = desk_of(cast)
    action = propose(desk, "6.00")
    assert fact(action, "from_credit")["cents"] == 600
    desk.confirm(action, **STRONG)
    with cast.scope():
        client = Client.objects.get()
        Client.objects.update(credit_cents=0, version=client.version + 1)
    action = desk.execute(action)
    assert (action.status, action.failure["code"]) == ("failed", "CHANGED")
    with cast.scope():
        assert not Refund.objects.exists()
        assert fresh(client).credit_cents == 0
