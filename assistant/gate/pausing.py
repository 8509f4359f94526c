"""The kill switch: an owner or admin pauses the agent. Its cards are cancelled, what is confirmed and has not begun to
run is taken back, and nothing that needs a card runs until it is turned on again, in settings. Reading goes on.
"""

import uuid

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assistant.gate import standing
from assistant.gate.outcome import Clock, go_on, tell
from assistant.models import OPEN, Decision, PendingAction, Status
from ledger import audit, jobs, permissions
from ledger.compiled import Compiled
from ledger.errors import DomainError
from ledger.models import Membership, Suspension

PAUSED = "paused"
"""`closed_by` of what the pause closed."""
CURRENT: Compiled[Suspension] = Compiled(
    lambda: Suspension.objects.filter(ended_at=None).select_related("started_by")[:1]
)
STOPPABLE = (*OPEN, Status.SCHEDULED)
UNDO_SLOT = 3


def current() -> Suspension | None:
    """The pause that is in force, with who began it."""
    return CURRENT.first()


@transaction.atomic
def pause(*, by: Membership, reason: str = "") -> Suspension:
    """Pause the agent and close what waits. A second press while it is paused changes nothing. Raises NotAllowed."""
    permissions.require(by, "pause_agent")
    try:
        with transaction.atomic():
            suspension: Suspension = Suspension.objects.create(started_by=by, reason=reason.strip()[:300])
    except IntegrityError:
        return Suspension.objects.get(ended_at=None)
    closed = _close_all(by)
    audit.record("agent.paused", by=by, subject=suspension, reason=suspension.reason, cancelled=len(closed))
    return suspension


def _close_all(by: Membership) -> list[PendingAction]:
    """Cancel every card that waits and every confirmed action that no worker has claimed: all locked in one order."""
    held = PendingAction.objects.select_for_update(no_key=True).filter(status__in=STOPPABLE).order_by("pk")
    actions = list(held)
    slots = {action.pk: _slot(action) for action in actions}
    ids = list(slots)
    PendingAction.objects.filter(pk__in=ids, status__in=STOPPABLE).update(
        status=Status.CANCELLED, closed_by=PAUSED, closed_at=Clock()
    )
    came = audit.origin()
    Decision.objects.bulk_create(
        Decision(
            action=action,
            slot=slots[action.pk],
            verdict=Decision.Verdict.CANCEL,
            member=by,
            door=came.door,
            address=came.address,
            shown_hash=action.digest,
        )
        for action in actions
    )
    for action in actions:
        jobs.forget("expire_action", action.pk)
        jobs.forget("execute_action", action.pk)
        standing.give_back(action.pk)
        action.refresh_from_db()
        audit.record(
            "action.cancelled",
            by=by,
            subject=action,
            slot=slots[action.pk],
            digest=action.digest,
            closed_by=PAUSED,
            outcome="won",
        )
        tell(action, "cancelled", closed_by=PAUSED, by=by.name)
    for action in actions:
        go_on(action)
    return actions


def _slot(action: PendingAction) -> int:
    match action.status:
        case Status.SCHEDULED:
            return UNDO_SLOT
        case Status.AWAITING_SECOND:
            return 2
    return 1


@transaction.atomic
def turn_on(suspension_id: uuid.UUID, *, by: Membership) -> Suspension:
    """End the pause that was looked at. Raises NOT_PAUSED where it is over already, NotAllowed."""
    permissions.require(by, "pause_agent")
    rows = Suspension.objects.filter(pk=suspension_id, ended_at=None).update(ended_at=timezone.now(), ended_by=by)
    if rows != 1:
        raise DomainError("NOT_PAUSED", _("The assistant is not paused."))
    suspension = Suspension.objects.get(pk=suspension_id)
    audit.record("agent.turned_on", by=by, subject=suspension)
    return suspension
