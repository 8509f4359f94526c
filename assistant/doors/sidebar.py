"""What every page of a company shows around it: the ways to go, the conversations, what waits. A context processor."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from assistant.gate import pausing, policy_versions, sight
from assistant.models import OPEN, Conversation, PendingAction
from ledger import permissions
from ledger.models import Access, Membership, Suspension

SHOWN = 30


@dataclass(frozen=True)
class Place:
    """A page that the margin leads to, if it exists (by its URL name) and the reader may (`needs`, a permission)."""

    name: str
    label: Promise
    icon: str
    waits: bool = False
    needs: str = ""


PLACES = (
    Place("chat:list", lazy("Chat"), "chat"),
    Place("chat:inbox", lazy("Approvals"), "approve", waits=True),
    Place("chat:standing", lazy("Standing approvals"), "clock", needs="use_assistant"),
    Place("leads", lazy("Leads"), "leads"),
    Place("clients", lazy("Clients"), "client"),
    Place("quotes", lazy("Quotes"), "quote"),
    Place("invoices", lazy("Invoices"), "invoice"),
    Place("payments", lazy("Payments"), "pay"),
    Place("price_book", lazy("Price book"), "book"),
    Place("outbox", lazy("Messages"), "outbox"),
    Place("trash", lazy("Trash"), "trash", needs="restore_record"),
    Place("chat:insight", lazy("Insight"), "dash", needs="read_audit"),
    Place("audit", lazy("Audit"), "audit", needs="read_audit"),
    Place("chat:settings", lazy("Settings"), "settings", needs="change_settings"),
)


@dataclass(frozen=True)
class Way:
    url: str
    label: str
    icon: str
    here: bool
    waits: bool


@dataclass(frozen=True)
class Link:
    """A conversation in the list; `waits` when a card in it waits for this reader."""

    id: uuid.UUID
    url: str
    title: str
    waits: bool
    here: bool


@dataclass(frozen=True)
class Group:
    label: str
    items: list[Link]


@dataclass(frozen=True)
class Desk:
    company: str
    name: str
    initials: str
    many_companies: bool
    ways: list[Way]
    conversations: list[Group]
    waiting: int
    paused: Suspension | None = None
    bad_policy: tuple[int, str] | None = None
    may_switch: bool = False
    """Who may pause the assistant; they alone hear of a policy that cannot be read."""


def desk(request: HttpRequest) -> dict[str, Any]:
    """`desk` for templates that show the margin; nothing is asked of the database unless one does."""
    return {"desk": SimpleLazyObject(lambda: _desk(request))}


def url_of(conversation_id: uuid.UUID) -> str:
    return reverse("chat:conversation", args=[conversation_id])


def waiting_count(reader: Membership) -> int:
    """The number on the badge: cards to decide, and alerts for whoever settles those."""
    return len(sight.waiting(reader))


def _desk(request: Any) -> Desk:
    member = request.member
    if member is None:
        return Desk("", "", "", False, [], [], 0)
    heads = permissions.allowed(member, "pause_agent")
    return Desk(
        company=request.company.name,
        name=member.name,
        initials="".join(word[0] for word in member.name.split()[:2]).upper(),
        many_companies=Access.objects.filter(user_id=member.user_id).count() > 1,
        ways=list(_ways(request.path, member)),
        conversations=_conversations(member, request.path),
        waiting=waiting_count(member),
        paused=pausing.current(),
        bad_policy=policy_versions.unreadable() if heads else None,
        may_switch=heads,
    )


def _ways(path: str, reader: Membership) -> Any:
    for place in PLACES:
        if place.needs and not permissions.allowed(reader, place.needs):
            continue
        try:
            url = reverse(place.name)
        except NoReverseMatch:
            continue
        yield Way(url, str(place.label), place.icon, path.startswith(url), place.waits)


def _conversations(member: Membership, path: str) -> list[Group]:
    waits = Exists(PendingAction.objects.filter(conversation=OuterRef("pk"), status__in=OPEN))
    found = Conversation.objects.filter(starter=member).annotate(waits=waits).order_by("-updated_at")[:SHOWN]
    groups: dict[str, list[Link]] = {}
    when = _when(timezone.localdate())
    for one in found:
        url = url_of(one.pk)
        link = Link(one.pk, url, one.title or _("New conversation"), one.waits, path.startswith(url))
        groups.setdefault(when(timezone.localdate(one.updated_at)), []).append(link)
    return [Group(label, items) for label, items in groups.items()]


def _when(today: date) -> Callable[[date], str]:
    def label(day: date) -> str:
        if day >= today:
            return _("Today")
        if day >= today - timedelta(days=7):
            return _("Last seven days")
        return _("Earlier")

    return label
