"""The same conversations and actions as JSON, for programs, with the session of a member: reading, and the kill switch.

The shapes are fixed (docs/interfaces.md). Times are ISO 8601 in UTC, ids UUIDs, amounts integers of cents.
"""

import uuid
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from assistant.doors import bodies
from assistant.doors.access import conversation_of
from assistant.gate import approvals, pausing, policy
from assistant.models import Message, PendingAction, ToolCall
from assistant.tools import registry
from ledger import permissions
from ledger.errors import NotAllowed
from ledger.text import clean_line

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


@api_view(["POST"])
@members_only
def pause(request: Request) -> Response:
    """Pause the assistant, with a `reason` or without one: the kill switch. Pressed again, it stays paused.

    It is turned on again on the settings page only. 403 where the member may not.
    """
    given = request.data if isinstance(request.data, dict) else {}
    try:
        made = pausing.pause(by=_member(request), reason=clean_line(str(given.get("reason") or "")))
    except NotAllowed as error:
        raise PermissionDenied(error.sentence) from None
    return Response({"paused": True, "by": made.started_by.name, "at": made.started_at, "reason": made.reason})


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
        calls.setdefault(call.message_id, []).append(bodies.call(call))
    return Response(
        {
            "conversation": str(conversation.pk),
            "title": conversation.title,
            "seq": conversation.seq,
            "more": len(page) > MOST,
            "messages": [bodies.message(row, calls.get(row.pk, [])) for row in shown],
        }
    )


@api_view(["GET"])
@members_only
def action(request: Request, action_id: uuid.UUID) -> Response:
    """One action: what was shown, what runs, who decided, what came of it."""
    found = PendingAction.objects.filter(pk=action_id).select_related("requester").first()
    if found is None or not approvals.visible(found, _member(request)):
        raise Http404
    return Response(bodies.action(found))


def _django(request: Request) -> Any:
    return request._request


def _member(request: Request) -> Any:
    inner: HttpRequest = request._request
    return inner.member  # type: ignore[attr-defined]
