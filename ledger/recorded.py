"""What is on record, newest first: events by kind, person, subject and day, page by page.

Each way to look has an index of its own. Several kinds at once are as many short readings of one index, put together:
so a page costs the same behind a million events, whatever is asked for (bin/bench_records).
"""

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection

from ledger.models import AuditEvent, AuditLink
from ledger.tenancy import current_tenant

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


OF_KINDS = """
    SELECT found.at, found.id
      FROM unnest(%s::varchar[]) AS wanted (kind)
     CROSS JOIN LATERAL (
           SELECT at, id FROM ledger_auditevent WHERE {where} AND kind = wanted.kind
         ORDER BY at DESC, id DESC LIMIT %s) AS found
  ORDER BY found.at DESC, found.id DESC LIMIT %s
"""
OF_ALL = "SELECT at, id FROM ledger_auditevent WHERE {where} ORDER BY at DESC, id DESC LIMIT %s"


def _keys(wanted: Wanted, cursor: str, most: int) -> list[tuple[datetime, uuid.UUID]]:
    """When and which, by one statement: Django's making of a query for each kind takes longer than they do."""
    conditions = dict(_conditions(wanted, _place(cursor)))
    where, values = " AND ".join(conditions), [value for given in conditions.values() for value in given]
    if wanted.kinds:
        statement, params = OF_KINDS.format(where=where), [list(wanted.kinds), *values, most, most]
    else:
        statement, params = OF_ALL.format(where=where), [*values, most]
    with connection.cursor() as rows:
        rows.execute(statement, params)
        return list(rows.fetchall())


def _conditions(wanted: Wanted, place: tuple[datetime, uuid.UUID] | None) -> Iterator[tuple[str, tuple[Any, ...]]]:
    yield "tenant_id = %s", (current_tenant(),)
    if wanted.actor is not None:
        yield "actor_id = %s", (wanted.actor,)
    if wanted.subject is not None:
        yield "subject_id = %s", (wanted.subject,)
    if wanted.since is not None:
        yield "at >= %s", (wanted.since,)
    if wanted.until is not None:
        yield "at < %s", (wanted.until,)
    if place is not None:
        yield "(at, id) < (%s, %s)", place


def _cursor(at: datetime, key: uuid.UUID) -> str:
    """Where an event stands: microseconds since 1970, and its id."""
    return f"{(at - EPOCH) // timedelta(microseconds=1)}~{key}"


def _place(cursor: str) -> tuple[datetime, uuid.UUID] | None:
    match = _CURSOR.fullmatch(cursor)
    return (EPOCH + timedelta(microseconds=int(match[1])), uuid.UUID(match[2])) if match else None
