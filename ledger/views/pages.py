"""Long lists by keyset: the page after the last row seen, however many rows came since (measured: OFFSET does not)."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

SIZE = 30


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
    older = f"{rows[-1].created_at.isoformat()}~{rows[-1].pk}" if len(found) > size else ""
    return Page(rows, older)


def _place(cursor: str) -> tuple[datetime, uuid.UUID] | None:
    at, _tilde, pk = cursor.partition("~")
    try:
        moment = datetime.fromisoformat(at)
        return (moment, uuid.UUID(pk)) if moment.tzinfo else None
    except ValueError:
        return None
