"""Long lists by keyset: the page after the last row seen, however many rows came since (measured: OFFSET does not)."""

import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

SIZE = 30
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR = re.compile(r"([0-9]{1,17})~([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


@dataclass(frozen=True)
class Page:
    """The rows of a page, and the cursor of the next (older) one, if there is one."""

    rows: list[Any]
    older: str


def newest_first(query: QuerySet[Any], cursor: str, size: int = SIZE) -> Page:
    """The rows older than the cursor, by `created_at` and id. A cursor that is none of ours gives the first page."""
    place = _place(cursor)
    if place is not None:
        at, pk = place
        query = query.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=pk))
    found = list(query.order_by("-created_at", "-pk")[: size + 1])
    rows = found[:size]
    older = _cursor(rows[-1]) if len(found) > size else ""
    return Page(rows, older)


def _cursor(row: Any) -> str:
    """Where a row stands: microseconds since 1970, and its id."""
    return f"{(row.created_at - EPOCH) // timedelta(microseconds=1)}~{row.pk}"


def _place(cursor: str) -> tuple[datetime, uuid.UUID] | None:
    match = _CURSOR.fullmatch(cursor)
    return (EPOCH + timedelta(microseconds=int(match[1])), uuid.UUID(match[2])) if match else None
