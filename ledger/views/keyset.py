"""A long list in an order of its own, page by page: the rows after the last one seen, whatever came since."""

import json
from collections.abc import Sequence
from datetime import date
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.core import signing
from django.db.models import Q, QuerySet

from ledger.views.pages import SIZE, Page

SALT = "ledger.keyset"


def descending(query: QuerySet[Any], keys: Sequence[str], cursor: str, size: int = SIZE) -> Page:
    """The rows behind the cursor, by these columns, all descending and none empty; the last one is unique.

    A cursor that is none of ours gives the first page.
    """
    place = _place(cursor, len(keys))
    if place is not None:
        query = query.filter(_behind(keys, place))
    found = list(query.order_by(*(f"-{key}" for key in keys))[: size + 1])
    rows = found[:size]
    older = _cursor([getattr(rows[-1], key) for key in keys]) if len(found) > size else ""
    return Page(rows, older)


def _behind(keys: Sequence[str], place: Sequence[Any]) -> Q:
    """Row values compared one after the other: the first that differs decides."""
    steps = []
    for at, key in enumerate(keys):
        same = {keys[before]: place[before] for before in range(at)}
        steps.append(Q(**same, **{f"{key}__lt": place[at]}))
    return reduce(or_, steps)


def _cursor(values: Sequence[Any]) -> str:
    return signing.dumps([_told(value) for value in values], salt=SALT)


def _told(value: Any) -> Any:
    match value:
        case date():
            return {"date": value.isoformat()}
        case UUID():
            return {"uuid": str(value)}
        case _:
            return value


def _place(cursor: str, count: int) -> list[Any] | None:
    try:
        values = signing.loads(cursor, salt=SALT) if cursor else None
    except (signing.BadSignature, json.JSONDecodeError, UnicodeError):
        return None
    if not isinstance(values, list) or len(values) != count:
        return None
    return [_read(value) for value in values]


def _read(value: Any) -> Any:
    match value:
        case {"date": str(text)}:
            return date.fromisoformat(text)
        case {"uuid": str(text)}:
            return UUID(text)
        case _:
            return value
