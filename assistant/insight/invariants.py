"""What must hold in every company's rows at every moment, checked over the rows themselves.

The numbers are those of docs/faults.md. J1 (sends at the provider), J4 (the model's history) and J9 (other companies)
need an outside view and are checked by the tests.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from assistant.gate import digest
from assistant.models import OPEN, Alert, Attempt, Decision, PendingAction, Status, Turn
from ledger import audit
from ledger.actions.book_checks import wrong_in_books
from ledger.models import AuditEvent, Due

WON = {"confirm": "action.confirmed", "reject": "action.rejected", "cancel": "action.cancelled"}
RAN = (Status.EXECUTING, Status.EXECUTED, Status.IN_DOUBT)


def violations() -> list[str]:
    """Every rule that the rows of the company in scope break, each with the id of the row; empty when all hold."""
    actions = {action.pk: action for action in PendingAction.objects.all()}
    decisions = list(Decision.objects.all())
    attempts = {attempt.action_id: attempt for attempt in Attempt.objects.all()}
    return [
        *_decisions_are_audited(decisions),
        *_receipts_match(actions, decisions),
        *_nothing_is_stuck(actions, attempts),
        *_decided_once(actions, decisions, attempts),
        *_promises_stand(actions),
        *_chain_is_whole(),
        *wrong_in_books(),
    ]


def _decisions_are_audited(decisions: list[Decision]) -> Iterator[str]:
    kinds = [*WON.values(), "action.undone"]
    audited = AuditEvent.objects.filter(kind__in=kinds, subject_id__isnull=False).values_list("subject_id", "kind")
    events: Counter[tuple[Any, str]] = Counter(audited)
    rows: Counter[tuple[Any, str]] = Counter(
        (d.action_id, "action.undone" if d.slot == 3 else WON[d.verdict]) for d in decisions
    )
    for key in rows.keys() | events.keys():
        if rows[key] != events[key]:
            yield f"J2 {key[0]}: {rows[key]} decisions, {events[key]} audit rows ({key[1]})"


def _receipts_match(actions: dict, decisions: list[Decision]) -> Iterator[str]:
    shown = {d.action_id: d.shown_hash for d in decisions if d.verdict == Decision.Verdict.CONFIRM}
    for action in actions.values():
        if not digest.intact(action):
            yield f"J3 {action.pk}: the stored action does not hash to its digest"
        if action.status != Status.EXECUTED:
            continue
        if action.receipt is None or action.receipt["digest"] != action.digest:
            yield f"J3 {action.pk}: executed, and the receipt is not of this digest"
        if shown.get(action.pk) != action.digest:
            yield f"J3 {action.pk}: what a person saw is not what ran"


def _nothing_is_stuck(actions: dict, attempts: dict) -> Iterator[str]:
    grace = timedelta(seconds=2 * settings.AVAL_LEASE_SECONDS + 5)
    late = set(Attempt.objects.filter(lease_until__lt=Now() - grace).values_list("action_id", flat=True))
    alerted = set(Alert.objects.filter(handled_at=None).values_list("action_id", flat=True))
    for action in actions.values():
        if action.status == Status.EXECUTING and action.pk in late:
            yield f"J5 {action.pk}: executing past its lease without an alert"
        if action.status == Status.IN_DOUBT and action.pk not in alerted:
            yield f"J5 {action.pk}: in doubt without an alert"
        if action.status in RAN and action.pk not in attempts:
            yield f"J5 {action.pk}: {action.status} without an attempt"


def _decided_once(actions: dict, decisions: list[Decision], attempts: dict) -> Iterator[str]:
    confirmed: dict = {}
    for decision in decisions:
        if decision.verdict == Decision.Verdict.CONFIRM:
            confirmed.setdefault(decision.action_id, []).append(decision)
    for action in actions.values():
        approvers = confirmed.get(action.pk, [])
        if action.pk in attempts and len({d.member_id for d in approvers}) < action.approvals:
            yield f"J6 {action.pk}: ran with fewer people than it takes"
        if any(d.slot == 2 and d.member_id == action.requester_id for d in approvers):
            yield f"J6 {action.pk}: the requester is the second approver"
        if action.status in (Status.REJECTED, Status.EXPIRED, Status.SUPERSEDED) and action.pk in attempts:
            yield f"J6 {action.pk}: {action.status} and yet attempted"


def _promises_stand(actions: dict) -> Iterator[str]:
    promises = set(Due.objects.values_list("kind", "object_id"))
    needed = {
        **dict.fromkeys(OPEN, "expire_action"),
        Status.SCHEDULED: "execute_action",
        Status.EXECUTING: "watch_action",
        Status.IN_DOUBT: "reconcile_action",
    }
    for action in actions.values():
        kind = needed.get(action.status)
        if kind and (kind, action.pk) not in promises:
            yield f"J7 {action.pk}: {action.status} without a promise to look at it again"
    for turn in Turn.objects.filter(status__in=[Turn.Status.QUEUED, Turn.Status.RUNNING]):
        if ("turn", turn.pk) not in promises:
            yield f"J7 turn {turn.pk}: {turn.status} without a promise to run it"


def _chain_is_whole() -> Iterator[str]:
    state = audit.verify()
    if not state.whole:
        yield f"J8 the audit chain breaks at {state.bad_seq} ({state.problem})"
