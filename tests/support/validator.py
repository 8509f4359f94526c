"""Whether a conversation's history is valid for the model's API and true (R9, J4, T47): Invalid on the first fault.

Written apart from the product's own code, so that a mistake there is not repeated here.
"""

import json
import re
import uuid
from collections.abc import Sequence
from typing import Any

from assistant.agent import history
from assistant.models import Attempt, Conversation, PendingAction, Status, ToolCall
from ledger import tenancy
from ledger.models import Access

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
RECORD = "[record] "
EVENTS = {
    "awaiting_second",
    "executed",
    "failed",
    "rejected",
    "cancelled",
    "expired",
    "superseded",
    "in_doubt",
    "edited",
    "asked_again",
    "interrupted",
    "stopped",
    "correction",
}


class Invalid(AssertionError):
    """The history would be refused, or says something that did not happen."""


def check_all() -> int:
    """Every conversation of every company; called outside any scope. Returns how many were read."""
    read = 0
    for tenant_id in Access.objects.values_list("tenant_id", flat=True).distinct():
        with tenancy.tenant(tenant_id):
            for conversation_id in Conversation.objects.values_list("pk", flat=True):
                check(conversation_id)
                read += 1
    return read


def check(conversation_id: uuid.UUID) -> list[dict[str, Any]]:
    """One conversation, in both forms that endpoints take; in the scope that the caller holds. Returns the messages."""
    for developer in (False, True):
        messages = history.messages(conversation_id, developer=developer)
        valid(messages)
        true(messages)
    _one_result_each(conversation_id)
    return messages


def valid(messages: Sequence[dict[str, Any]]) -> None:
    """Each call has exactly one result, right after it and in the calls' order; nothing broken is replayed."""
    waiting: list[str] = []
    for place, message in enumerate(messages):
        role = message.get("role")
        _require(role in ("system", "developer", "user", "assistant", "tool"), place, f"the role {role}")
        if role == "tool":
            _require(bool(waiting), place, "a result that answers no call")
            expected = waiting.pop(0)
            _require(message.get("tool_call_id") == expected, place, f"the result of another call than {expected}")
            _require(bool(message.get("content")), place, "a result without content")
            _require(len(message["content"]) <= 6000, place, "a result of more than 6,000 characters")
            continue
        _require(not waiting, place, f"calls without a result: {waiting}")
        if role == "assistant":
            calls = message.get("tool_calls", [])
            _require("tool_calls" not in message or bool(calls), place, "an empty list of calls")
            _require(bool(message.get("content")) or bool(calls), place, "a reply with nothing in it")
            waiting = [_call(place, call) for call in calls]
            _require(len(set(waiting)) == len(waiting), place, "two calls of the same id")
            continue
        _require(isinstance(message.get("content"), str) and message["content"] != "", place, "no content")
        if role == "developer" or message["content"].startswith(RECORD):
            _record(place, message["content"])
        else:
            _require("[record]" not in message["content"].lower(), place, "the mark of a record in somebody's words")
    _require(not waiting, len(messages), f"calls without a result at the end: {waiting}")


def true(messages: Sequence[dict[str, Any]]) -> None:
    """Nothing says "executed" but of an action whose attempt was, with a receipt for what was shown (T47, J3)."""
    for place, message in enumerate(messages):
        text = message.get("content") or ""
        if message["role"] == "tool":
            said = _object(text)
            claims = said.get("executed") is True or (said.get("status") == "executed" and "action" in said)
        elif text.startswith(RECORD):
            said = json.loads(text.removeprefix(RECORD))
            claims = said.get("executed") is True
            _require(claims == (said["event"] == "executed"), place, "an outcome that contradicts itself")
        else:
            continue
        if claims:
            _executed(place, said)


def _executed(place: int, said: dict[str, Any]) -> None:
    action = PendingAction.objects.filter(pk=said.get("action")).first()
    _require(action is not None, place, "an action that does not exist was executed")
    assert action is not None
    attempt = Attempt.objects.filter(action=action).first()
    done = attempt is not None and attempt.outcome == "executed" and action.status == Status.EXECUTED
    _require(done, place, f"executed, while the action is {action.status}")
    _require((action.receipt or {}).get("digest") == action.digest, place, "no receipt for what was shown")


def _call(place: int, call: dict[str, Any]) -> str:
    function = call.get("function", {})
    _require(call.get("type") == "function", place, "a call that is no function")
    _require(bool(NAME.fullmatch(function.get("name", ""))), place, f"the name {function.get('name')!r}")
    _require(_parsed(function.get("arguments")) is not None, place, "broken arguments")
    call_id = call.get("id")
    _require(isinstance(call_id, str) and 0 < len(call_id) <= 128, place, f"the id {call_id!r}")
    return str(call_id)


def _record(place: int, text: str) -> None:
    _require(text.startswith(RECORD), place, "a word of the developer that is no record")
    _require(len(text) <= 2000, place, "an outcome of more than 2,000 characters")
    _require("[record]" not in text.removeprefix(RECORD).lower(), place, "a record within a record")
    said = _object(text.removeprefix(RECORD))
    _require(said.get("event") in EVENTS, place, f"the record {text[:80]}")


def _one_result_each(conversation_id: uuid.UUID) -> None:
    """A gated call's result is the fixed one, whatever became of its action."""
    calls = ToolCall.objects.filter(turn__conversation_id=conversation_id, status=ToolCall.Status.PROPOSED)
    for call in calls.select_related("action"):
        said = _object(call.result)
        same = said.get("action") == str(call.action_id) and said.get("executed") is False
        if not same or "do not call again" not in said.get("note", ""):
            raise Invalid(f"call {call.call_id}: {call.result[:120]}")


def _object(text: Any) -> Any:
    """The JSON object in a text; {} where it is none."""
    return _parsed(text) or {}


def _parsed(text: Any) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _require(holds: bool, place: int, fault: str) -> None:
    if not holds:
        raise Invalid(f"message {place}: {fault}")
