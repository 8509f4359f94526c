"""What is on record, newest first: events by kind, person, subject and day, page by page.

Each way to look has an index of its own. Several kinds at once are as many short readings of one index, put together:
so a page costs the same behind a million events, whatever is asked for (bin/bench_records).
"""

import re
import uuid
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet

from ledger.models import AuditEvent, AuditLink

SIZE = 20
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR = re.compile(r"([0-9]{1,17})~([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


@dataclass(frozen=True)
class Wanted:
    """What somebody looks for; what is left out does not narrow. `since` and `until` are instants, the first inside."""

    kinds: tuple[str, ...] = ()
    actor: uuid.UUID | None = None
    subject: uuid.UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Found:
    """The events of a page with their links by event, and the cursor of the next (older) page, if there is one."""

    events: list[AuditEvent] = field(default_factory=list)
    links: dict[uuid.UUID, AuditLink] = field(default_factory=dict)
    older: str = ""


def newest(wanted: Wanted, cursor: str = "", size: int = SIZE) -> Found:
    """The newest events behind the cursor, in three queries. A cursor that is none of ours gives the first page."""
    keys = _keys(wanted, cursor, size + 1)
    shown = [key for _at, key in keys[:size]]
    read = AuditEvent.objects.filter(pk__in=shown).select_related("actor").in_bulk() if shown else {}
    links = {link.event_id: link for link in AuditLink.objects.filter(event__in=shown)} if shown else {}
    older = _cursor(*keys[size - 1]) if len(keys) > size else ""
    return Found([read[key] for key in shown], links, older)


def days(first: date | None, last: date | None, zone: str) -> tuple[datetime | None, datetime | None]:
    """Whole days of a time zone as instants: from the first one's beginning to the last one's end."""
    tz = ZoneInfo(zone)
    since = datetime.combine(first, time(), tz) if first else None
    until = datetime.combine(last + timedelta(days=1), time(), tz) if last else None
    return since, until


def _keys(wanted: Wanted, cursor: str, most: int) -> list[tuple[datetime, uuid.UUID]]:
    found = _narrowed(wanted, _place(cursor))
    ways: list[QuerySet[Any, Any]] = [
        found.filter(kind=kind).order_by("-at", "-pk").values_list("at", "pk")[:most] for kind in wanted.kinds
    ] or [found.order_by("-at", "-pk").values_list("at", "pk")[:most]]
    if len(ways) == 1:
        return list(ways[0])
    return list(ways[0].union(*ways[1:], all=True).order_by("-at", "-pk")[:most])


def _narrowed(wanted: Wanted, place: tuple[datetime, uuid.UUID] | None) -> "QuerySet[AuditEvent]":
    found = AuditEvent.objects.all()
    if wanted.actor is not None:
        found = found.filter(actor=wanted.actor)
    if wanted.subject is not None:
        found = found.filter(subject_id=wanted.subject)
    if wanted.since is not None:
        found = found.filter(at__gte=wanted.since)
    if wanted.until is not None:
        found = found.filter(at__lt=wanted.until)
    if place is not None:
        at, key = place
        found = found.filter(Q(at__lt=at) | Q(at=at, pk__lt=key), at__lte=at)
    return found


def _cursor(at: datetime, key: uuid.UUID) -> str:
    """Where an event stands: microseconds since 1970, and its id."""
    return f"{(at - EPOCH) // timedelta(microseconds=1)}~{key}"


def _place(cursor: str) -> tuple[datetime, uuid.UUID] | None:
    match = _CURSOR.fullmatch(cursor)
    return (EPOCH + timedelta(microseconds=int(match[1])), uuid.UUID(match[2])) if match else None
