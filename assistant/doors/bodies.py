"""Rows as JSON for programs, the same in every answer (docs/interfaces.md): times ISO 8601 in UTC, ids UUIDs."""

from datetime import datetime
from typing import Any

from assistant.doors import wording
from assistant.models import Decision, Message, PendingAction, Question, ToolCall


def action(found: PendingAction) -> dict[str, Any]:
    """What was shown, what runs, who decided, what came of it."""
    decisions = Decision.objects.filter(action=found).select_related("member").order_by("slot")
    asked = Question.objects.filter(action=found).select_related("member").order_by("at", "pk")
    return {
        "id": str(found.pk),
        "conversation": str(found.conversation_id),
        "turn": str(found.turn_id) if found.turn_id else None,
        "tool": found.tool,
        "label": wording.tool_label(found.tool),
        "level": found.level,
        "effects": found.effects,
        "operation": found.operation,
        "status": found.status,
        "closed_by": found.closed_by,
        "summary": found.summary,
        "preview": found.preview,
        "payload": found.payload,
        "hash": found.digest,
        "requester": {"id": str(found.requester_id), "name": found.requester.name},
        "created_at": _at(found.created_at),
        "expires_at": _at(found.expires_at),
        "execute_after": _at(found.execute_after),
        "closed_at": _at(found.closed_at),
        "decisions": [decision(one) for one in decisions],
        "questions": [question(one) for one in asked],
        "receipt": found.receipt,
        "failure": found.failure,
        "edited_from": str(found.edited_from_id) if found.edited_from_id else None,
        "superseded_by": str(found.superseded_by_id) if found.superseded_by_id else None,
        "compensates": str(found.compensates_id) if found.compensates_id else None,
        "compensated_by": str(found.compensated_by_id) if found.compensated_by_id else None,
    }


def message(row: Message, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "turn": str(row.turn_id) if row.turn_id else None,
        "position": row.position,
        "seq": row.seq,
        "role": row.role,
        "text": row.text,
        "code": row.code,
        "params": row.params,
        "state": "open" if row.open else "final",
        "author": row.author.name if row.author else None,
        "action": str(row.action_id) if row.action_id else None,
        "created_at": _at(row.created_at),
        "tool_calls": calls,
    }


def call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
        "status": call.status,
        "action": str(call.action_id) if call.action_id else None,
    }


def decision(one: Decision) -> dict[str, Any]:
    return {
        "slot": one.slot,
        "verdict": one.verdict,
        "by": one.member.name,
        "at": _at(one.at),
        "door": one.door,
        "reason_code": one.reason_code,
        "reason": one.reason,
        "evidence": one.evidence,
        "attachment": one.attachment,
        "passkey": bool(one.assertion),
        "seconds_shown": one.seconds_shown,
        "shown_hash": one.shown_hash,
    }


def question(one: Question) -> dict[str, Any]:
    return {"question": one.code, "by": one.member.name, "at": _at(one.at), "answer": one.answer}


def _at(moment: datetime | None) -> str | None:
    """To the microsecond, as every answer writes it."""
    return moment.isoformat().replace("+00:00", "Z") if moment else None
