"""When turns start, wait and go on. A turn that is due has a promise of kind "turn", which the runner claims.

Locks are taken in one order everywhere: action, documents, number sequence, conversation, turn, head of the audit
chain. They are `NO KEY` locks: a row that refers to the turn (a message, a call, a card) does not wait for them.
"""

import uuid
from functools import cache, partial
from typing import Any

from django.db import connection, models
from django.utils import timezone

from assistant.events import Along, announce
from assistant.models import FINAL, Conversation, Message, PendingAction, Status, Turn
from ledger import jobs
from ledger.company_settings import current_settings
from ledger.compiled import Compiled, Slot, an_id
from ledger.tenancy import current_tenant, new_id

KIND = "turn"
CHANNEL = "aval_turns"
STOP = "stop"
"""The word before a turn's id in a notification that asks its runner to stop it."""
SETTLED = (*FINAL, Status.IN_DOUBT, Status.AWAITING_SECOND)
PROMISE = """
    INSERT INTO ledger_due (id, kind, object_id, tenant_id, run_at, tries) VALUES (%s, %s, %s, %s, now(), 0)
    ON CONFLICT (kind, object_id) DO UPDATE
            SET run_at = EXCLUDED.run_at, lease = EXCLUDED.lease, tries = EXCLUDED.tries
  RETURNING pg_notify(%s, '')
"""
TAKEN_UP = "UPDATE assistant_message SET turn_id = %s WHERE id = ANY(%s) AND tenant_id = %s"
CONVERSATION = Compiled(lambda: Conversation.objects.select_for_update(no_key=True).filter(pk=an_id()))
NEWEST = Compiled(lambda: Turn.objects.filter(conversation_id=an_id("conversation")).order_by("-ordinal")[:1])
WAITING = Compiled(
    lambda: (
        waiting_messages(an_id("conversation"))
        .annotate(ordinal=newest_turn("ordinal"), busy=newest_turn("status"), cards=waits_for_a_card())
        .select_related("author")
        .order_by("position")
    )
)
"""What waits; with each of them the number and the state of the conversation's newest turn, and whether any turn waits
for a card."""
BUSY = (Turn.Status.QUEUED, Turn.Status.RUNNING)
FINISHED = ("status", "problem", "claim", "lease_until", "ended_at", "unknown_tools", "tokens")


def notify(word: str = "") -> None:
    """Wake the runners when the running transaction commits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, word])


def queue(turn: Turn) -> None:
    """Promise the turn to the runners and wake them, in this transaction."""
    promise = _promised(turn)
    with connection.cursor() as cursor:
        cursor.execute(promise.sql, promise.params)


def _promised(turn: Turn) -> Along:
    return Along(PROMISE, [new_id(), KIND, turn.pk, current_tenant(), CHANNEL])


def ask_to_stop(turn: Turn) -> None:
    """Tell the runner of a running turn, which the caller holds, that its person wants it to stop."""
    Turn.objects.filter(pk=turn.pk).update(stop_requested=True)
    notify(f"{STOP} {turn.pk}")


def hold(turn_id: uuid.UUID, *also: str, wait: bool = True) -> Turn:
    """Lock the turn's conversation, then the turn, and read both anew, with what else is named. Raises DoesNotExist,
    and OperationalError where somebody else holds them and it may not `wait`.

    One statement: PostgreSQL takes the locks of a row in the order in which FOR UPDATE names the tables.
    """
    return _held(also, wait).one(pk=turn_id)


@cache
def _held(also: tuple[str, ...], wait: bool) -> Compiled[Turn]:
    locked = partial(Turn.objects.select_for_update, of=("conversation", "self"), no_key=True, nowait=not wait)
    return Compiled(lambda: locked().select_related("conversation", *also).filter(pk=an_id()))


def hold_conversation(conversation_id: uuid.UUID) -> Conversation:
    """Lock a conversation: nothing of it changes until the transaction ends. Raises Conversation.DoesNotExist."""
    return CONVERSATION.one(pk=conversation_id)


def start(conversation_id: uuid.UUID, *, ordinal: int, messages: list[Message]) -> Turn:
    """Make the conversation's next turn out of messages that wait. The caller holds the conversation.

    It runs in the name of whoever wrote the last of them, and as if all had come by that one's door.
    """
    last = messages[-1]
    if last.author is None:
        raise LookupError(f"nobody wrote the message {last.pk}")
    door = last.params.get("door", "web")
    turn = Turn(conversation_id=conversation_id, member=last.author, door=door, ordinal=ordinal)
    taken_up = Along(TAKEN_UP, [turn.pk, [message.pk for message in messages], current_tenant()])
    announce(conversation_id, turn, along=[taken_up, _promised(turn)])
    return turn


def newest(conversation_id: uuid.UUID) -> Turn | None:
    """The conversation's last turn: the only one that can be queued or running."""
    return NEWEST.first(conversation=conversation_id)


def open_cards(turn: Turn) -> bool:
    """Whether an action of the turn still has to come to an end that the agent can be told."""
    return PendingAction.objects.filter(turn=turn).exclude(status__in=SETTLED).exists()


def settle(turn: Turn | None) -> None:
    """Let a waiting turn go on once each of its actions is final or in doubt, or waits for another person only.

    A turn that is no longer the newest, or a company that turned this off, ends it instead. The row is locked, so
    the last of several outcomes, and only it, finds the turn ready.
    """
    if turn is None:
        return
    held = hold(turn.pk)
    if held.status != Turn.Status.WAITING or open_cards(held):
        return
    last = newest(held.conversation_id)
    goes_on = last is not None and last.pk == held.pk and current_settings().values.resume_turns
    finish(held, Turn.Status.QUEUED if goes_on else Turn.Status.DONE)


def finish(turn: Turn, status: Turn.Status, problem: str = "") -> Turn | None:
    """Move a turn that the caller holds; a queued one is promised to a runner, any other lets the next one begin.

    The runner's claim ends with it, so that nothing more is written in its name; what the turn has used is written with
    it. Returns the turn that begins.
    """
    turn.status, turn.problem, turn.claim, turn.lease_until = status, problem, None, None
    turn.ended_at = None if status in (Turn.Status.QUEUED, Turn.Status.WAITING) else timezone.now()
    promise = _promised(turn) if status == Turn.Status.QUEUED else Along(jobs.FORGET, [KIND, turn.pk])
    announce(turn.conversation_id, turn, fields=FINISHED, along=[promise])
    return None if status == Turn.Status.QUEUED else start_waiting_messages(turn.conversation_id)


def start_waiting_messages(conversation_id: uuid.UUID) -> Turn | None:
    """Make a turn of the messages that came while another turn ran, if no turn is queued or running now.

    The caller holds the conversation, so that nobody else begins a turn meanwhile.
    """
    return start_with(WAITING.all(conversation=conversation_id))


def start_with(waiting: list[Any]) -> Turn | None:
    """The same, with the messages that wait in hand (rows of WAITING)."""
    if not waiting or waiting[0].busy in BUSY:
        return None
    return start(waiting[0].conversation_id, ordinal=(waiting[0].ordinal or 0) + 1, messages=waiting)


def newest_turn(field: str) -> models.Subquery:
    """One field of the newest turn of a message's conversation."""
    turns = Turn.objects.filter(conversation=models.OuterRef("conversation")).order_by("-ordinal")
    return models.Subquery(turns.values(field)[:1])


def waits_for_a_card() -> models.Exists:
    """Whether a turn of a message's conversation waits for a card."""
    return models.Exists(Turn.objects.filter(conversation=models.OuterRef("conversation"), status=Turn.Status.WAITING))


def waiting_messages(conversation_id: uuid.UUID | Slot) -> models.QuerySet[Message]:
    """What people wrote that no turn has taken up yet."""
    return Message.objects.filter(conversation_id=conversation_id, turn=None, silent=False, role=Message.Role.USER)
