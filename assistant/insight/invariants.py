"""What must hold in every company's rows at every moment, checked over the rows themselves.

The numbers are those of docs/faults.md. J1 (sends at the provider) needs an outside view and is checked by the tests,
which also read the model's history (J4) with a validator of their own.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now

from assistant.gate import digest
from assistant.insight import trail, walls
from assistant.insight.rows import CONFIRM, Rows
from assistant.models import OPEN, Alert, Attempt, Decision, Status, Turn
from ledger.actions.book_checks import wrong_in_books
from ledger.models import Due

RAN = (Status.EXECUTING, Status.EXECUTED, Status.IN_DOUBT)
CONFIRMED = (Status.SCHEDULED, *RAN)
PERSONS = {Status.REJECTED: Decision.Verdict.REJECT, Status.CANCELLED: Decision.Verdict.CANCEL}


def violations() -> list[str]:
    """Every rule that the rows of the company in scope break, each with the id of the row; empty when all hold."""
    rows = Rows.read()
    return [
        *trail.attempts_are_audited(rows),
        *_receipts_match(rows),
        *trail.history_is_true(rows),
        *_nothing_is_stuck(rows),
        *_decided_once(rows),
        *_promises_stand(rows),
        *trail.chain_is_whole(),
        *walls.nobody_else_is_seen(),
        *wrong_in_books(),
    ]


def _receipts_match(rows: Rows) -> Iterator[str]:
    shown = {d.action_id: d.shown_hash for d in rows.decisions if d.verdict == CONFIRM}
    for action in rows.actions.values():
        if not digest.intact(action):
            yield f"J3 {action.pk}: the stored action does not hash to its digest"
        if action.status != Status.EXECUTED:
            continue
        attempt = rows.attempts.get(action.pk)
        if attempt is None or attempt.outcome != "executed" or attempt.finished_at is None:
            yield f"J3 {action.pk}: executed, and no attempt ended so"
        if action.receipt is None or action.receipt["digest"] != action.digest:
            yield f"J3 {action.pk}: executed, and the receipt is not of this digest"
        if shown.get(action.pk) != action.digest:
            yield f"J3 {action.pk}: what a person saw is not what ran"


def _nothing_is_stuck(rows: Rows) -> Iterator[str]:
    grace = timedelta(seconds=2 * settings.AVAL_LEASE_SECONDS + 5)
    late = set(Attempt.objects.filter(lease_until__lt=Now() - grace).values_list("action_id", flat=True))
    alerted = set(Alert.objects.filter(handled_at=None).values_list("action_id", flat=True))
    for action in rows.actions.values():
        attempt = rows.attempts.get(action.pk)
        if action.status == Status.EXECUTING and action.pk in late:
            yield f"J5 {action.pk}: executing past its lease without an alert"
        if action.status == Status.IN_DOUBT and action.pk not in alerted:
            yield f"J5 {action.pk}: in doubt without an alert"
        if action.status in RAN and attempt is None:
            yield f"J5 {action.pk}: {action.status} without an attempt"
        elif action.status in RAN and action.operation == "external" and attempt and attempt.called_at is None:
            yield f"J5 {action.pk}: {action.status} and no call was on record before it went out"


def _decided_once(rows: Rows) -> Iterator[str]:
    verdicts: dict[object, list[Decision]] = defaultdict(list)
    for decision in rows.decisions:
        verdicts[decision.action_id].append(decision)
    for action in rows.actions.values():
        given = verdicts[action.pk]
        approvers = [d for d in given if d.verdict == CONFIRM]
        if action.pk in rows.attempts and len({d.member_id for d in approvers}) < action.approvals:
            yield f"J6 {action.pk}: ran with fewer people than it takes"
        if any(d.slot == 2 and d.member_id == action.requester_id for d in approvers):
            yield f"J6 {action.pk}: the requester is the second approver"
        if action.status in CONFIRMED and len(approvers) != len(given):
            yield f"J6 {action.pk}: {action.status}, and somebody said no"
        if action.status in PERSONS and sum(d.verdict == PERSONS[Status(action.status)] for d in given) != 1:
            yield f"J6 {action.pk}: {action.status}, and not by one person"
        if action.status in (*OPEN, *PERSONS, Status.EXPIRED, Status.SUPERSEDED) and action.pk in rows.attempts:
            yield f"J6 {action.pk}: {action.status} and yet attempted"


def _promises_stand(rows: Rows) -> Iterator[str]:
    promises = set(Due.objects.values_list("kind", "object_id"))
    needed = {
        **dict.fromkeys(OPEN, "expire_action"),
        Status.SCHEDULED: "execute_action",
        Status.EXECUTING: "watch_action",
        Status.IN_DOUBT: "reconcile_action",
    }
    for action in rows.actions.values():
        kind = needed.get(Status(action.status))
        if kind and (kind, action.pk) not in promises:
            yield f"J7 {action.pk}: {action.status} without a promise to look at it again"
    for turn in Turn.objects.filter(status__in=[Turn.Status.QUEUED, Turn.Status.RUNNING]):
        if ("turn", turn.pk) not in promises:
            yield f"J7 turn {turn.pk}: {turn.status} without a promise to run it"
