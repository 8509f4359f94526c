"""What a person may do in a conversation: write, stop, try again. Each is one transaction, whatever the door."""

import uuid
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext as _

from assistant import turns
from assistant.agent import bare_yes, ends
from assistant.agent.lines import Line
from assistant.events import announce, announce_once
from assistant.gate import closing, stopping
from assistant.gate.outcome import Clock
from assistant.models import Conversation, Message, PendingAction, Status, Turn
from ledger import audit, permissions
from ledger.compiled import Compiled, an_id
from ledger.errors import DomainError, NotFound
from ledger.models import Membership
from ledger.text import clean_block

LONGEST = 8_000
"""Characters of one message."""
MOST_WAITING = 20
"""Messages that may wait for a running turn."""
TITLE = 60


OWN = Compiled(lambda: Conversation.objects.filter(pk=an_id(), starter=an_id("starter")))
LOOK = Compiled(
    lambda: Conversation.objects.filter(pk=an_id(), starter=an_id("starter")).annotate(
        said=Exists(Message.objects.filter(conversation=OuterRef("pk"), key=an_id("key"))),
        asks=Exists(PendingAction.objects.filter(conversation=OuterRef("pk"), status=Status.PENDING)),
        busy=Exists(Turn.objects.filter(conversation=OuterRef("pk"), status__in=turns.BUSY)),
    )
)
"""A person's conversation, and what may stand in a new message's way."""
FOR_A_CARD = Compiled(
    lambda: (
        Turn.objects.select_for_update(no_key=True)
        .filter(conversation=an_id("conversation"), status=Turn.Status.WAITING)
        .order_by("ordinal")
    )
)


@dataclass(frozen=True)
class Posted:
    """What became of a message: the turn that takes it up (None: it waits, or is a bare yes), and the line about it.

    `again` is True where the same form had come before: nothing happened this time (H22).
    """

    message: Message
    turn: Turn | None = None
    line: Message | None = None
    again: bool = False


@dataclass(frozen=True)
class Stopped:
    """What a stop did. `turn` is None where nothing ran; it ends within a moment where a runner has it.

    `cancelled` are the cards that waited; `too_late` run already; `undoable` are confirmed and can still be undone.
    """

    turn: Turn | None = None
    cancelled: list[PendingAction] = field(default_factory=list)
    too_late: list[PendingAction] = field(default_factory=list)
    undoable: list[PendingAction] = field(default_factory=list)


class _CardMeanwhile(Exception):
    """The running turn put a card up between two looks; the stop starts again and finds it."""


@transaction.atomic
def new_conversation(*, by: Membership) -> Conversation:
    """Begin a conversation; its title comes from its first words."""
    permissions.require(by, "use_assistant")
    conversation: Conversation = Conversation.objects.create(starter=by)
    return conversation


def own_conversation(conversation_id: uuid.UUID, by: Membership) -> Conversation:
    """The conversation, if it is this member's; anybody else's answers as one that does not exist (R4)."""
    return _theirs(OWN.first(pk=conversation_id, starter=by.pk))


def _theirs(found: Conversation | None) -> Conversation:
    if found is None:
        raise NotFound(_("There is no such conversation."))
    return found


def post_message(conversation_id: uuid.UUID, *, by: Membership, text: str, key: uuid.UUID, door: str) -> Posted:
    """Take a message in, in the running transaction. It begins the next turn, or waits while one runs; open cards
    expire by it.

    A bare yes while a card is open does neither: it is kept, and a line points to the card (settled question 13).
    Raises NotFound, NotAllowed, and DomainError EMPTY, TOO_LONG or TOO_MANY_WAITING.
    """
    permissions.require(by, "use_assistant")
    conversation: Any = _theirs(LOOK.first(pk=conversation_id, starter=by.pk, key=key))
    text = _readable(text)
    if conversation.said:
        return _said_before(conversation, key)
    if conversation.busy and turns.waiting_messages(conversation.pk).count() >= MOST_WAITING:
        raise DomainError("TOO_MANY_WAITING", _("Wait for the assistant; it has not read your last messages yet."))
    message = Message(
        conversation=conversation, role=Message.Role.USER, text=text, author=by, key=key, params={"door": door}
    )
    if conversation.asks:
        pending = PendingAction.objects.filter(conversation=conversation, status=Status.PENDING)
        cards = list(pending.filter(expires_at__gt=Clock()).only("summary").order_by("pk"))
        if cards and bare_yes.is_nearly(text):
            return _point_to_cards(conversation, message, cards)
        closing.expire_open(conversation.pk, closed_by="new_message")
    title = "" if conversation.title or conversation.desk else first_words(text)
    if not announce_once(conversation.pk, message, title=title):  # from here on the conversation is held
        return _said_before(conversation, key)
    message.turn = turn = _take_up(conversation)
    return Posted(message, turn)


def _said_before(conversation: Conversation, key: uuid.UUID | None) -> Posted:
    before = Message.objects.select_related("turn").get(conversation=conversation, key=key)
    return Posted(before, before.turn, again=True)


def _readable(text: str) -> str:
    cleaned = clean_block(text) if len(text) <= 4 * LONGEST else text
    if len(cleaned) > LONGEST:
        sentence = _("This message has %(length)d characters; %(most)d are the most.")
        raise DomainError("TOO_LONG", sentence % {"length": len(cleaned), "most": LONGEST}, most=LONGEST)
    if not cleaned.strip():
        raise DomainError("EMPTY", _("Write something first."))
    return cleaned


def _point_to_cards(conversation: Conversation, message: Message, cards: list[PendingAction]) -> Posted:
    """Nothing is decided and nothing expires; a line names what waits (T75)."""
    message.silent = True
    params = {"cards": [card.summary for card in cards], "actions": [str(card.pk) for card in cards]}
    if not announce_once(conversation.pk, message):
        return _said_before(conversation, message.key)
    line = Message(conversation=conversation, role=Message.Role.LINE, code=Line.POINT_TO_CARD, params=params)
    announce(conversation.pk, line)
    return Posted(message, line=line)


def first_words(text: str) -> str:
    """What a new conversation is called: the beginning of its first line."""
    line = text.strip().splitlines()[0].strip()
    return line if len(line) <= TITLE else line[: TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"


def _take_up(conversation: Conversation) -> Turn | None:
    """Let the next turn begin, now that a person has written: whatever waited for a card waits no longer.

    None where a turn is busy: the message waits for its end. The caller has just stored the message, which waits.
    """
    waiting: list[Any] = turns.WAITING.all(conversation=conversation.pk)
    if not waiting[0].cards:
        return turns.start_with(waiting)
    begun = None
    for turn in FOR_A_CARD.all(conversation=conversation.pk):
        begun = turns.finish(turn, Turn.Status.DONE) or begun
    return begun or turns.start_waiting_messages(conversation.pk)


@transaction.atomic
def stop(conversation_id: uuid.UUID, *, by: Membership) -> Stopped:
    """Stop the agent at once. What was said stays, its cards are cancelled; what runs already is too late (T55)."""
    conversation = own_conversation(conversation_id, by)
    for _attempt in range(10):
        try:
            with transaction.atomic():
                return _stop(conversation, by)
        except _CardMeanwhile:
            continue
    raise DomainError("BUSY", _("The assistant is too busy to be stopped; try again."))


def _stop(conversation: Conversation, by: Membership) -> Stopped:
    """Cards first, then conversation and turn: the order of the locks. A card that came in between starts it anew."""
    active = Q(status__in=[*turns.BUSY, Turn.Status.WAITING])
    turn = Turn.objects.filter(active, conversation=conversation).order_by("-ordinal").first()
    if turn is None:
        return Stopped()
    cancelled = stopping.cancel_cards(turn, by=by)
    turn = turns.hold(turn.pk)
    actions = PendingAction.objects.filter(turn=turn)
    if actions.filter(status__in=[Status.PENDING, Status.AWAITING_SECOND]).exists():
        raise _CardMeanwhile
    done = Stopped(
        turn,
        cancelled,
        too_late=list(actions.filter(status=Status.EXECUTING)),
        undoable=list(actions.filter(status=Status.SCHEDULED)),
    )
    if turn.status not in (*turns.BUSY, Turn.Status.WAITING) or turn.stop_requested:
        return done
    audit.record("turn.stopped", by=by, subject=turn, status=turn.status, cancelled=len(cancelled))
    for line, about in (
        (Line.STOPPED_CARDS, done.cancelled),
        (Line.TOO_LATE_TO_STOP, done.too_late),
        (Line.STILL_UNDOABLE, done.undoable),
    ):
        if about:
            ends.say(turn, line, cards=[action.summary for action in about])
    if turn.status == Turn.Status.RUNNING and not _silent(turn):
        turns.ask_to_stop(turn)
    else:
        ends.stopped(turn)
    return done


def _silent(turn: Turn) -> bool:
    """Whether the turn's runner is gone: nobody would hear of the stop."""
    return Turn.objects.filter(pk=turn.pk, lease_until__lte=Clock()).exists()


@transaction.atomic
def retry(turn_id: uuid.UUID, *, by: Membership) -> Turn:
    """Let a turn that was cut off or failed go on from its true history. What was confirmed is never run again.

    Raises NotFound, and DomainError NOT_RETRYABLE where the turn did not fail or something came after it.
    """
    permissions.require(by, "use_assistant")
    found = Turn.objects.filter(pk=turn_id, conversation__starter=by).first()
    if found is None:
        raise NotFound(_("There is no such turn."))
    turn = turns.hold(found.pk)
    later = Turn.objects.filter(conversation_id=turn.conversation_id).aggregate(
        after=Count("pk", filter=Q(ordinal__gt=turn.ordinal))
    )["after"]
    if later or turn.status not in (Turn.Status.INTERRUPTED, Turn.Status.FAILED):
        raise DomainError("NOT_RETRYABLE", _("There is nothing to try again here; write a new message."))
    turn.calls = turn.unknown_tools = 0
    turn.stop_requested = False
    turn.save(update_fields=["calls", "unknown_tools", "stop_requested"])
    turns.finish(turn, Turn.Status.QUEUED)
    audit.record("turn.retried", by=by, subject=turn)
    return turn
