"""What one card of the inbox stands with: who asked, the words of its turn, and the way to settle it.

The card itself is the chat's. Whoever may see a card that somebody else asked for sees the words of that turn and no
other (settled question 17).
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.utils.safestring import SafeString

from assistant.doors import cards, markdown, questions, receipts, sidebar, wording
from assistant.doors.inbox_lists import Place
from assistant.doors.record.readers import story_url
from assistant.doors.shapes import Card
from assistant.doors.thread import DECIDED
from assistant.gate import reversing
from assistant.models import OPEN, Decision, Message, PendingAction, Question, Status
from assistant.tools import registry
from ledger import permissions
from ledger.compiled import Compiled, some_ids
from ledger.models import Membership

LONGEST = 4_000
"""Characters of one message of a turn that are shown beside its card."""
NOT_IN_A_LINE = ("arguments", "payload", "payload_text", "preview", "preview_text", "targets", "reason", "effects")
"""Columns that a line of the history does not show."""


CARDS = Compiled(
    lambda: (
        PendingAction.objects.filter(pk=some_ids("actions"))
        .select_related("requester", "edited_from", "conversation")
        .order_by("pk")
    )
)
PAST = Compiled(
    lambda: PendingAction.objects.filter(pk=some_ids("actions")).select_related("requester").defer(*NOT_IN_A_LINE)
)
SPOKEN = Compiled(
    lambda: (
        Message.objects.filter(Q(role=Message.Role.USER) | Q(role=Message.Role.ASSISTANT, open=False))
        .filter(turn=some_ids("turns"))
        .exclude(text="")
        .select_related("author")
        .order_by("position")
    )
)


@dataclass(frozen=True)
class Said:
    """One message of the turn that led to a card; what the assistant said is HTML from its Markdown."""

    who: str
    at: str
    text: str
    prose: SafeString


@dataclass(frozen=True)
class Entry:
    """A card in the inbox; it changes where `seq` differs."""

    id: uuid.UUID
    order: int
    seq: int
    card: Card
    by: str
    at: str
    mine: bool
    conversation_url: str
    conversation: str
    words: tuple[Said, ...]
    settles: bool
    wrong: str = ""
    """A sentence about a form of this entry that was not taken, and what its note said."""
    note: str = ""
    focus: bool = False
    """Whether its heading takes the focus."""

    @property
    def shown(self) -> str:
        """How the page tells its stream what it shows."""
        return f"{self.id}.{self.seq}"


@dataclass(frozen=True)
class Line:
    """An ended card in the history."""

    id: uuid.UUID
    url: str
    look: str
    icon: str
    state: str
    tool: str
    summary: SafeString
    by: str
    lines: tuple[str | SafeString, ...]
    at: str
    story_url: str = ""


def entries(ids: Collection[uuid.UUID], reader: Membership) -> list[Entry]:
    """These cards, oldest first, in a fixed number of queries. The caller knows that the reader may see them."""
    actions = CARDS.all(actions=list(ids)) if ids else []
    decisions, said = _decisions(actions), _words(actions, reader)
    reverses = {record.action_id: record for record in reversing.records(actions)}
    asked = questions.of_all([action.pk for action in actions])
    return [
        _entry(action, reader, decisions[action.pk], asked[action.pk], said[action.turn_id], reverses.get(action.pk))
        for action in actions
    ]


def order_of(action_id: uuid.UUID) -> int:
    """A card's place among others: the millisecond in which its id was made."""
    return action_id.int >> 80


def _entry(
    action: PendingAction,
    reader: Membership,
    decisions: Sequence[Decision],
    asked: Sequence[Question],
    words: Sequence[Said],
    taken_back: Message | None,
) -> Entry:
    before = action.edited_from if action.edited_from_id and action.status in OPEN else None
    own = action.conversation.starter_id == reader.pk
    shown = cards.card(
        action, reader, decisions=decisions, asked=asked, predecessor=before, order=1, taken_back=taken_back
    )
    opens = own or permissions.allowed(reader, "read_all_conversations")
    return Entry(
        id=action.pk,
        order=order_of(action.pk),
        seq=action.seq,
        card=shown,
        by=action.requester.name,
        at=wording.moment(action.created_at),
        mine=action.requester_id == reader.pk,
        conversation_url=f"{sidebar.url_of(action.conversation_id)}#action-{action.pk}" if opens else "",
        conversation=action.conversation.title if own else "",
        words=tuple(words) if action.requester_id != reader.pk else (),
        settles=action.status == Status.IN_DOUBT and permissions.allowed(reader, "reconcile_action"),
    )


def _words(actions: Iterable[PendingAction], reader: Membership) -> dict[uuid.UUID | None, list[Said]]:
    """What was said in the turns of cards that others asked for."""
    turns = {action.turn_id for action in actions if action.turn_id and action.requester_id != reader.pk}
    found: dict[uuid.UUID | None, list[Said]] = defaultdict(list)
    for message in SPOKEN.all(turns=list(turns)) if turns else ():
        person = message.role == Message.Role.USER
        text = message.text[:LONGEST]
        found[message.turn_id].append(
            Said(
                who=message.author.name if message.author else "Aval",
                at=wording.clock(message.created_at),
                text=text if person else "",
                prose=SafeString("") if person else markdown.render(text),
            )
        )
    return found


def lines(places: Sequence[Place], reader: Membership) -> list[Line]:
    """Ended cards, in the order of their places."""
    by_id = {action.pk: action for action in PAST.all(actions=[place.pk for place in places])} if places else {}
    actions = [by_id[place.pk] for place in places if place.pk in by_id]
    decisions = _decisions(actions)
    return [_line(action, reader, decisions[action.pk]) for action in actions]


def _line(action: PendingAction, reader: Membership, decisions: Sequence[Decision]) -> Line:
    made = registry.get(action.tool)
    told = receipts.settled(action, decisions, made, reader)
    return Line(
        id=action.pk,
        url=cards.url_of(action),
        look=told["look"],
        icon=told["icon"],
        state=str(Status(action.status).label),
        tool=wording.tool_label(action.tool),
        summary=wording.shown_text(action.summary),
        by=action.requester.name,
        lines=tuple(line for line in told["lines"] if line),
        at=wording.moment(action.closed_at) if action.closed_at else "",
        story_url=story_url(action, reader),
    )


def _decisions(actions: Sequence[PendingAction]) -> dict[uuid.UUID, list[Decision]]:
    found: dict[uuid.UUID, list[Decision]] = defaultdict(list)
    for decision in DECIDED.all(actions=[action.pk for action in actions]) if actions else ():
        found[decision.action_id].append(decision)
    return found
