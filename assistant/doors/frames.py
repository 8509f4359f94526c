"""What the event stream sends: the page's own fragments, each with the change that made it.

| event | what it carries |
| --- | --- |
| message | a bubble, whole |
| text | characters of the open answer: finished blocks once, the open one replaced |
| tool | the block of tool calls that one of them belongs to |
| confirm | a card that waits; the partial has action id, tool, label, summary and hash as data |
| action | a card that was decided, runs, ran, or closed |
| turn | the turn began, goes on, waits or ended; the stop button, which whatever comes before this brings too |
| error | the turn failed, or the reader may not read on |
| badge | how many cards wait for the reader anywhere in the company |

A partial's swap "place" (static/js/app.js) puts an element where the one with its id is, or at its `data-order`;
one that is older than what stands there, by its `data-seq`, is left out. So a post's answer may come after the stream.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from assistant.bus import Opening
from assistant.doors import sidebar, thread
from assistant.doors.items import Item, Section, State, bubble, opening_items, state_item
from assistant.doors.markdown import plain
from assistant.doors.reading import Viewer
from assistant.doors.shapes import Card
from assistant.gate import pausing, sight
from assistant.models import OPEN, Conversation, Message, PendingAction, Turn
from ledger import permissions
from ledger.compiled import Compiled, an_id
from ledger.models import Membership, Suspension

CONVERSATION = Compiled(lambda: Conversation.objects.filter(pk=an_id()))
BEING_WRITTEN: Compiled[Any] = Compiled(
    lambda: (
        Message.objects.filter(conversation=an_id("conversation"), open=True)
        .order_by("position")
        .values_list("pk", "text", named=True)
    )
)
ANY_OPEN = Compiled(
    lambda: PendingAction.objects.filter(conversation=an_id("conversation"), status__in=OPEN).values("pk")[:1]
)
PROBLEMS = (Turn.Status.FAILED, Turn.Status.INTERRUPTED)


@dataclass(frozen=True)
class Frame:
    """One event: its id is the change's number."""

    seq: int
    event: str
    html: SafeString
    row: uuid.UUID | None = None


@dataclass(frozen=True)
class OpenMessage:
    """The answer that is being written, as far as its row knows."""

    id: uuid.UUID
    text: str


@dataclass(frozen=True)
class Batch:
    """What changed up to `seq`, and what is open now."""

    seq: int
    frames: tuple[Frame, ...]
    open: tuple[OpenMessage, ...]


@dataclass(frozen=True)
class Chip:
    """How many cards of this conversation wait for the reader, and where the first one is."""

    count: int
    first: str


def find(conversation_id: uuid.UUID, reader: Membership) -> Conversation | None:
    """The conversation, if it is this member's, or an owner's to read (settled question 17)."""
    found = CONVERSATION.first(pk=conversation_id)
    if found is None or found.starter_id == reader.pk:
        return found
    return found if permissions.allowed(reader, "read_all_conversations") else None


def changes(viewer: Viewer, conversation_id: uuid.UUID, after: int) -> Batch | None:
    """What changed after a seq, from the rows; None when the conversation is not the reader's any more."""
    with viewer.scope() as reader:
        conversation = find(conversation_id, reader)
        if conversation is None:
            return None
        after = after if after <= conversation.seq else 0
        made = of_changes(conversation, reader, after) if conversation.seq > after else []
        opened = BEING_WRITTEN.all(conversation=conversation.pk)
        return Batch(conversation.seq, tuple(made), tuple(OpenMessage(m.pk, m.text) for m in opened))


def of_changes(conversation: Conversation, reader: Membership, after: int) -> list[Frame]:
    """The changes after a seq up to the conversation's as it was read: a later one may not overtake another."""
    return [
        frame
        for section, item in thread.changed(conversation, reader, after)
        if item.seq <= conversation.seq
        for frame in _frames(conversation, reader, section, item)
    ]


def opened(message_id: uuid.UUID, opening: Opening) -> SafeString:
    """An answer that has just begun, empty, in the place that its row will have; it can be stopped."""
    section = Section(f"turn-{opening.turn}", 2 * opening.ordinal)
    items = opening_items(message_id, opening)
    return joined([place(section, *items), *_stop_buttons(items)])


def begun(message: Message, turn: Turn) -> SafeString:
    """A message that has just begun a turn, from the rows in hand."""
    section = Section(f"turn-{turn.pk}", 2 * turn.ordinal)
    asked, state = bubble(message), state_item(turn)
    section.items += [asked, state]
    return joined([place(section, asked), *(frame.html for frame in _turn(section, state, state.of))])


def chip(conversation: Conversation, reader: Membership) -> Chip:
    return _chip(conversation, sight.waiting(reader))


def _chip(conversation: Conversation, waiting: list[tuple[uuid.UUID, uuid.UUID | None]]) -> Chip:
    ids = [action for action, where in waiting if where == conversation.pk]
    return Chip(len(ids), f"action-{ids[0]}" if ids else "")


def place(section: Section, *items: Item) -> SafeString:
    """A partial with these items in the shell of their section."""
    shell = Section(section.element_id, section.order, list(items))
    html = render_to_string("chat/section.html", {"section": shell})
    return format_html('<hx-partial hx-target="#thread" hx-swap="place">{}</hx-partial>', SafeString(html))


def text(message_id: uuid.UUID, at: int, ready: SafeString, tail: SafeString, *, whole: bool = False) -> SafeString:
    """More of the open answer. `whole`: the finished blocks are all of them, and replace what is there."""
    return format_html(
        '<hx-partial hx-target="#message-{id}-ready" hx-swap="{swap}" data-message="{id}" data-chars="{at}">{ready}'
        '</hx-partial><hx-partial hx-target="#message-{id}-tail" hx-swap="innerHTML">{tail}</hx-partial>',
        id=message_id,
        swap="innerHTML" if whole else "beforeend",
        at=at,
        ready=ready,
        tail=tail,
    )


def joined(parts: Iterable[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((part,) for part in parts))


def signed_out() -> str:
    return '<hx-partial hx-target="#status" hx-swap="none" data-code="signed_out"></hx-partial>'


def _frames(conversation: Conversation, reader: Membership, section: Section, item: Item) -> list[Frame]:
    items = [item]
    if item.kind in ("assistant", "work", "card", "line"):
        items = [*(one for one in section.items if one.kind == "who"), item]
    match item.of:
        case Card() as card:
            items += [one for one in section.items if one.kind == "work" and _names(one, card)]
            return [Frame(item.seq, item.event, _card(conversation, reader, section, items, card))]
        case State() as state:
            return _turn(section, item, state)
        case _:
            items += [one for one in section.items if one.kind == "state" and one.of.busy and one.seq > item.seq]
            return [Frame(item.seq, item.event, joined([place(section, *items), *_stop_buttons(items)]), item.row)]


def _names(work: Item, card: Card) -> bool:
    return card.id in work.of.actions


def _card(
    conversation: Conversation, reader: Membership, section: Section, items: list[Item], card: Card
) -> SafeString:
    """The card, its data for programs, and everything on the page that counts cards."""
    shell = Section(section.element_id, section.order, items)
    body = SafeString(render_to_string("chat/section.html", {"section": shell}))
    pause = pausing.current() if card.paused else None
    return format_html(
        '<hx-partial hx-target="#thread" hx-swap="place" data-action="{}" data-status="{}" data-tool="{}"'
        ' data-label="{}" data-summary="{}" data-hash="{}">{}</hx-partial>{}{}{}',
        card.id,
        card.status,
        card.tool,
        card.tool_label,
        card.summary_text,
        card.digest,
        body,
        announce(card.announcement),
        counts(conversation, reader, paused=pause is not None),
        _banner(pause, reader) if card.open or card.paused else "",
    )


def _banner(pause: Suspension | None, reader: Membership) -> SafeString:
    """The banner of a pause, which a card that it closed brings along, and one that waits takes away."""
    context = {"paused": pause, "may_switch": permissions.allowed(reader, "pause_agent")}
    html = SafeString(render_to_string("parts/paused.html", context)) if pause else ""
    return format_html('<hx-partial hx-target="#paused" hx-swap="innerHTML">{}</hx-partial>', html)


def _turn(section: Section, item: Item, state: State) -> list[Frame]:
    # A message that waited belongs to the turn that takes it up, which alone is announced, and may have gone on since.
    taken_up = [replace(one, seq=max(one.seq, item.seq)) for one in section.items if one.kind == "user"]
    parts = [place(section, *taken_up, item), *_stop_buttons([item])]
    if not state.busy:
        parts.append(announce(_answer(item.row)))
    made = [Frame(item.seq, item.event, joined(parts), item.row)]
    if state.status in PROBLEMS:
        html = format_html(
            '<hx-partial hx-target="#status" hx-swap="none" data-turn="{}" data-code="{}"></hx-partial>',
            item.row,
            state.problem or state.status,
        )
        made.append(Frame(item.seq, "error", html))
    return made


def _stop_buttons(items: Iterable[Item]) -> list[SafeString]:
    """The stop button as a turn's state among these items has it: there while the turn works."""
    return [
        format_html(
            '<hx-partial hx-target="#stopping" hx-swap="outerHTML" data-turn="{}" data-status="{}">{}</hx-partial>',
            item.row,
            item.of.status,
            SafeString(render_to_string("chat/stopping.html", {"busy": item.of.busy, "seq": item.seq})),
        )
        for item in items
        if item.kind == "state"
    ]


def _answer(turn_id: uuid.UUID | None) -> str:
    """The first words of the answer, once, for who cannot see it."""
    said = Message.objects.filter(turn=turn_id, role=Message.Role.ASSISTANT).exclude(text="").order_by("-position")
    last = said.first()
    return _("Answer ready: %(words)s") % {"words": plain(last.text)} if last else ""


def announce(words: str) -> SafeString:
    """Words for the status region; nothing for nothing."""
    if not words:
        return SafeString("")
    return format_html('<hx-partial hx-target="#status" hx-swap="innerHTML">{}</hx-partial>', words)


def waiting(viewer: Viewer) -> int:
    """How many cards wait for the reader, from the rows."""
    with viewer.scope() as reader:
        return sidebar.waiting_count(reader)


def badge(number: int) -> SafeString:
    """The number of what waits for the reader, in the margin and above the page."""
    html = SafeString(render_to_string("parts/waiting_count.html", {"waiting": number}))
    row = '<hx-partial hx-target="#{}" hx-swap="innerHTML">{}</hx-partial>'
    return format_html(row * 2, "waiting-count", html, "waiting-above", html)


def counts(conversation: Conversation, reader: Membership, *, paused: bool = False) -> SafeString:
    """The chip, the badge, the dot in the list, the note under the composer and the title of the window."""
    found = sight.waiting(reader)
    made = _chip(conversation, found)
    title = conversation.title or _("New conversation")
    waits = ANY_OPEN.first(conversation=conversation.pk) is not None
    link = sidebar.Link(conversation.pk, sidebar.url_of(conversation.pk), title, waits, here=True)
    number = f"({made.count}) " if made.count else ""
    context = {"chip": made, "one": link, "paused": paused}
    partials = (
        ("#waiting-chip", "chat/waiting_chip.html"),
        (f"#conversation-{conversation.pk}", "parts/conversation_link.html"),
    )
    parts = [
        format_html(
            '<hx-partial hx-target="{}" hx-swap="outerHTML">{}</hx-partial>',
            target,
            SafeString(render_to_string(template, context)),
        )
        for target, template in partials
    ]
    parts.append(badge(len(found)))
    note = SafeString(render_to_string("chat/note.html", context))
    parts.append(format_html('<hx-partial hx-target="#composer-note" hx-swap="innerHTML">{}</hx-partial>', note))
    parts.append(format_html('<hx-partial hx-target="#heading" hx-swap="textContent">{}</hx-partial>', title))
    parts.append(format_html("<title>{}{} – Aval</title>", number, title))
    return joined(parts)
