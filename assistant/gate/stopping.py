"""A person stops the agent while its cards wait: the cards are cancelled, as that person's decision (T55)."""

from django.db import transaction

from assistant.gate.outcome import Clock, tell
from assistant.models import OPEN, Decision, PendingAction, Status, Turn
from ledger import audit, jobs
from ledger.models import Membership


@transaction.atomic
def cancel_cards(turn: Turn, *, by: Membership) -> list[PendingAction]:
    """Cancel what the turn has put up and nobody has decided. Actions are locked before the conversation is."""
    held = PendingAction.objects.select_for_update(no_key=True).filter(turn=turn, status__in=OPEN)
    cards = list(held.order_by("pk"))
    for card in cards:
        slot = 2 if card.status == Status.AWAITING_SECOND else 1
        PendingAction.objects.filter(pk=card.pk, status__in=OPEN).update(
            status=Status.CANCELLED, closed_by="stop", closed_at=Clock()
        )
        Decision.objects.create(
            action=card,
            slot=slot,
            verdict=Decision.Verdict.CANCEL,
            member=by,
            door=audit.origin().door,
            address=audit.origin().address,
            shown_hash=card.digest,
        )
        jobs.forget("expire_action", card.pk)
        audit.record(
            "action.cancelled",
            by=by,
            subject=card,
            slot=slot,
            digest=card.digest,
            shown=card.digest,
            closed_by="stop",
            outcome="won",
        )
    for card in cards:
        card.refresh_from_db()
        tell(card, "cancelled", closed_by="stop", by=by.name)
    return cards
