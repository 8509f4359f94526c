"""A second person who does not come: the backup is called, and in the end nobody has decided."""

import json
from datetime import timedelta

import pytest

from assistant.gate import review
from assistant.gate.approvals import Kind
from assistant.models import Alert, Decision, Status
from ledger import jobs
from ledger.models import AuditEvent, Due, SandboxDelivery, StaffNotice
from tests.assistant.gate.conftest import make_office

STRONG = {"fresh_login": True, "held": True, "reason": "agreed"}


@pytest.fixture
def half(office):
    """A card over the threshold that Dana has confirmed."""
    action = office.propose("pay_out", amount_cents=60_001)
    assert office.confirm(action, **STRONG).action.status == Status.AWAITING_SECOND
    return office.fresh(action)


def minutes_until(office, kind: str, action) -> int:
    with office.scope():
        due = Due.objects.get(kind=kind, object_id=action.pk)
        first = Decision.objects.get(action=action).at
    return round((due.run_at - first).total_seconds() / 60)


def mails(office) -> list[dict]:
    """What the worker sends of the notices that stand, and has sent."""
    with office.scope():
        waiting = list(StaffNotice.objects.filter(sent_at=None).values_list("pk", flat=True))
    for pk in waiting:
        jobs.run("staff_mail", pk, office.company.pk)
    with office.scope():
        return [delivery.payload for delivery in SandboxDelivery.objects.order_by("pk")]


def test_after_half_an_hour_the_backup_is_called_and_after_an_hour_nobody_has_decided(office, half):
    assert minutes_until(office, "escalate_action", half) == 30
    assert minutes_until(office, "expire_action", half) == 60
    office.run_due("escalate_action", half)
    office.run_due("escalate_action", half)
    called = office.fresh(half)
    assert (called.status, called.escalated_at is not None) == (Status.AWAITING_SECOND, True)
    [mail] = mails(office)
    assert mail["to"] == [office.sam.user.email]
    assert half.summary in mail["text"]
    assert str(half.pk) in mail["text"]
    with office.scope():
        assert Alert.objects.filter(action=half, handled_at=None).count() == 1
        assert AuditEvent.objects.filter(kind="action.escalated", subject_id=half.pk).count() == 1


def test_T61_the_time_out_is_nobodys_no(office, half):
    office.age(half, timedelta(minutes=61))
    office.run_due("expire_action", half)
    over = office.fresh(half)
    assert (over.status, over.closed_by) == (Status.EXPIRED, "second_approval_timeout")
    with office.scope():
        assert list(Decision.objects.filter(action=half).values_list("verdict", flat=True)) == ["confirm"]


@pytest.mark.parametrize("how", ["confirm", "reject"])
def test_an_answer_ends_the_call(office, half, how):
    office.run_due("escalate_action", half)
    more = STRONG if how == "confirm" else {}
    assert getattr(office, how)(half, by=office.sam, **more).kind == Kind.DECIDED
    with office.scope():
        assert not Alert.objects.filter(action=half, handled_at=None).exists()
    assert mails(office) == []


def test_the_policy_says_how_long_and_whom(office):
    with office.scope():
        text = json.dumps(
            {
                "rules": [{"tools": ["rename_client"], "people": 2}, {"tools": ["post_letter"], "people": 2}],
                "second_by_tool": {"post_letter": {"escalate_minutes": 5, "expire_minutes": 7, "backup": "U-03"}},
            }
        )
        review.change(by=office.dana, text=text, expected=0)
    letter, rename = office.propose("post_letter", text="Hi"), office.propose("rename_client", name="Joe")
    for action in (letter, rename):
        assert office.confirm(action).action.status == Status.AWAITING_SECOND
    assert (minutes_until(office, "escalate_action", letter), minutes_until(office, "expire_action", letter)) == (5, 7)
    assert minutes_until(office, "expire_action", rename) == 60
    with office.scope():
        assert not Due.objects.filter(kind="escalate_action", object_id=rename.pk).exists()  # L1 simply expires
    office.run_due("escalate_action", letter)
    assert [mail["to"] for mail in mails(office)] == [[office.sam.user.email]]


def test_a_notice_is_in_its_readers_language():
    office = make_office()
    with office.scope():
        office.sam.user.language = "pt-br"
        office.sam.user.save(update_fields=["language"])
    action = office.propose("pay_out", amount_cents=60_001)
    office.confirm(action, **STRONG)
    office.run_due("escalate_action", action)
    [mail] = mails(office)
    assert "Uma segunda pessoa" in mail["text"]
