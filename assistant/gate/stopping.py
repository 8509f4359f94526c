"""A person stops the agent: what waits is cancelled, as that person's decision (T55; the kill switch in pausing.py)."""

from collections.abc import Sequence

from django.db import transaction

from assistant.gate.outcome import Clock, tell
from assistant.models import OPEN, Decision, PendingAction, Status, Turn
from ledger import audit, jobs
from ledger.models import Membership

STOPPABLE = (*OPEN, Status.SCHEDULED)
SLOTS = {Status.PENDING: 1, Status.AWAITING_SECOND: 2, Status.SCHEDULED: 3}
"""The slot of the decision that takes an action back, by the state that it is taken back from."""


@transaction.atomic
def cancel_cards(turn: Turn, *, by: Membership) -> list[PendingAction]:
    """Cancel what the turn has put up and nobody has decided. Actions are locked before the conversation is."""
    held = PendingAction.objects.select_for_update(no_key=True).filter(turn=turn, status__in=OPEN)
    cards = list(held.order_by("pk"))
    cancel(cards, by=by, closed_by="stop")
    return cards


def cancel(held: Sequence[PendingAction], *, by: Membership, closed_by: str) -> None:
    """Cancel actions that the caller has locked and that have not begun to run; tell their conversations."""
    slots = {action.pk: SLOTS[Status(action.status)] for action in held}
    PendingAction.objects.filter(pk__in=slots, status__in=STOPPABLE).update(
        status=Status.CANCELLED, closed_by=closed_by, closed_at=Clock()
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
        for action in held
    )
    for action in held:
        jobs.forget("expire_action", action.pk)
        audit.record(
            "action.cancelled",
            by=by,
            subject=action,
            slot=slots[action.pk],
            digest=action.digest,
            shown=action.digest,
            closed_by=closed_by,
            outcome="won",
        )
    for action in held:
        action.refresh_from_db()
        tell(action, "cancelled", closed_by=closed_by, by=by.name)
