"""When turns start, wait and go on. A turn that is due has a promise of kind "turn", which the runner claims."""

import uuid

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from assistant.events import announce
from assistant.models import FINAL, Conversation, Message, PendingAction, Status, Turn
from ledger.company_settings import current_settings
from ledger.models import Due, Membership
from ledger.tenancy import current_tenant

KIND = "turn"
CHANNEL = "aval_turns"
SETTLED = (*FINAL, Status.IN_DOUBT, Status.AWAITING_SECOND)


def queue(turn: Turn) -> None:
    """Promise the turn to the runner and wake it, in this transaction."""
    Due.objects.bulk_create(
        [Due(kind=KIND, object_id=turn.pk, tenant_id=current_tenant(), run_at=timezone.now())],
        update_conflicts=True,
        unique_fields=["kind", "object_id"],
        update_fields=["run_at", "lease", "tries"],
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, '')", [CHANNEL])


def start(conversation: Conversation, *, member: Membership, door: str, messages: list[Message]) -> Turn:
    """Make the conversation's next turn out of messages that wait. The caller holds the conversation's row."""
    last = Turn.objects.filter(conversation=conversation).aggregate(last=Max("ordinal"))["last"] or 0
    turn = Turn.objects.create(conversation=conversation, member=member, door=door, ordinal=last + 1)
    Message.objects.filter(pk__in=[m.pk for m in messages]).update(turn=turn)
    queue(turn)
    announce(conversation.pk, turn)
    return turn


def newest(conversation_id: uuid.UUID) -> Turn | None:
    return Turn.objects.filter(conversation_id=conversation_id).order_by("-ordinal").first()


def settle(turn: Turn | None) -> None:
    """Let a waiting turn go on once each of its actions is final or in doubt, or waits for another person only.

    A turn that is no longer the newest, or a company that turned this off, ends it instead. The row is locked, so
    the last of several outcomes, and only it, finds the turn ready.
    """
    if turn is None:
        return
    held = Turn.objects.select_for_update().get(pk=turn.pk)
    if held.status != Turn.Status.WAITING:
        return
    if PendingAction.objects.filter(turn=held).exclude(status__in=SETTLED).exists():
        return
    last = newest(held.conversation_id)
    goes_on = last is not None and last.pk == held.pk and current_settings().values.resume_turns
    finish(held, Turn.Status.QUEUED if goes_on else Turn.Status.DONE)


def finish(turn: Turn, status: Turn.Status, problem: str = "") -> None:
    """Move a turn that the caller holds; a queued one is promised to the runner, an ended one lets the next begin."""
    turn.status, turn.problem, turn.claim, turn.lease_until = status, problem, None, None
    if status not in (Turn.Status.QUEUED, Turn.Status.WAITING):
        turn.ended_at = timezone.now()
    turn.save(update_fields=["status", "problem", "claim", "lease_until", "ended_at"])
    if status == Turn.Status.QUEUED:
        queue(turn)
    announce(turn.conversation_id, turn)
    if status != Turn.Status.QUEUED:
        start_waiting_messages(turn.conversation_id)


def start_waiting_messages(conversation_id: uuid.UUID) -> Turn | None:
    """Make a turn of the messages that came while another turn ran, if no turn is queued or running now."""
    conversation = Conversation.objects.select_for_update().get(pk=conversation_id)
    busy = Turn.objects.filter(
        conversation=conversation, status__in=[Turn.Status.QUEUED, Turn.Status.RUNNING]
    )
    if busy.exists():
        return None
    waiting = list(
        Message.objects.filter(
            conversation=conversation, turn=None, silent=False, role=Message.Role.USER
        ).order_by("position")
    )
    if not waiting:
        return None
    member = waiting[-1].author or conversation.starter
    return start(conversation, member=member, door="web", messages=waiting)
