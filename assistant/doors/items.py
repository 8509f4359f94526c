"""The elements of a conversation: what was said, done and asked, as the templates of the thread get them."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assistant.agent import lines
from assistant.bus import Opening
from assistant.doors import markdown, wording
from assistant.doors.shapes import Card
from assistant.models import OPEN, Message, PendingAction, ToolCall, Turn
from assistant.tools import registry

LAST = 10**12
"""The place of what always stands at the end."""


@dataclass(frozen=True)
class Bubble:
    """One message. `ready` and `tail` are its HTML; while it is open, the tail is still being written."""

    id: uuid.UUID
    role: str
    text: str
    ready: SafeString
    tail: SafeString
    open: bool
    at: str
    at_iso: str
    author: str
    queued: bool
    chars: int
    retry: "Retry | None" = None


@dataclass(frozen=True)
class Retry:
    """The button beside a line about a turn that did not end well, while nothing came after it."""

    url: str
    turn: uuid.UUID
    label: str


@dataclass(frozen=True)
class Step:
    label: str
    refs: str
    state: str


@dataclass(frozen=True)
class Work:
    """What the agent did between two things that it said: tool calls, in order."""

    summary: str
    steps: tuple[Step, ...]
    running: bool
    actions: frozenset[uuid.UUID] = frozenset()

    @property
    def needless(self) -> bool:
        """Whether every step put a card up: the cards say all there is."""
        return len(self.actions) == len(self.steps)


@dataclass(frozen=True)
class State:
    """Whether the turn still works; how it ended, its lines say."""

    words: str
    busy: bool
    status: str
    problem: str


@dataclass(frozen=True)
class Item:
    """One element of the thread: `kind` names its template, `event` the stream's event."""

    kind: str
    element_id: str
    order: int
    seq: int
    of: Any
    event: str = ""
    row: uuid.UUID | None = None

    @property
    def template(self) -> str:
        return f"chat/items/{self.kind}.html"


@dataclass
class Section:
    """One turn, or what has none."""

    element_id: str
    order: int
    items: list[Item] = field(default_factory=list)


def items_of(
    turn: Turn,
    messages: Sequence[Message],
    calls: Sequence[ToolCall],
    actions: Sequence[PendingAction],
    cards_of: dict[uuid.UUID, Card],
    *,
    newest: bool,
) -> list[Item]:
    items = [bubble(message, retry=_retry(message, turn, newest)) for message in messages]
    spoken = [message for message in messages if message.role == Message.Role.ASSISTANT]
    asked = [message.position for message in messages if message.role == Message.Role.USER and not message.silent]
    items.append(who_item(turn, max(asked, default=0)))
    for first, run in _runs(spoken, calls):
        items.append(
            Item(
                "work",
                f"work-{first.pk}",
                first.position * 100 - 50,
                max(c.seq for c in run),
                _work(run),
                "tool",
                first.pk,
            )
        )
    positions = {message.pk: message.position for message in messages}
    places = {call.action_id: positions.get(call.message_id, 0) for call in calls if call.action_id}
    for number, action in enumerate(actions):
        place = places.get(action.pk) or _position_at(messages, action)
        items.append(card_item(cards_of[action.pk], action, place * 100 + 1 + number))
    items.append(state_item(turn))
    return items


def who_item(turn: Turn, after: int) -> Item:
    """The assistant's name over its answer, behind the last message that the turn began with (its position)."""
    at = wording.clock(turn.started_at or turn.created_at)
    return Item("who", f"who-{turn.pk}", after * 100 + 30, 0, at)


def opening_items(message_id: uuid.UUID, opening: Opening) -> list[Item]:
    """What `who_item`, `bubble` and `state_item` make of an answer that has just begun, before its row is read."""
    row = Message(
        pk=message_id,
        role=Message.Role.ASSISTANT,
        open=True,
        position=opening.position,
        created_at=opening.created,
        seq=opening.seq,
    )
    at = wording.clock(opening.began)
    who = Item("who", f"who-{opening.turn}", (opening.position - 1) * 100 + 30, 0, at)
    return [who, bubble(row), _working(opening.turn, opening.seq, _state(Turn.Status.RUNNING))]


def state_item(turn: Turn) -> Item:
    return _working(turn.pk, turn.seq, _state(Turn.Status(turn.status), turn.problem))


def _working(turn_id: uuid.UUID, seq: int, state: State) -> Item:
    return Item("state", f"state-{turn_id}", LAST, seq, state, "turn", turn_id)


def _runs(spoken: Sequence[Message], calls: Sequence[ToolCall]) -> Iterable[tuple[Message, list[ToolCall]]]:
    """Tool calls in blocks: one until something is said or a card goes up."""
    by_message: dict[uuid.UUID, list[ToolCall]] = defaultdict(list)
    for call in calls:
        by_message[call.message_id].append(call)
    first: Message | None = None
    run: list[ToolCall] = []
    for message in spoken:
        own = by_message[message.pk]
        put_up = any(call.action_id or _asks(call) for call in own)
        if first is None or (message.text.strip() and run and not put_up):
            if first is not None and run:
                yield first, run
            first, run = message, []
        run += own
        if put_up:
            yield first, run
            first, run = None, []
    if first is not None and run:
        yield first, run


def _asks(call: ToolCall) -> bool:
    """Whether the call is to put a card up. Known before it has, so that its block is the same before and after."""
    made = registry.get(call.name)
    return made is not None and made.gated


def _work(run: Sequence[ToolCall]) -> Work:
    steps = tuple(_step(call) for call in run)
    actions = frozenset(call.action_id for call in run if call.action_id)
    running = any(call.status in (ToolCall.Status.QUEUED, ToolCall.Status.RUNNING) for call in run)
    count = ngettext("%(count)d step", "%(count)d steps", len(run)) % {"count": len(run)}
    starts = [call.started_at for call in run if call.started_at]
    ends = [call.ended_at for call in run if call.ended_at]
    if running or not starts or not ends:
        return Work(count, steps, running, actions)
    seconds = round((max(ends) - min(starts)).total_seconds())
    took = ngettext("in %(count)d second", "in %(count)d seconds", seconds) % {"count": seconds}
    return Work(f"{count} {took}" if seconds else count, steps, running, actions)


def _step(call: ToolCall) -> Step:
    state = {
        ToolCall.Status.DONE: "is-done",
        ToolCall.Status.FAILED: "is-failed",
        ToolCall.Status.RUNNING: "is-running",
        ToolCall.Status.QUEUED: "is-running",
        ToolCall.Status.SKIPPED: "is-skipped",
    }.get(ToolCall.Status(call.status), "is-put")
    label = wording.tool_label(call.name)
    if call.action is not None:
        waits = call.action.status in OPEN
        state = "is-waiting" if waits else "is-put"
        label = _("Stopped before this: %(deed)s") % {"deed": label}
    return Step(label, ", ".join(str(ref) for ref in call.touched), state)


def bubble(message: Message, *, queued: bool = False, retry: Retry | None = None) -> Item:
    ready, tail = SafeString(""), SafeString("")
    if message.role == Message.Role.ASSISTANT:
        if message.open:
            writing = markdown.Writing()
            ready, tail = writing.add(message.text)
        else:
            ready = markdown.render(message.text)
    text = lines.sentence(message.code, message.params) if message.code in lines.TEXTS else message.text
    bubble = Bubble(
        id=message.pk,
        role=message.role,
        text=text,
        ready=ready,
        tail=tail,
        open=message.open,
        at=wording.clock(message.created_at),
        at_iso=message.created_at.isoformat(),
        author=message.author.name if message.author else "",
        queued=queued,
        chars=len(message.text),
        retry=retry,
    )
    return Item(
        str(message.role), f"message-{message.pk}", message.position * 100, message.seq, bubble, "message", message.pk
    )


def card_item(made: Card, action: PendingAction, order: int) -> Item:
    event = "confirm" if made.open else "action"
    return Item("card", f"action-{action.pk}", order, action.seq, replace(made, order=order), event, action.pk)


def _retry(line: Message, turn: Turn, newest: bool) -> Retry | None:
    broken = turn.status in (Turn.Status.INTERRUPTED, Turn.Status.FAILED)
    if not (newest and broken) or line.role != Message.Role.LINE or line.code not in lines.RETRY:
        return None
    label = _("Go on") if line.code == lines.Line.CALL_LIMIT else _("Try again")
    return Retry(reverse("chat:retry", args=[line.conversation_id]), turn.pk, label)


def _state(status: Turn.Status, problem: str = "") -> State:
    going = status in (Turn.Status.QUEUED, Turn.Status.RUNNING)
    return State(_("Working") if going else "", busy=going, status=status, problem=problem)


def _position_at(messages: Sequence[Message], action: PendingAction) -> int:
    return max((m.position for m in messages if m.created_at <= action.created_at), default=0)
