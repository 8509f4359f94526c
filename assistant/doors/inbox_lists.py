"""What stands under each tab of the approvals inbox: which cards, in which order, by which filters.

What waits or runs is a short list by nature and comes oldest first, so that what is new stands at the end. What has
ended grows without bound and comes newest first: each way to look at it has an index of its own, so that the page costs
the same behind a million actions (bin/bench_inbox).
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.db import connection
from django.db.models import Count, Q, QuerySet, Value
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy

from assistant.gate import alerts, sight
from assistant.gate.sight import Eye, Looked, among
from assistant.models import FINAL, UNFINISHED, PendingAction, Status
from assistant.tools import registry
from ledger import permissions
from ledger.compiled import an_id
from ledger.models import Membership
from ledger.tenancy import current_tenant

CARDS_ON_A_PAGE = 4
LINES_ON_A_PAGE = 20
DAYS = (1, 7, 30, 90, 365)


class Tab(StrEnum):
    """The word in the address."""

    NEEDS = "needs"
    SECOND = "second"
    MINE = "mine"
    SCHEDULED = "scheduled"
    DOUBT = "doubt"
    HISTORY = "history"


LABELS: dict[Tab, Promise] = {
    Tab.NEEDS: lazy("Needs me"),
    Tab.SECOND: lazy("Second approval"),
    Tab.MINE: lazy("Mine"),
    Tab.SCHEDULED: lazy("Scheduled"),
    Tab.DOUBT: lazy("In doubt"),
    Tab.HISTORY: lazy("History"),
}
RUNNING = (Status.SCHEDULED, Status.EXECUTING)


@dataclass(frozen=True)
class Filters:
    """What the reader narrows the list to; `everyone` is a head's look at what has ended in the whole company."""

    tool: str = ""
    who: uuid.UUID | None = None
    days: int = 0
    status: str = ""
    everyone: bool = False

    @classmethod
    def of(cls, query: QueryDict, tab: Tab, reader: Membership) -> "Filters":
        """From an address; what does not fit the tab or the reader is left out."""
        days, status = query.get("days", ""), query.get("status", "")
        return cls(
            tool=query.get("tool", "") if query.get("tool", "") in registry.TOOLS else "",
            who=id_of(query.get("who", "")),
            days=int(days) if days in map(str, DAYS) else 0,
            status=status if tab == Tab.HISTORY and status in FINAL else "",
            everyone=tab == Tab.HISTORY and query.get("all") == "1" and permissions.allowed(reader, "read_all_actions"),
        )

    def __bool__(self) -> bool:
        return bool(self.tool or self.who or self.days or self.status)

    @property
    def fields(self) -> dict[str, str]:
        """As they stand in an address."""
        return {
            "tool": self.tool,
            "who": str(self.who or ""),
            "days": str(self.days or ""),
            "status": self.status,
            "all": "1" if self.everyone else "",
        }

    @property
    def since(self) -> datetime | None:
        return timezone.now() - timedelta(days=self.days) if self.days else None


def address(tab: Tab, filters: Filters, **more: object) -> str:
    """A tab with its filters, as an address that can be kept."""
    path = reverse("chat:inbox") if tab == Tab.NEEDS else reverse("chat:inbox_tab", args=[tab])
    fields = {name: str(value) for name, value in {**filters.fields, **more}.items() if value}
    return f"{path}?{urlencode(fields)}" if fields else path


@dataclass(frozen=True)
class Place:
    """Where an ended card stands among those that ended."""

    closed_at: datetime
    pk: uuid.UUID

    def __str__(self) -> str:
        return f"{micros(self.closed_at)}~{self.pk}"

    @classmethod
    def of(cls, text: str) -> "Place | None":
        """The place that an address names; None for what is none."""
        at, _tilde, pk = text.partition("~")
        moment, card = moment_of(at), id_of(pk)
        return cls(moment, card) if moment and card else None


def standing(
    tab: Tab, reader: Membership, filters: Filters, *, after: uuid.UUID | None = None, size: int
) -> list[tuple[uuid.UUID, int]]:
    """The cards of a tab other than the history, oldest first, behind one of them: each with its number."""
    settles, behind = permissions.allowed(reader, "reconcile_action"), after or sight.NOBODY
    if not filters:
        return _listed(tab, settles, size).all(reader, after=behind)
    found = _rows(tab, Eye.of(reader), settles).filter(pk__gt=behind)
    if filters.tool:
        found = found.filter(tool=filters.tool)
    if filters.who:
        found = found.filter(requester=filters.who)
    if filters.since:
        found = found.filter(created_at__gte=filters.since)
    return list(found[:size])


def counts(reader: Membership) -> dict[Tab, int]:
    """How many cards stand under each tab but the history: of second approvals those that this reader may give, with
    those in doubt the alerts that this reader may handle.
    """
    settles = permissions.allowed(reader, "reconcile_action")
    found = next(iter(_numbers(settles).all(reader)), [0] * len(COUNTED))
    number = dict(zip(COUNTED, found, strict=True))
    if settles:
        number[Tab.DOUBT] += alerts.number_open()
    return number


def wait_for(reader: Membership) -> tuple[Tab, ...]:
    """The tabs whose numbers wait for this reader, who has to do something about them."""
    doubt = (Tab.DOUBT,) if permissions.allowed(reader, "reconcile_action") else ()
    return (Tab.NEEDS, Tab.SECOND, *doubt)


COUNTED = (Tab.NEEDS, Tab.SECOND, Tab.MINE, Tab.SCHEDULED, Tab.DOUBT)


@cache
def _listed(tab: Tab, settles: bool, size: int) -> Looked[tuple[uuid.UUID, int]]:
    def build(eye: Eye, after: Any) -> QuerySet[Any, tuple[uuid.UUID, int]]:
        return _rows(tab, eye, settles).filter(pk__gt=after)[:size]

    return Looked(build, after=an_id("after"))


@cache
def _numbers(settles: bool) -> Looked[tuple[int, ...]]:
    """One row with a number for each tab; no row where there is no card at all."""

    def build(eye: Eye) -> QuerySet[Any, tuple[int, ...]]:
        rules = {tab: _under(tab, eye, settles) for tab in COUNTED}
        rules[Tab.SECOND] = sight.waits_for(eye) & Q(status=Status.AWAITING_SECOND)
        numbers = {str(tab): Count("pk", filter=rule) for tab, rule in rules.items()}
        rows = PendingAction.objects.filter(among(*UNFINISHED)).annotate(one=Value(1)).values("one")
        return rows.annotate(**numbers).values_list(*map(str, COUNTED))

    return Looked(build)


def _rows(tab: Tab, eye: Eye, settles: bool) -> QuerySet[PendingAction, tuple[uuid.UUID, int]]:
    rows = PendingAction.objects.filter(_under(tab, eye, settles), among(*UNFINISHED)).order_by("pk")
    return rows.values_list("pk", "seq")


def _under(tab: Tab, eye: Eye, settles: bool) -> Q:
    match tab:
        case Tab.NEEDS:
            return sight.waits_for(eye) & Q(status=Status.PENDING)
        case Tab.SECOND:
            return sight.seen_by(eye) & Q(status=Status.AWAITING_SECOND)
        case Tab.MINE:
            return Q(requester=eye.reader)
        case Tab.SCHEDULED:
            return sight.seen_by(eye) & Q(status__in=RUNNING)
        case _:
            return Q(status=Status.IN_DOUBT) & (Q() if settles else sight.seen_by(eye))


def ended(
    reader: Membership, filters: Filters, *, before: Place | None = None, after: datetime | None = None, size: int
) -> list[Place]:
    """What has ended and this reader may read, newest first: before a place, after an instant.

    Two lists are merged, for no index serves both: the reader's own cards, and those of others that they may decide.
    """
    if filters.everyone:
        return _merged(_own(filters, before, after, size), size=size)
    found: list[Iterator[Place]] = []
    if filters.who in (None, reader.pk):
        own = Filters(filters.tool, reader.pk, filters.days, filters.status)
        found.append(_own(own, before, after, size))
    if filters.who != reader.pk:
        found.append(_shared(reader, filters, before, after, size))
    return _merged(*found, size=size)


def _merged(*lists: Iterator[Place], size: int) -> list[Place]:
    every = {place for found in lists for place in found}
    return sorted(every, key=lambda place: (place.closed_at, place.pk), reverse=True)[:size]


def _own(filters: Filters, before: Place | None, after: datetime | None, size: int) -> Iterator[Place]:
    """One person's cards, or all of the company's where the filters name nobody."""
    found = PendingAction.objects.filter(among(*FINAL))
    if filters.status:
        found = found.filter(status=filters.status)
    if filters.who:
        found = found.filter(requester=filters.who)
    if filters.tool:
        found = found.filter(tool=filters.tool)
    bound = _latest(filters.since, after)
    if bound:
        found = found.filter(closed_at__gt=bound)
    if before:
        # The first condition bounds the index, which the second alone would not.
        rest = Q(closed_at__lt=before.closed_at) | Q(pk__lt=before.pk)
        found = found.filter(rest, closed_at__lte=before.closed_at)
    rows = found.order_by("-closed_at", "-pk").values_list("closed_at", "pk")[:size]
    return (Place(at, pk) for at, pk in rows if at)


SHARED = """
    SELECT found.closed_at, found.id
      FROM unnest(%s::text[], %s::int[]) AS may (tool, level)
     CROSS JOIN LATERAL (
           SELECT closed_at, id, requester_id FROM assistant_pendingaction
            WHERE tenant_id = %s AND tool = may.tool AND level = may.level AND (routed OR approvals > 1)
              AND status IN ('executed', 'failed', 'rejected', 'cancelled', 'expired', 'superseded')
              AND (closed_at, id) < (%s, %s) AND closed_at > %s
              {}
            ORDER BY closed_at DESC, id DESC LIMIT %s) AS found
     ORDER BY found.closed_at DESC, found.id DESC LIMIT %s
"""
"""Of each tool and level that the reader may decide the newest, from one index, and the newest of those."""
LAST = datetime(9999, 1, 1, tzinfo=UTC)


def _shared(
    reader: Membership, filters: Filters, before: Place | None, after: datetime | None, size: int
) -> Iterator[Place]:
    """Cards of others that this reader could decide."""
    pairs = [(tool, level) for tool, level in sight.decidable(reader) if filters.tool in ("", tool)]
    if not pairs:
        return
    more: str = "AND requester_id <> %s"
    given: list[Any] = [reader.pk]
    if filters.who:
        more, given = "AND requester_id = %s", [filters.who]
    if filters.status:
        more, given = f"{more} AND status = %s", [*given, filters.status]
    last = before or Place(LAST, uuid.UUID(int=2**128 - 1))
    bound = _latest(filters.since, after) or EPOCH
    tools, levels = [tool for tool, _level in pairs], [level for _tool, level in pairs]
    params: list[Any] = [tools, levels, current_tenant(), last.closed_at, last.pk, bound, *given, size, size]
    with connection.cursor() as cursor:
        cursor.execute(SHARED.format(more), params)
        for row in cursor.fetchall():
            yield Place(*row)


def _latest(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment), default=None)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def tab_of(text: str) -> Tab | None:
    """The tab that an address names, if there is one."""
    return next((tab for tab in Tab if tab == text), None)


def micros(moment: datetime) -> int:
    """An instant as microseconds since 1970, for an address or an event's id."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def moment_of(text: str) -> datetime | None:
    """The instant that a text names, if it is one."""
    return EPOCH + timedelta(microseconds=int(text)) if text.isascii() and text.isdigit() and len(text) < 18 else None


def id_of(text: str) -> uuid.UUID | None:
    """The id that a text is, if it is one."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
