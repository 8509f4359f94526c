"""The checker itself: each rule, broken on purpose behind the triggers, is named."""

from collections.abc import Callable

import pytest
from django.db import connection, transaction

from assistant.insight.invariants import violations
from assistant.models import Alert, Attempt, Decision, Message, PendingAction, Status
from ledger.models import AuditEvent, Due
from ledger.tenancy import new_id
from tests.assistant.gate.conftest import Office, make_office
from tests.support.provider import FileProvider

TABLES = (
    "assistant_pendingaction",
    "assistant_decision",
    "assistant_attempt",
    "ledger_auditevent",
    "ledger_auditlink",
)


@pytest.fixture
def office(tmp_path, monkeypatch) -> Office:
    """A letter that was sent, one in doubt, a card that waits, one that was rejected."""
    monkeypatch.setenv("AVAL_TEST_PROVIDER", str(tmp_path / "provider"))
    own, provider = make_office(), FileProvider()
    sent = own.propose("rename_client", name="Joe")
    own.confirm(sent)
    assert own.execute(sent).status == Status.EXECUTED
    rejected = own.propose("post_letter", text="no")
    own.reject(rejected)
    own.reject(rejected)
    provider.set_mode("timeout_before")
    doubtful = own.propose("post_letter", text="Hi")
    own.confirm(doubtful)
    assert own.execute(doubtful).status == Status.IN_DOUBT
    own.propose("post_letter", text="waits")
    return own


def lose_a_decision() -> None:
    Decision.objects.filter(verdict="reject").delete()


def lose_the_event_of_a_decision() -> None:
    rewrite("action.rejected", '"slot":1', '"slot":2')


def forget_who_lost() -> None:
    AuditEvent.objects.filter(kind="action.reject_not_taken").update(actor=None)


def swap_a_receipt() -> None:
    PendingAction.objects.filter(status="executed").update(receipt={"text": "x", "digest": "0" * 64})


def swap_a_payload() -> None:
    PendingAction.objects.filter(status="executed").update(payload={"name": "Jim"})


def tell_an_end_twice() -> None:
    record = Message.objects.get(role="record", code="executed")
    record.pk, record.key = None, None
    record.save(force_insert=True)


def tell_an_end_that_did_not_happen() -> None:
    Message.objects.filter(role="record", code="rejected").update(code="executed")


def close_an_alert() -> None:
    Alert.objects.update(handled_at="2026-01-01T00:00:00Z")


def lose_the_call() -> None:
    Attempt.objects.filter(outcome="in_doubt").update(called_at=None)


def undo_a_yes() -> None:
    Decision.objects.filter(action__status="executed").update(verdict="cancel")


def run_what_was_rejected() -> None:
    PendingAction.objects.filter(status="in_doubt").update(status="rejected")


def break_a_promise() -> None:
    Due.objects.filter(kind="reconcile_action").delete()


def cut_the_chain() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM ledger_auditlink WHERE seq = (SELECT max(seq) FROM ledger_auditlink)")


def open_a_wall() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE ledger_client NO FORCE ROW LEVEL SECURITY")


def give_a_promise_away() -> None:
    own = PendingAction.objects.values("pk")
    Due.objects.filter(kind="expire_action", object_id__in=own).update(tenant_id=new_id())


def rewrite(kind: str, old: str, new: str) -> None:
    event = AuditEvent.objects.get(kind=kind)
    AuditEvent.objects.filter(pk=event.pk).update(body=event.body.replace(old, new))


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("J2", lose_a_decision),
        ("J2", lose_the_event_of_a_decision),
        ("J2", forget_who_lost),
        ("J3", swap_a_receipt),
        ("J3", swap_a_payload),
        ("J4", tell_an_end_twice),
        ("J4", tell_an_end_that_did_not_happen),
        ("J5", close_an_alert),
        ("J5", lose_the_call),
        ("J6", undo_a_yes),
        ("J6", run_what_was_rejected),
        ("J7", break_a_promise),
        ("J8", cut_the_chain),
        ("J9", open_a_wall),
        ("J9", give_a_promise_away),
    ],
)
def test_each_rule_that_is_broken_is_named(office: Office, rule: str, fault: Callable[[], None]):
    with office.scope():
        assert violations() == []
        for table in TABLES:
            unguard(table)
        fault()
        found = violations()
        transaction.set_rollback(True)
    assert any(line.startswith(rule) for line in found), found


def unguard(table: str) -> None:
    """As the table's owner may; it comes back with the transaction."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
