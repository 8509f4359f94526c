"""The same conversations and actions as JSON, for programs: reading only, with the session of a member.

The shapes are fixed (docs/interfaces.md). Times are ISO 8601 in UTC, ids UUIDs, amounts integers of cents.
"""

import uuid
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from assistant.doors import wording
from assistant.doors.access import conversation_of
from assistant.gate import approvals, policy
from assistant.models import Decision, Message, PendingAction, ToolCall
from assistant.tools import registry
from ledger import permissions

MOST = 200


def members_only(view: Any) -> Any:
    """403 for strangers, as REST framework answers without a challenge."""

    @wraps(view)
    def guarded(request: Request, *args: object, **kwargs: object) -> Response:
        if getattr(request._request, "member", None) is None:
            raise NotAuthenticated
        response: Response = view(request, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    return guarded


@api_view(["GET"])
@members_only
def tools(request: Request) -> Response:
    """Every tool that this member may use: what the model reads, its level and how it is confirmed."""
    member = _member(request)
    return Response(
        {
            "tools": [
                {
                    "name": made.name,
                    "label": str(made.label),
                    "description": made.description,
                    "namespace": made.namespace,
                    "level": int(made.level),
                    "gated": made.gated,
                    "effects": sorted(made.all_effects),
                    "operation": str(made.operation),
                    "undo_seconds": made.undo_seconds,
                    "compensation": made.compensation,
                    "arguments": made.schema,
                    "may_decide": made.gated and policy.may_decide(member, made, made.level),
                }
                for made in sorted(registry.TOOLS.values(), key=lambda one: one.name)
                if permissions.allowed(member, made.permission)
            ]
        }
    )


@api_view(["GET"])
@members_only
def messages(request: Request, conversation_id: uuid.UUID) -> Response:
    """The newest messages of a conversation, oldest first; `?before=` a position goes further back."""
    conversation = conversation_of(_django(request), conversation_id)
    rows = Message.objects.filter(conversation=conversation)
    before = request.query_params.get("before", "")
    if before.isdecimal() and len(before) < 19:
        rows = rows.filter(position__lt=int(before))
    page = list(rows.select_related("author").order_by("-position")[: MOST + 1])
    shown = page[:MOST][::-1]
    calls: dict[uuid.UUID, list[dict[str, Any]]] = {}
    for call in ToolCall.objects.filter(message__in=shown).order_by("message", "index"):
        calls.setdefault(call.message_id, []).append(_call(call))
    return Response(
        {
            "conversation": str(conversation.pk),
            "title": conversation.title,
            "seq": conversation.seq,
            "more": len(page) > MOST,
            "messages": [_message(row, calls.get(row.pk, [])) for row in shown],
        }
    )


@api_view(["GET"])
@members_only
def action(request: Request, action_id: uuid.UUID) -> Response:
    """One action: what was shown, what runs, who decided, what came of it."""
    found = PendingAction.objects.filter(pk=action_id).select_related("requester").first()
    if found is None or not approvals.visible(found, _member(request)):
        raise Http404
    decisions = Decision.objects.filter(action=found).select_related("member").order_by("slot")
    return Response(
        {
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
            "created_at": found.created_at,
            "expires_at": found.expires_at,
            "execute_after": found.execute_after,
            "closed_at": found.closed_at,
            "decisions": [_decision(one) for one in decisions],
            "receipt": found.receipt,
            "failure": found.failure,
            "edited_from": str(found.edited_from_id) if found.edited_from_id else None,
            "superseded_by": str(found.superseded_by_id) if found.superseded_by_id else None,
        }
    )


def _message(row: Message, calls: list[dict[str, Any]]) -> dict[str, Any]:
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
        "created_at": row.created_at,
        "tool_calls": calls,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
        "status": call.status,
        "action": str(call.action_id) if call.action_id else None,
    }


def _decision(one: Decision) -> dict[str, Any]:
    return {
        "slot": one.slot,
        "verdict": one.verdict,
        "by": one.member.name,
        "at": one.at,
        "door": one.door,
        "reason_code": one.reason_code,
        "reason": one.reason,
        "seconds_shown": one.seconds_shown,
        "shown_hash": one.shown_hash,
    }


def _django(request: Request) -> Any:
    return request._request


def _member(request: Request) -> Any:
    inner: HttpRequest = request._request
    return inner.member  # type: ignore[attr-defined]
