"""Store what changed in a conversation under its next number, and tell who watches.

The rows are the log; an event is their number and nothing else.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import connection

from assistant import bus
from assistant.bus import Kind
from assistant.models import Message, PendingAction, Status, ToolCall, Turn
from ledger.storing import fields_of
from ledger.tenancy import TenantConflict, current_tenant

NUMBER = (
    "own AS (UPDATE assistant_conversation SET seq = seq + %s, title = CASE WHEN title = '' THEN %s ELSE title END,"
    " updated_at = clock_timestamp() WHERE id = %s AND tenant_id = %s RETURNING seq)"
)
Row = Message | ToolCall | PendingAction | Turn


@dataclass(frozen=True)
class Along:
    """A statement that changes rows of its own and goes with an announcement, in the same round trip.

    It sees the tables as they were before the announcement, and may not change a row that is announced.
    """

    sql: str
    params: Sequence[Any]


def announce(conversation_id: uuid.UUID, *rows: Row, fields: Iterable[str] = (), along: Sequence[Along] = ()) -> None:
    """Number the rows as the newest changes of their conversation and publish them after the commit (as `row`).

    One statement: a row that is new is inserted by it; of the first row that is not, `fields` are written as well.
    Call it last in a transaction: it locks the conversation's row (lock order: action, documents, number sequence,
    conversation, head of the audit chain).
    """
    if not _number(conversation_id, rows, tuple(fields), along):
        raise LookupError("a row that is new cannot be there already")


def announce_once(conversation_id: uuid.UUID, row: Row, *, title: str = "") -> bool:
    """The same for one new row; False, and nothing is stored, where its keys say that it is there already.

    A conversation that has no title yet gets this one.
    """
    return _number(conversation_id, (row,), once=True, title=title)


def _number(
    conversation_id: uuid.UUID,
    rows: tuple[Row, ...],
    fields: tuple[str, ...] = (),
    along: Sequence[Along] = (),
    *,
    once: bool = False,
    title: str = "",
) -> bool:
    tenant_id = current_tenant()
    parts: list[str] = [NUMBER]
    params: list[Any] = [len(rows), title, conversation_id, tenant_id]
    placed = [isinstance(row, Message) and not row.position for row in rows]
    for number, row in enumerate(rows):
        if row.tenant_id != tenant_id:
            raise TenantConflict("this row belongs to another company")
        back, key = len(rows) - 1 - number, list[Any]()
        if row._state.adding:
            sql = _insert(type(row), back, placed[number], once)
            values = row.prepared(_stored(type(row)), add=True)
        else:
            sql = _update(type(row), back, placed[number], fields)
            values = row.prepared(fields_of(type(row), fields), add=False)
            key, fields = [row.pk], ()
        parts.append(f"row{number} AS ({sql})")
        if values is None:
            raise TypeError(f"what the database works out cannot be announced with {row}")
        params += [*values, *key]
    for number, other in enumerate(along):
        parts.append(f"along{number} AS ({other.sql})")
        params += other.params
    with connection.cursor() as cursor:
        cursor.execute(f"WITH {', '.join(parts)} SELECT seq, (SELECT count(*) FROM row0) FROM own", params)  # noqa: S608 (names of our own tables)
        last, stored = cursor.fetchone()
    if not stored:
        return False
    for seq, (row, is_placed) in enumerate(zip(rows, placed, strict=True), start=last - len(rows) + 1):
        kind = _kind(row)
        row.seq, row._state.adding = seq, False
        if is_placed and isinstance(row, Message):
            row.position = seq
        bus.publish_on_commit(conversation_id, kind, seq, row=row.pk)
        if isinstance(row, PendingAction):
            bus.publish_cards_on_commit(tenant_id, conversation_id)
    return True


@cache
def _insert(model: type[Row], back: int, placed: bool, once: bool) -> str:
    """A new row, whose number (and place, for a message) is its conversation's."""
    given = _stored(model)
    numbered = ["seq", "position"] if placed else ["seq"]
    if model is Message and not placed:
        raise ValueError("a new message has no place yet")
    columns = ", ".join([f'"{field.column}"' for field in given] + numbered)
    # Without the length: a cast to varchar(10) would cut, where the column refuses.
    values = ", ".join([f"%s::{field.db_type(connection).partition('(')[0]}" for field in given])
    numbers = ", ".join(f"own.seq - {back}" for _ in numbered)
    clash = " ON CONFLICT DO NOTHING" if once else ""
    return f"INSERT INTO {model._meta.db_table} ({columns}) SELECT {values}, {numbers} FROM own{clash} RETURNING 1"  # noqa: S608 (as above)


@cache
def _update(model: type[Row], back: int, placed: bool, fields: tuple[str, ...]) -> str:
    changes = [f"seq = own.seq - {back}"] + [f"position = own.seq - {back}"] * placed
    changes += [f'"{field.column}" = %s' for field in fields_of(model, fields)]
    return f"UPDATE {model._meta.db_table} SET {', '.join(changes)} FROM own WHERE id = %s RETURNING 1"  # noqa: S608 (as above)


@cache
def _stored(model: type[Row]) -> tuple[Any, ...]:
    """The fields that a new row gives itself."""
    numbered = ("seq", "position") if model is Message else ("seq",)
    return tuple(field for field in model._meta.concrete_fields if field.name not in numbered)


def _kind(row: Row) -> Kind:
    match row:
        case Message():
            return Kind.MESSAGE
        case ToolCall():
            return Kind.TOOL
        case Turn():
            return Kind.TURN
        case PendingAction(status=Status.EXECUTING):
            return Kind.RUNNING
        case PendingAction():
            return Kind.ACTION if row.seq else Kind.CONFIRM
