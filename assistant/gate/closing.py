"""Cards that close without a person's answer: time, a new message, a newer card."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import Case, Value, When

from assistant.gate.outcome import Clock, go_on, tell
from assistant.models import OPEN, PendingAction, Status
from ledger import audit, jobs, tenancy
from ledger.models import Membership

DEADLINE = "deadline"
SECOND_TIMEOUT = "second_approval_timeout"


class DecidedMeanwhile(Exception):
    """The card that was to be replaced is no longer open, or is not the one that was shown."""


@transaction.atomic
def expire(action_id: uuid.UUID, *, closed_by: str) -> bool:
    """Close a card whose time is over by the database's clock. True if this call closed it.

    One that waited for its second person says so: nobody's no (settled question 7).
    """
    waited = When(status=Status.AWAITING_SECOND, then=Value(SECOND_TIMEOUT))
    rows = PendingAction.objects.filter(pk=action_id, status__in=OPEN, expires_at__lte=Clock()).update(
        status=Status.EXPIRED, closed_by=Case(waited, default=Value(closed_by)), closed_at=Clock()
    )
    if rows:
        _expired(action_id, closed_by)
    return bool(rows)


@transaction.atomic
def expire_open(conversation_id: uuid.UUID, *, closed_by: str) -> int:
    """Close the pending cards of a conversation because something else came (a new message). Returns how many.

    A card that waits for a second person is not bound to the chat and stays.
    """
    cards = PendingAction.objects.select_for_update(no_key=True).filter(
        conversation_id=conversation_id, status=Status.PENDING
    )
    ids = list(cards.order_by("pk").values_list("pk", flat=True))  # all of them, before the conversation is locked
    PendingAction.objects.filter(pk__in=ids).update(status=Status.EXPIRED, closed_by=closed_by, closed_at=Clock())
    for action_id in ids:
        _expired(action_id, closed_by)
    return len(ids)


@transaction.atomic
def close_open(action_id: uuid.UUID, *, closed_by: str) -> bool:
    """Close a card before its time. True if this call closed it."""
    rows = PendingAction.objects.filter(pk=action_id, status__in=OPEN).update(
        status=Status.EXPIRED, closed_by=closed_by, closed_at=Clock()
    )
    if rows:
        _expired(action_id, closed_by)
    return bool(rows)


def _expired(action_id: uuid.UUID, closed_by: str) -> None:
    action = PendingAction.objects.get(pk=action_id)
    jobs.forget("expire_action", action.pk)
    audit.record("action.expired", by=None, subject=action, closed_by=action.closed_by, digest=action.digest)
    tell(action, "expired", closed_by=action.closed_by)
    if closed_by != "new_message":
        go_on(action)


@transaction.atomic
def supersede(
    action: PendingAction, *, by: Membership, closed_by: str, shown_hash: str = "", quietly: bool = False
) -> None:
    """Close an open card in favour of another one. Raises DecidedMeanwhile if it is no longer open."""
    match = {"digest": shown_hash} if shown_hash else {}
    rows = PendingAction.objects.filter(pk=action.pk, status__in=OPEN, expires_at__gt=Clock(), **match).update(
        status=Status.SUPERSEDED, closed_by=closed_by, closed_at=Clock()
    )
    if rows != 1:
        raise DecidedMeanwhile
    action.refresh_from_db()
    jobs.forget("expire_action", action.pk)
    audit.record("action.superseded", by=by, subject=action, closed_by=closed_by, digest=action.digest)
    if not quietly:
        tell(action, "superseded", closed_by=closed_by)


@transaction.atomic
def replaced(action: PendingAction, successor: PendingAction, *, event: str, **params: Any) -> None:
    """Link a superseded card to the one that took its place and tell the conversation."""
    action.superseded_by = successor
    action.save(update_fields=["superseded_by"])
    tell(action, event, successor=str(successor.pk), **params)


@jobs.job("expire_action")
def expire_when_due(tenant_id: uuid.UUID, action_id: uuid.UUID) -> None:
    """The deadline of one card, from the sweep."""
    with tenancy.tenant(tenant_id):
        expire(action_id, closed_by=DEADLINE)
