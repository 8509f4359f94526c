"""Tell who watches a conversation what changed. The rows are the log; an event is their number and nothing else."""

import uuid
from typing import Any

from django.db import connection

from assistant import bus
from assistant.bus import Kind
from assistant.models import Message, PendingAction, ToolCall, Turn
from ledger.tenancy import current_tenant

NUMBER = (
    "own AS (UPDATE assistant_conversation SET seq = seq + %s, updated_at = clock_timestamp()"
    " WHERE id = %s AND tenant_id = %s RETURNING seq)"
)
Row = Message | ToolCall | PendingAction | Turn


def announce(conversation_id: uuid.UUID, *rows: Row) -> None:
    """Number the rows as the newest changes of their conversation and publish them after the commit (as `row`).

    Call it last in a transaction: it locks the conversation's row (lock order: action, documents, number sequence,
    conversation, head of the audit chain).
    """
    parts: list[str] = [NUMBER]
    params: list[Any] = [len(rows), conversation_id, current_tenant()]
    for back, row in enumerate(reversed(rows)):
        table = row._meta.db_table
        place = ", position = own.seq - %s" if isinstance(row, Message) and not row.position else ""
        parts.append(f"row{back} AS (UPDATE {table} SET seq = own.seq - %s{place} FROM own WHERE id = %s)")  # noqa: S608
        params += [back, back, row.pk] if place else [back, row.pk]
    with connection.cursor() as cursor:
        cursor.execute(f"WITH {', '.join(parts)} SELECT seq FROM own", params)  # noqa: S608 (names of our own tables)
        (last,) = cursor.fetchone()
    for seq, row in enumerate(rows, start=last - len(rows) + 1):
        kind = _kind(row)
        row.seq = seq
        if isinstance(row, Message) and not row.position:
            row.position = seq
        bus.publish_on_commit(conversation_id, kind, seq, row=row.pk)


def _kind(row: Row) -> Kind:
    match row:
        case Message():
            return Kind.MESSAGE
        case ToolCall():
            return Kind.TOOL
        case Turn():
            return Kind.TURN
        case PendingAction():
            return Kind.ACTION if row.seq else Kind.CONFIRM
