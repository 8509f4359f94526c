"""Decisions: who, once, on what was shown, in time."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.db import InternalError, ProgrammingError, connection, transaction
from django.db.utils import DatabaseError, IntegrityError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assistant.gate import approvals, closing
from assistant.gate.approvals import Kind
from assistant.models import Attempt, Conversation, Decision, Message, PendingAction, Seen, Status
from ledger import audit, jobs, tenancy
from ledger.models import AuditEvent, Due
from tests.assistant.gate.conftest import Office


def events(office: Office, action: PendingAction) -> list[str]:
    with office.scope():
        return list(AuditEvent.objects.filter(subject_id=action.pk).order_by("at").values_list("kind", flat=True))


def test_a_proposal_waits_and_has_no_effect(office):
    action = office.propose("rename_client", name="Joe")
    assert action.status == Status.PENDING
    with office.scope():
        office.client.refresh_from_db()
        assert office.client.name == "John Smith"
        assert not Attempt.objects.exists()
        assert Due.objects.filter(kind="expire_action", object_id=action.pk).exists()
    assert events(office, action) == ["action.proposed"]


def test_a_confirmed_action_is_executed_once_with_a_receipt(office):
    action = office.propose("rename_client", name="Joe")
    answer = office.confirm(action)
    assert answer.kind == Kind.DECIDED
    assert answer.action.status == Status.SCHEDULED
    done = office.execute(action)
    again = office.execute(action)
    assert (done.status, again.status) == (Status.EXECUTED, Status.EXECUTED)
    assert done.receipt["text"] == "C-0001 is called Joe now."
    assert done.receipt["digest"] == action.digest
    with office.scope():
        office.client.refresh_from_db()
        assert (office.client.name, office.client.version) == ("Joe", 2)
        assert Attempt.objects.filter(action=action).count() == 1
        assert [m.code for m in Message.objects.filter(role="record")] == ["executed"]
        assert audit.verify().whole
    assert events(office, action) == ["action.proposed", "action.confirmed", "action.executed"]


def test_the_decision_is_one_update_on_plain_columns_without_a_subselect(office):
    action = office.propose("rename_client", name="Joe")
    with office.scope(), CaptureQueriesContext(connection) as queries:
        approvals.confirm(office.click(action))
    updates = [q["sql"] for q in queries if q["sql"].startswith('UPDATE "assistant_pendingaction" SET "status"')]
    assert len(updates) == 1
    where = updates[0].split("WHERE")[1]
    assert "SELECT" not in where
    assert all(
        word in where for word in ("tenant_id", "requester_id", "conversation_id", "status", "expires_at", "digest")
    )
    assert "clock_timestamp" in where.lower()


def test_the_same_click_again_gets_the_same_answer_and_its_own_audit_row(office):
    action = office.propose("rename_client", name="Joe")
    kinds = [office.confirm(action).kind for _ in range(3)]
    assert kinds == [Kind.DECIDED, Kind.REPEATED, Kind.REPEATED]
    with office.scope():
        assert Decision.objects.filter(action=action).count() == 1
    assert events(office, action) == ["action.proposed", "action.confirmed", *["action.confirm_not_taken"] * 2]


def test_T14_confirm_then_reject_answers_with_the_first_decision(office):
    action = office.propose("rename_client", name="Joe")
    office.confirm(action)
    answer = office.reject(action)
    assert (answer.kind, answer.action.status) == (Kind.CONFLICT, Status.SCHEDULED)


def test_T05_a_second_reject_changes_nothing_and_tells_the_model_once(office):
    action = office.propose("post_letter", text="Hi")
    kinds = [office.reject(action).kind for _ in range(2)]
    assert kinds == [Kind.DECIDED, Kind.REPEATED]
    with office.scope():
        assert Message.objects.filter(role="record", action=action).count() == 1


@pytest.mark.parametrize("wrong", ["conversation", "person", "hash", "tenant", "status", "expiry"])
def test_each_filter_of_the_decision_alone_refuses(office, stranger, wrong):
    """Each of these would confirm a real, open card if its filter were missing."""
    action = office.propose("rename_client", name="Joe")
    click, scope = office.click(action), office.scope()
    match wrong:
        case "conversation":
            with office.scope():
                other = Conversation.objects.create(starter=office.dana)
            click = office.click(action, conversation_id=other.pk)
        case "person":
            click = office.click(action, by=office.alex)
        case "hash":
            click = office.click(action, shown_hash="0" * 64)
        case "tenant":
            click, scope = office.click(action, by=stranger.dana), stranger.scope()
        case "status":
            office.cancel(action)
        case "expiry":
            make_late(office, action)
    with scope:
        answer = approvals.confirm(click)
    assert answer.kind in (Kind.MISSING, Kind.CONFLICT)
    assert office.fresh(action).status in (Status.PENDING, Status.CANCELLED, Status.EXPIRED)
    with office.scope():
        assert not Decision.objects.filter(verdict="confirm").exists()
        assert not Due.objects.filter(kind="execute_action", object_id=action.pk).exists()


def make_late(office: Office, action: PendingAction) -> None:
    with office.scope():
        PendingAction.objects.filter(pk=action.pk).update(expires_at=timezone.now() - timedelta(milliseconds=1))


def test_T58_a_click_after_the_deadline_finds_the_card_expired(office):
    action = office.propose("rename_client", name="Joe")
    make_late(office, action)
    answer = office.confirm(action)
    assert (answer.kind, answer.action.status, answer.action.closed_by) == (Kind.CONFLICT, Status.EXPIRED, "deadline")
    with office.scope():
        assert [m.code for m in Message.objects.filter(role="record")] == ["expired"]


@pytest.mark.parametrize("hours", [-1, 1])
def test_expiry_follows_the_databases_clock_and_not_this_machines(office, hours):
    """Fault rows 10 and 25: a web server an hour off neither saves a late card nor refuses a timely one."""
    late, timely = office.propose("rename_client", name="Joe"), office.propose("post_letter", text="Hi")
    make_late(office, late)
    with time_machine.travel(timezone.now() + timedelta(hours=hours)):
        kinds = [office.confirm(late).kind, office.confirm(timely).kind]
    assert kinds == [Kind.CONFLICT, Kind.DECIDED]


def test_the_sweep_expires_what_is_late_and_nothing_else(office):
    late, early = office.propose("rename_client", name="Joe"), office.propose("post_letter", text="Hi")
    make_late(office, late)
    office.run_due("expire_action", late)
    office.run_due("expire_action", early)
    assert (office.fresh(late).status, office.fresh(early).status) == (Status.EXPIRED, Status.PENDING)


def test_T61_expiry_is_never_a_decision_of_a_person(office):
    action = office.propose("rename_client", name="Joe")
    make_late(office, action)
    office.run_due("expire_action", action)
    with office.scope():
        assert not Decision.objects.exists()
        assert audit.verify().whole


def test_a_new_message_expires_the_pending_cards(office):
    action = office.propose("rename_client", name="Joe")
    with office.scope():
        assert closing.expire_open(office.conversation.pk, closed_by="new_message") == 1
    fresh = office.fresh(action)
    assert (fresh.status, fresh.closed_by) == (Status.EXPIRED, "new_message")


def test_T55_cancel_is_no_rejection(office):
    action = office.propose("post_letter", text="Hi")
    office.cancel(action)
    with office.scope():
        assert [d.verdict for d in Decision.objects.all()] == ["cancel"]
        assert [m.code for m in Message.objects.filter(role="record")] == ["cancelled"]


def test_a_rejection_of_level_two_needs_a_reason(office):
    action = office.propose("post_letter", text="Hi")
    answer = office.reject(action, reason="  ")
    assert (answer.kind, office.fresh(action).status) == (Kind.REFUSED, Status.PENDING)


def test_T15_deciding_the_middle_card_leaves_the_others(office):
    first, second, third = (office.propose("post_letter", text=text) for text in ("a", "b", "c"))
    assert office.fresh(first).status == Status.SUPERSEDED
    other = office.propose("rename_client", name="Joe")
    office.confirm(other)
    assert [office.fresh(a).status for a in (third, other)] == [Status.PENDING, Status.SCHEDULED]
    assert len({a.pk for a in (first, second, third, other)}) == 4


def test_T11_an_old_cards_button_never_touches_the_new_card(office):
    old = office.propose("post_letter", text="old")
    office.reject(old)
    new = office.propose("post_letter", text="new")
    answer = office.confirm(old)
    assert (answer.kind, answer.action.pk, answer.action.status) == (Kind.CONFLICT, old.pk, Status.REJECTED)
    assert office.fresh(new).status == Status.PENDING


def test_T87_the_same_proposal_while_its_card_is_open_is_that_card(office):
    one, two = office.propose("post_letter", text="Hi"), office.propose("post_letter", text="Hi")
    assert one.pk == two.pk
    with office.scope():
        assert PendingAction.objects.count() == 1


def test_the_same_thing_proposed_anew_supersedes_the_open_card(office):
    one = office.propose("post_letter", text="Hi")
    office.propose("post_letter", text="Hello")
    fresh = office.fresh(one)
    assert (fresh.status, fresh.closed_by) == (Status.SUPERSEDED, "proposed_again")
    assert office.confirm(one).kind == Kind.CONFLICT


def test_H46_an_edit_makes_a_new_card_and_the_old_one_can_no_longer_run(office):
    old = office.propose("post_letter", text="Hi")
    with office.scope():
        answer = approvals.edit(office.click(old), {"text": "Hello"})
    new = answer.action
    assert (answer.kind, new.edited_from_id, new.payload["text"]) == (Kind.DECIDED, old.pk, "Hello")
    assert (office.fresh(old).status, office.fresh(old).superseded_by_id) == (Status.SUPERSEDED, new.pk)
    assert office.confirm(old).kind == Kind.CONFLICT
    assert json.loads(office.fresh(old).arguments)["text"] == "Hi"
    with office.scope():
        record = Message.objects.get(role="record", code="edited")
    assert record.params["changes"] == [{"name": "message", "kind": "long", "before": "Hi", "after": "Hello"}]


def test_an_edit_that_comes_after_the_own_yes_is_told_that_it_was_not_taken(office: Office):
    """What was confirmed is what was shown, not what the edit says: the answer may not sound as if it were the same."""
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    with office.scope():
        answer = approvals.edit(office.click(action), {"text": "Hello"})
    assert (answer.kind, office.fresh(action).payload["text"]) == (Kind.CONFLICT, "Hi")


@pytest.mark.parametrize("fields", [{"text": 5}, {"tool": "pay_out"}, {"client_ref": "C-0002"}])
def test_H46_T27_a_bad_edit_is_refused_and_the_card_stays(office, fields):
    action = office.propose("post_letter", text="Hi")
    with office.scope():
        answer = approvals.edit(office.click(action), fields)
    assert answer.kind == Kind.REFUSED
    assert answer.sentence
    assert office.fresh(action).status == Status.PENDING
    assert office.confirm(action).kind == Kind.DECIDED


def test_T24_a_record_that_changed_supersedes_the_card_and_shows_the_difference(office):
    action = office.propose("post_letter", text="Hi")
    rename(office, "Jon Smith")
    answer = office.confirm(action)
    assert (answer.kind, answer.action.status) == (Kind.CONFLICT, Status.PENDING)
    assert answer.action.pk != action.pk
    assert answer.action.summary == "Post a letter to Jon Smith: Hi"
    old = office.fresh(action)
    assert (old.status, old.closed_by, old.superseded_by_id) == (Status.SUPERSEDED, "facts_changed", answer.action.pk)
    with office.scope():
        assert not Decision.objects.exists()


def rename(office: Office, name: str) -> None:
    with office.scope():
        office.client.refresh_from_db()
        office.client.name, office.client.version = name, office.client.version + 1
        office.client.save(update_fields=["name", "version"])


def test_undo_works_exactly_while_the_action_is_scheduled(office):
    action = office.propose("rename_client", name="Joe")
    office.confirm(action)
    with office.scope():
        answer = approvals.undo(office.click(action))
    assert (answer.kind, answer.action.status, answer.action.closed_by) == (Kind.DECIDED, Status.CANCELLED, "undo")
    assert office.execute(action).status == Status.CANCELLED
    other = office.propose("rename_client", name="Jim")
    office.confirm(other)
    office.execute(other)
    with office.scope():
        assert approvals.undo(office.click(other)).kind == Kind.CONFLICT
    assert office.fresh(other).status == Status.EXECUTED


def test_money_out_takes_presence_and_a_second_person(office):
    action = office.propose("pay_out", amount_cents=60_000)
    assert (action.level, action.approvals) == (3, 2)
    strong = {"fresh_login": True, "held": True, "reason": "agreed"}
    for lacking in ({"fresh_login": False}, {"held": False}, {"reason": ""}):
        assert office.confirm(action, **strong | lacking).kind == Kind.REFUSED
    assert office.confirm(action, **strong).action.status == Status.AWAITING_SECOND
    again = office.confirm(action, **strong)
    assert (again.kind, again.action.status) == (Kind.REFUSED, Status.AWAITING_SECOND)
    assert office.confirm(action, by=office.alex, **strong).kind == Kind.MISSING
    assert office.confirm(action, by=office.sam, **strong).action.status == Status.SCHEDULED
    with office.scope():
        assert [(d.slot, d.member_id) for d in Decision.objects.order_by("slot")] == [
            (1, office.dana.pk),
            (2, office.sam.pk),
        ]


def test_small_money_out_takes_one_person(office):
    assert office.propose("pay_out", amount_cents=40_000).approvals == 1


def test_the_first_view_of_a_card_is_kept_and_starts_its_clock(office):
    action = office.propose("rename_client", name="Joe")
    for _ in range(3):
        with office.scope():
            approvals.seen(office.click(action))
    with office.scope():
        assert Seen.objects.count() == 1
    office.confirm(action)
    with office.scope():
        assert Decision.objects.get().seconds_shown == 0
    assert events(office, action) == ["action.proposed", "action.seen", "action.confirmed"]


def test_the_database_refuses_every_transition_that_is_not_in_the_table(office):
    for status in Status:
        action = office.propose("post_letter", text=str(status))
        if status in ("executing", "in_doubt", "executed", "failed"):
            with office.scope(), pytest.raises(DatabaseError), transaction.atomic():
                PendingAction.objects.filter(pk=action.pk).update(status=status)


def test_the_database_refuses_a_schedule_without_a_decision(office):
    action = office.propose("rename_client", name="Joe")
    with pytest.raises(DatabaseError, match="without a recorded decision"), office.scope():
        PendingAction.objects.filter(pk=action.pk).update(status=Status.SCHEDULED)
    assert office.fresh(action).status == Status.PENDING


@pytest.mark.parametrize(
    "column", ["payload_text", "preview_text", "summary", "digest", "tool", "requester_id", "level"]
)
def test_the_database_freezes_what_was_shown(office, column):
    action = office.propose("rename_client", name="Joe")
    value = {"level": 3, "requester_id": office.sam.pk}.get(column, "x")
    with pytest.raises((InternalError, ProgrammingError, IntegrityError)), office.scope():
        PendingAction.objects.filter(pk=action.pk).update(**{column: value})


@pytest.mark.parametrize(
    "table", ["assistant_pendingaction", "assistant_decision", "ledger_auditevent", "assistant_attempt"]
)
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_the_past_cannot_be_removed(office, table, statement):
    office.confirm(action := office.propose("rename_client", name="Joe"))
    office.execute(action)
    with pytest.raises(DatabaseError), tenancy.tenant(office.company.pk), connection.cursor() as cursor:
        cursor.execute(statement.format(table))


def test_a_decision_without_a_verdict_never_counts(office):
    """T31: an absent, empty, odd or foreign decision never executes."""
    action = office.propose("rename_client", name="Joe")
    for verdict in ("", "APPROVED ", "1", "yes"):
        with pytest.raises(DatabaseError), office.scope():
            Decision.objects.create(
                action=action, verdict=verdict[:8], member=office.dana, door="web", shown_hash=action.digest
            )
    assert office.execute(action).status == Status.PENDING


def test_T65_the_requester_can_never_be_the_second_key_even_in_the_database(office):
    action = office.propose("pay_out", amount_cents=60_000)
    office.confirm(action, fresh_login=True, held=True, reason="agreed")
    with pytest.raises(IntegrityError), office.scope():
        Decision.objects.create(
            action=action, slot=2, verdict="confirm", member=office.dana, door="web", shown_hash=action.digest
        )


def test_rolled_back_decisions_leave_no_job(office):
    """H52: a click whose transaction fails leaves no job, no audit row and a card that still waits."""
    action = office.propose("rename_client", name="Joe")
    with pytest.raises(RuntimeError), office.scope():
        approvals.confirm(office.click(action))
        raise RuntimeError
    assert office.fresh(action).status == Status.PENDING
    assert not Due.objects.filter(kind="execute_action", object_id=action.pk).exists()
    assert events(office, action) == ["action.proposed"]
    assert jobs.JOBS.keys() >= {"execute_action", "expire_action", "watch_action", "reconcile_action"}
