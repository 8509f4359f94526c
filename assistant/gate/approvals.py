"""A person's answer to a card. The decision is one conditional UPDATE on the action's own columns.

What a click is and what goes on record of it is in clicks.py.
"""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, Value
from django.utils.translation import gettext as _

from assistant.events import announce
from assistant.gate import closing, escalation, policy, presence, renewing, review, standing, targets
from assistant.gate.clicks import Answer as Answer
from assistant.gate.clicks import Click as Click
from assistant.gate.clicks import Kind as Kind
from assistant.gate.clicks import Verdict, decide, late, note
from assistant.gate.clicks import find as find
from assistant.gate.clicks import seen as seen
from assistant.gate.clicks import visible as visible
from assistant.gate.outcome import Clock, answered, go_on, tell
from assistant.models import OPEN, Decision, PendingAction, Status
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger import jobs
from ledger.errors import DomainError
from ledger.tenancy import current_tenant

SECOND = 2
"""The slot of the second person."""


@transaction.atomic
def confirm(click: Click) -> Answer:
    """Say yes to exactly what was shown. The worker does the rest."""
    action = find(click)
    if action is None:
        return Answer(Kind.MISSING)
    refusal = _right(action, click)
    if not refusal and action.status in OPEN and targets.moved(action.targets):
        return _changed(click, action)
    here = presence.Presence(refusal) if refusal else presence.of(action, click)
    if refusal := here.missing:
        return note(click, action, "confirm", Answer(Kind.REFUSED, action, refusal))
    if action.status == Status.AWAITING_SECOND:
        won = _second(action, click)
    elif action.approvals > 1:
        minutes = review.current().policy.second_for(action.tool).expire_minutes
        ends = Clock() + timedelta(minutes=minutes)
        won = _move(click, Status.PENDING, status=Status.AWAITING_SECOND, expires_at=ends)
    else:
        won = _move(click, Status.PENDING, **_scheduled())
    if not won:
        return late(click, action, Verdict.CONFIRM)
    slot = SECOND if action.status == Status.AWAITING_SECOND else 1
    action.refresh_from_db()
    decide(action, click, Verdict.CONFIRM, slot, proof=here.proof)
    if action.status == Status.SCHEDULED:
        jobs.forget("expire_action", action.pk)
        if slot == SECOND:
            jobs.forget("escalate_action", action.pk)
            answered(action)
        jobs.later("execute_action", action.pk, at=action.execute_after if action.undo_seconds else None)
        announce(action.conversation_id, action)
    else:
        jobs.later("expire_action", action.pk, at=action.expires_at)
        escalation.promise(action)
        tell(action, "awaiting_second", by=click.by.name)
        go_on(action)
    return Answer(Kind.DECIDED, action)


def _changed(click: Click, action: PendingAction) -> Answer:
    """What the card was computed from has moved: it is superseded, and a new card shows the difference."""
    made = registry.get(action.tool)
    try:
        if made is None:
            raise DomainError("NOT_AVAILABLE", _("This cannot be done here."))
        successor = renewing.refresh(action, made, shown_hash=click.shown_hash)
    except closing.DecidedMeanwhile:
        return late(click, action, Verdict.CONFIRM)
    except DomainError as error:
        with transaction.atomic():
            closing.supersede(action, by=click.by, closed_by="facts_changed")
            go_on(action)
        return note(click, action, "confirm", Answer(Kind.CONFLICT, action, error.sentence))
    return note(click, action, "confirm", Answer(Kind.CONFLICT, successor, _("It changed since you looked.")))


@transaction.atomic
def edit(click: Click, fields: dict[str, Any]) -> Answer:
    """Change fields of the card: the old one is superseded, a new one is asked about. A bad value changes nothing."""
    action = find(click)
    if action is None:
        return Answer(Kind.MISSING)
    made = registry.get(action.tool)
    if made is None or action.status not in OPEN:
        return late(click, action, None, word="edit")
    try:
        with transaction.atomic():
            successor = renewing.edit(action, made, by=click.by, fields=fields, shown_hash=click.shown_hash)
    except closing.DecidedMeanwhile:
        return late(click, action, None, word="edit")
    except DomainError as error:
        action.refresh_from_db()
        return note(click, action, "edit", Answer(Kind.REFUSED, action, error.sentence))
    return Answer(Kind.DECIDED, successor)


def _scheduled() -> dict[str, Any]:
    return {
        "status": Status.SCHEDULED,
        "execute_after": Clock() + F("undo_seconds") * Value(timedelta(seconds=1)),
        "closed_by": "confirm",
        "closed_at": Clock(),
    }


def _move(click: Click, *statuses: str, **changes: Any) -> bool:
    """The one statement that decides: only the action's own columns, the database's clock, the hash that was shown."""
    who = Q(requester_id=click.by.pk, routed=False) | Q(routed=True)
    rows = PendingAction.objects.filter(
        who,
        tenant_id=current_tenant(),
        pk=click.action_id,
        conversation_id=click.conversation_id,
        status__in=statuses,
        expires_at__gt=Clock(),
        digest=click.shown_hash,
    ).update(**changes)
    return rows == 1


def _second(action: PendingAction, click: Click) -> bool:
    """The second key: another person than the requester and than the first approver (T65)."""
    first = Decision.objects.filter(action=action, slot=1).values_list("member_id", flat=True).first()
    if click.by.pk in (action.requester_id, first):
        return False
    rows = PendingAction.objects.filter(
        tenant_id=current_tenant(),
        pk=action.pk,
        conversation_id=click.conversation_id,
        status=Status.AWAITING_SECOND,
        expires_at__gt=Clock(),
        digest=click.shown_hash,
    ).update(**_scheduled())
    return rows == 1


def _right(action: PendingAction, click: Click) -> str:
    """Why this person may not say yes now, whatever they do; "" where they may."""
    made = registry.get(action.tool)
    if action.status not in OPEN:
        return ""
    first = Decision.objects.filter(action=action, slot=1).values_list("member_id", flat=True)
    waits = list(first) if action.status == Status.AWAITING_SECOND else []
    if made is None or not policy.may_answer(click.by, made, action, waits):
        return _("You may not confirm this; somebody with the right to has to.")
    if policy.agent_paused():
        return _("The assistant is paused in this company; an owner or admin can turn it on.")
    if action.status == Status.AWAITING_SECOND and click.by.pk == action.requester_id:
        return _("A second person has to confirm this.")
    return ""


@transaction.atomic
def reject(click: Click) -> Answer:
    """Say no, with a reason, on record; the agent is told and the tool says what follows."""
    action = find(click)
    if action is None:
        return Answer(Kind.MISSING)
    if action.status in OPEN and action.level >= Level.APPROVE and not (click.reason.strip() or click.reason_code):
        sentence = _("Write a reason, so the next draft is right.")
        return note(click, action, "reject", Answer(Kind.REFUSED, action, sentence))
    return _close(click, action, Verdict.REJECT, Status.REJECTED)


@transaction.atomic
def cancel(click: Click) -> Answer:
    """Close the card without blame and without a retry."""
    action = find(click)
    if action is None:
        return Answer(Kind.MISSING)
    return _close(click, action, Verdict.CANCEL, Status.CANCELLED)


def _close(click: Click, action: PendingAction, verdict: Verdict, status: Status) -> Answer:
    own = Q(requester_id=click.by.pk) | Q(routed=True) | Q(approvals=2)
    rows = PendingAction.objects.filter(
        own,
        tenant_id=current_tenant(),
        pk=action.pk,
        conversation_id=click.conversation_id,
        status__in=OPEN,
        expires_at__gt=Clock(),
        digest=click.shown_hash,
    ).update(status=status, closed_by=verdict, closed_at=Clock())
    if rows != 1:
        return late(click, action, verdict)
    action.refresh_from_db()
    decide(action, click, verdict, 2 if Decision.objects.filter(action=action, slot=1).exists() else 1)
    jobs.forget("expire_action", action.pk)
    made = registry.get(action.tool)
    if status == Status.REJECTED:
        standing.end_like(action, standing.Why.REJECTED, by=click.by)
    if status == Status.REJECTED and made and made.keep:
        made.keep(
            registry.Context(member=click.by, company=click.by.tenant, language=action.language),
            action.payload,
        )
    tell(action, str(status), reason_code=click.reason_code, reason=click.reason, by=click.by.name)
    go_on(action)
    return Answer(Kind.DECIDED, action)


@transaction.atomic
def undo(click: Click) -> Answer:
    """Take a confirmed action back before it has run; certain exactly while it is scheduled (settled question 2)."""
    action = find(click)
    if action is None:
        return Answer(Kind.MISSING)
    rows = PendingAction.objects.filter(
        tenant_id=current_tenant(),
        pk=action.pk,
        conversation_id=click.conversation_id,
        status=Status.SCHEDULED,
        digest=click.shown_hash,
    ).update(status=Status.CANCELLED, closed_by="undo", closed_at=Clock())
    if rows != 1:
        return late(click, action, Verdict.CANCEL, word="undo")
    action.refresh_from_db()
    decide(action, click, Verdict.CANCEL, 3)
    jobs.forget("execute_action", action.pk)
    standing.end_like(action, standing.Why.UNDONE, by=click.by)
    standing.give_back(action.pk)
    tell(action, "cancelled", by=click.by.name, undone=True)
    go_on(action)
    return Answer(Kind.DECIDED, action)
