"""What a Chat Completions endpoint accepts, checked as the strictest of them do.

A request that passes here is valid for the others: each tool call has its answer before anything else
follows, names and ids have their form, arguments that are replayed are JSON objects. Tests take this for the
validator of R9.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


def refusal(body: Any) -> str | None:
    """Why the request would get a 400, or None."""
    if not isinstance(body, dict):
        return "The request is not a JSON object."
    if not isinstance(body.get("model"), str) or not body["model"]:
        return "You must provide a model parameter."
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "'messages' must be an array with at least one message."
    return _bad_messages(messages) or _bad_tools(body.get("tools"))


def _bad_messages(messages: list[Any]) -> str | None:
    waiting: list[str] = []
    for position, message in enumerate(messages):
        where = f"messages[{position}]"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ROLES:
            return f"{where}: the role {role!r} is not one of {', '.join(sorted(ROLES))}."
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                return f"{where}: a message of role 'tool' must answer a preceding message with 'tool_calls'."
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. These did not have response messages: {', '.join(waiting)}."
            )
        if problem := _bad_content(role, message):
            return f"{where}: {problem}"
        if role == "assistant" and message.get("tool_calls"):
            if problem := _bad_calls(message["tool_calls"]):
                return f"{where}: {problem}"
            waiting = [call["id"] for call in message["tool_calls"]]
    return f"These tool calls did not have response messages: {', '.join(waiting)}." if waiting else None


def _bad_content(role: str, message: dict[str, Any]) -> str | None:
    content = message.get("content")
    if content is None:
        has_calls = role == "assistant" and bool(message.get("tool_calls"))
        return None if has_calls else "'content' is missing."
    if isinstance(content, str):
        return None
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") for part in content):
        return None
    return "'content' must be a string or an array of parts."


def _bad_calls(calls: Any) -> str | None:
    if not isinstance(calls, list):
        return "'tool_calls' must be an array."
    seen: set[str] = set()
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or call.get("type") != "function":
            return "each tool call must have type 'function' and a function."
        if not isinstance(call.get("id"), str) or not call["id"] or call["id"] in seen:
            return "each tool call must have an id of its own."
        seen.add(call["id"])
        if not isinstance(function.get("name"), str) or not NAME.match(function["name"]):
            return f"the function name {str(function.get('name'))[:80]!r} does not match '^[a-zA-Z0-9_-]{{1,64}}$'."
        try:
            arguments = json.loads(function.get("arguments", ""))
        except (TypeError, ValueError):
            return f"the arguments of {call['id']} are not JSON."
        if not isinstance(arguments, dict):
            return f"the arguments of {call['id']} are not an object."
    return None


def _bad_tools(tools: Any) -> str | None:
    if tools is None:
        return None
    if not isinstance(tools, list) or not tools:
        return "'tools' must be an array with at least one tool."
    seen: set[str] = set()
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.get("type") != "function":
            return "each tool must have type 'function' and a function."
        name = function.get("name")
        if not isinstance(name, str) or not NAME.match(name) or name in seen:
            return f"the tool name {str(name)[:80]!r} is not usable or stands twice."
        seen.add(name)
        parameters = function.get("parameters")
        if parameters is not None and (not isinstance(parameters, dict) or parameters.get("type") != "object"):
            return f"the parameters of {name} must be a JSON Schema of type 'object'."
    return None
