"""What the record says of each action: the audit's events, the model's history, the chain (J2, J4, J8)."""

import json
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

from assistant.insight.rows import Rows
from assistant.models import Decision, Message, Status, ToolCall, Turn
from ledger import audit
from ledger.models import AuditEvent

WON = {"confirm": "action.confirmed", "reject": "action.rejected", "cancel": "action.cancelled"}
UNDONE = "action.undone"
LOST = ("repeated", "conflict", "refused")
ENDED_BY: dict[str, tuple[str, ...]] = {
    Status.EXPIRED: ("action.expired",),
    Status.SUPERSEDED: ("action.superseded",),
    Status.EXECUTED: ("action.executed", "action.settled"),
    Status.FAILED: ("action.failed", "action.settled"),
}
"""The events one of which, once, tells of an end that no decision row tells of."""
TOLD: dict[str, tuple[str, ...]] = {
    Status.EXECUTED: ("executed",),
    Status.FAILED: ("failed",),
    Status.REJECTED: ("rejected",),
    Status.CANCELLED: ("cancelled",),
    Status.EXPIRED: ("expired",),
    Status.SUPERSEDED: ("superseded", "edited"),
}
"""The records one of which, once, tells the model how an action ended."""
OUTCOMES = frozenset(code for codes in TOLD.values() for code in codes)
RESTING = (Turn.Status.WAITING, Turn.Status.DONE, Turn.Status.STOPPED, Turn.Status.INTERRUPTED, Turn.Status.FAILED)

Told = tuple[uuid.UUID, str, int, uuid.UUID | None, str]


def attempts_are_audited(rows: Rows) -> Iterator[str]:
    """J2: each decision has one event that tells the same of it; each attempt that lost says who, on what, how.

    An erased event still says who did what kind of thing to which action, and nothing more is asked of it.
    """
    events: Counter[Told] = Counter()
    kinds: Counter[tuple[uuid.UUID, str]] = Counter()
    erased: set[tuple[uuid.UUID, str, uuid.UUID | None]] = set()
    for event in AuditEvent.objects.filter(kind__startswith="action.", subject_id__in=rows.actions.keys()):
        action = rows.actions.get(event.subject_id or uuid.UUID(int=0))
        if action is None:
            continue
        detail = event.told
        kinds[action.pk, event.kind] += 1
        if event.erased_by:
            erased.add((action.pk, event.kind, event.actor_id))
        elif event.kind in (*WON.values(), UNDONE):
            events[action.pk, event.kind, detail["slot"], event.actor_id, detail["shown"]] += 1
        elif event.kind.endswith("_not_taken") and not (
            event.actor_id and detail["digest"] == action.digest and detail["outcome"] in LOST
        ):
            yield f"J2 {action.pk}: the attempt {event.pk} lacks who, on what, or how it came out"
    decided: Counter[Told] = Counter(_as_told(decision) for decision in rows.decisions)
    for key in decided.keys() | events.keys():
        if decided[key] != events[key] and (key[0], key[1], key[3]) not in erased:
            yield f"J2 {key[0]}: {decided[key]} decisions, {events[key]} audit rows ({key[1]}, slot {key[2]})"
    for action in rows.actions.values():
        if kinds[action.pk, "action.proposed"] != 1:
            yield f"J2 {action.pk}: proposed, and audited {kinds[action.pk, 'action.proposed']} times"
        ended = sum(kinds[action.pk, kind] for kind in ENDED_BY.get(action.status, ()))
        if action.status in ENDED_BY and ended != 1:
            yield f"J2 {action.pk}: {action.status}, and audited {ended} times"


def _as_told(decision: Decision) -> Told:
    kind = UNDONE if decision.slot == 3 else WON[decision.verdict]
    return decision.action_id, kind, decision.slot, decision.member_id, decision.shown_hash


def history_is_true(rows: Rows) -> Iterator[str]:
    """J4: every call of a turn that rests has its result, a gated call the fixed one; every end is told, once."""
    for call in ToolCall.objects.filter(turn__status__in=RESTING):
        if call.status in (ToolCall.Status.QUEUED, ToolCall.Status.RUNNING) or not call.result:
            yield f"J4 call {call.pk}: {call.status} in a turn that rests, without its result"
    for call in ToolCall.objects.filter(status=ToolCall.Status.PROPOSED):
        said = _object(call.result)
        if said.get("action") != str(call.action_id) or said.get("executed") is not False:
            yield f"J4 call {call.pk}: a gated call whose result is not the fixed one"
    told: Counter[tuple[uuid.UUID | None, str]] = Counter(
        Message.objects.filter(role=Message.Role.RECORD, code__in=OUTCOMES).values_list("action_id", "code")
    )
    for action in rows.actions.values():
        right = TOLD.get(action.status, ())
        once = sum(told[action.pk, code] for code in right)
        wrong = [code for code in sorted(OUTCOMES.difference(right)) if told[action.pk, code]]
        if wrong or once != (1 if right else 0):
            yield f"J4 {action.pk}: {action.status}, told {once} times and as {wrong}"


def _object(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def chain_is_whole() -> Iterator[str]:
    """J8: the chain verifies, and is as long as there are events."""
    before = AuditEvent.objects.count()
    state = audit.verify()
    if not state.whole:
        yield f"J8 the audit chain breaks at {state.bad_seq} ({state.problem})"
    elif state.length < before:
        yield f"J8 the audit chain has {state.length} links for {before} events"
