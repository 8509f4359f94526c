"""What an open inbox is told: cards that changed, cards that came, and the numbers on its tabs.

| event | what it carries |
| --- | --- |
| confirm | a card that came under this tab, behind those that are there |
| action | a card on the page, as it stands now, in its place |
| counts | the numbers of the tabs, the badge, the title; "n new" where a card has no room on the page |
| error | the reader may not read on |

A card that comes stands at the end or, on a page that goes on elsewhere, in the line "n new": nothing moves what the
finger is on.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from assistant.doors import frames, inbox_lists, sidebar
from assistant.doors.inbox_entries import Entry, entries
from assistant.doors.inbox_lists import CARDS_ON_A_PAGE, LINES_ON_A_PAGE, Filters, Tab
from assistant.doors.reading import Viewer
from assistant.gate import sight
from assistant.models import FINAL, PendingAction
from ledger.models import Membership

ROOM = 3 * CARDS_ON_A_PAGE
"""Cards that one open page takes in; the rest are a number on it."""
OVERLAP = timedelta(seconds=60)
"""A card's end is stamped before its transaction commits: so far back is looked for what a reader may have missed."""
MOST = 100


@dataclass(frozen=True)
class Look:
    """Which list is open: the tab, the filters, behind which card it begins, whether it goes on on another page."""

    tab: Tab
    filters: Filters
    after: uuid.UUID | None = None
    full: bool = False
    opened: datetime | None = None
    """When the page was made; the history counts what has ended since."""

    @property
    def more(self) -> str:
        """Where a reader finds what has no room on the page."""
        return inbox_lists.address(self.tab, self.filters)


@dataclass(frozen=True)
class Batch:
    """The frames (event, HTML), the cards that the page now has with their numbers, and the moment of this read."""

    frames: tuple[tuple[str, SafeString], ...]
    known: dict[uuid.UUID, int]
    counts: SafeString
    at: datetime


def changes(viewer: Viewer, look: Look, known: dict[uuid.UUID, int], since: datetime | None) -> Batch:
    """What differs from what the page knows, from the rows. `since`: an earlier connection ended then, and what it
    brought is not among `known`.
    """
    at = timezone.now()
    with viewer.scope() as reader:
        here = _here(look, reader)
        now = {**here, **_standing(reader, known), **(_ended(reader, since) if since else {})}
        changed = [pk for pk, seq in now.items() if known.get(pk) != seq]
        came = [pk for pk in changed if pk in here and pk not in known]
        room = 0 if look.full else max(0, ROOM - len(known))
        kept = [pk for pk in changed if pk not in came[room:]]
        made = entries(kept, reader) if kept else []
        parts = [_frame(entry, new=entry.id in came) for entry in made]
        waits = _new(look, reader, came[room:])
        return Batch(
            tuple(parts), {**known, **{entry.id: entry.seq for entry in made}}, counts(look, reader, waits), at
        )


def _here(look: Look, reader: Membership) -> dict[uuid.UUID, int]:
    """The cards of the tab, from where the page begins."""
    if look.tab == Tab.HISTORY:
        return {}
    return dict(inbox_lists.standing(look.tab, reader, look.filters, after=look.after, size=MOST))


def _standing(reader: Membership, known: dict[uuid.UUID, int]) -> dict[uuid.UUID, int]:
    """What the page says it shows, as far as the reader may read it: an id in an address is nobody's right."""
    if not known:
        return {}
    rows = PendingAction.objects.filter(sight.readable_to(reader), pk__in=list(known))
    return dict(rows.values_list("pk", "seq"))


def _ended(reader: Membership, since: datetime) -> dict[uuid.UUID, int]:
    late = PendingAction.objects.filter(
        sight.visible_to(reader), sight.among(*FINAL), closed_at__gte=since - OVERLAP
    ).order_by("-closed_at")
    return dict(late.values_list("pk", "seq")[:MOST])


def _new(look: Look, reader: Membership, without_room: list[uuid.UUID]) -> int:
    """How many cards a reload would show that the page has no room for."""
    if look.tab != Tab.HISTORY:
        return len(without_room)
    if look.after or look.opened is None:
        return 0
    return len(inbox_lists.ended(reader, look.filters, after=look.opened, size=LINES_ON_A_PAGE))


def placed(entry: Entry, *, new: bool = False) -> SafeString:
    """A card with what stands around it: in its place, or behind those that are there."""
    body = SafeString(render_to_string("inbox/entry.html", {"entry": entry}))
    return format_html(
        '<hx-partial hx-target="#{}" hx-swap="place" data-action="{}" data-status="{}">{}</hx-partial>',
        "cards" if new else "inbox",
        entry.id,
        entry.card.status,
        body,
    )


def _frame(entry: Entry, *, new: bool) -> tuple[str, SafeString]:
    words = entry.card.announcement if new else f"{entry.card.tag}: {entry.card.summary_text}"
    return ("confirm" if new else "action"), frames.joined([placed(entry, new=new), frames.announce(words)])


def counts(look: Look, reader: Membership, new: int) -> SafeString:
    """Everything on the page that counts."""
    number, waits = inbox_lists.counts(reader), inbox_lists.wait_for(reader)
    waiting = sidebar.waiting_count(reader)
    row = '<hx-partial hx-target="#count-{}" hx-swap="innerHTML">{}</hx-partial>'
    parts = [
        format_html(
            row, tab, SafeString(render_to_string("inbox/count.html", {"waits": tab in waits, "number": number[tab]}))
        )
        for tab in number
    ]
    line = render_to_string("inbox/new.html", {"new": new, "url": look.more})
    parts.append(format_html('<hx-partial hx-target="#arrived" hx-swap="innerHTML">{}</hx-partial>', SafeString(line)))
    parts.append(frames.badge(waiting))
    title = f"({waiting}) {_('Approvals')}" if waiting else _("Approvals")
    parts.append(format_html("<title>{} – Aval</title>", title))
    return frames.joined(parts)
