"""The kill switch: an owner or admin pauses the agent. Its cards are cancelled, what is confirmed and has not begun to
run is taken back, and nothing that needs a card runs until it is turned on again, in settings. Reading goes on.
"""

import uuid

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assistant.gate import standing
from assistant.gate.outcome import go_on
from assistant.gate.stopping import STOPPABLE, cancel
from assistant.models import PendingAction, Status
from ledger import audit, jobs, permissions
from ledger.compiled import Compiled
from ledger.errors import DomainError
from ledger.models import Membership, Suspension

PAUSED = "paused"
"""`closed_by` of what the pause closed."""
CURRENT: Compiled[Suspension] = Compiled(
    lambda: Suspension.objects.filter(ended_at=None).select_related("started_by")[:1]
)


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
    confirmed = [action for action in actions if action.status == Status.SCHEDULED]
    cancel(actions, by=by, closed_by=PAUSED)
    for action in confirmed:
        jobs.forget("execute_action", action.pk)
        standing.give_back(action.pk)
    for action in actions:
        go_on(action)
    return actions


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
