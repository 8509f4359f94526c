"""Tell who watches a conversation what changed. The rows are the log; an event is their number and nothing else."""

import uuid

from django.db import connection

from assistant import bus
from assistant.bus import Kind
from assistant.models import Message, PendingAction, ToolCall, Turn

Row = Message | ToolCall | PendingAction | Turn


def announce(conversation_id: uuid.UUID, *rows: Row) -> None:
    """Number the rows as the newest changes of their conversation and publish them after the commit (as `row`).

    Call it last in a transaction: it locks the conversation's row (lock order: action, documents, number sequence,
    conversation, head of the audit chain).
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE assistant_conversation SET seq = seq + %s, updated_at = clock_timestamp()"
            " WHERE id = %s RETURNING seq",
            [len(rows), conversation_id],
        )
        (last,) = cursor.fetchone()
    for seq, row in enumerate(rows, start=last - len(rows) + 1):
        kind = _kind(row)
        row.seq = seq
        fields = {"seq": seq}
        if isinstance(row, Message) and not row.position:
            row.position = fields["position"] = seq
        type(row).objects.filter(pk=row.pk).update(**fields)
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
