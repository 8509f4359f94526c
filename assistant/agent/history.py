"""The rows of a conversation as the model reads them: valid for its API and true at every instant (R9).

Nothing is repaired here after the fact, and nothing needs to be: a call and its result stand in one row, so that each
call is followed by exactly one result whatever was killed when. What became of an action is a record, written here and
nowhere else: role `developer` where the endpoint takes it, else `user`, marked with words that nobody else can write.
"""

import json
import re
import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from assistant import turns
from assistant.agent import results
from assistant.models import Message, ToolCall, Turn
from ledger.compiled import Compiled, Slot, a_number, an_id

RECORD: Final = "[record]"
_HIDDEN: Final = r"[\s\u200b-\u200f\u2060\ufeff]*"
_MARKER: Final = re.compile(rf"[\[［⟦【〔❲]({_HIDDEN}r\W*e\W*c\W*o\W*r\W*d{_HIDDEN})[\]］⟧】〕❳]", re.IGNORECASE)
_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]")

INTERRUPTED: Final = "cut_off"
STOPPED: Final = "stopped_here"
UNFOUNDED: Final = "unfounded"
"""Codes of replies: cut off by a failure, stopped by the person, claiming what the record does not have."""
EVENTS: Final = {INTERRUPTED: "interrupted", STOPPED: "stopped"}
CUT_SHORT: Final = {
    INTERRUPTED: "The reply was cut off here by a failure; nothing after this point was said or done.",
    STOPPED: "The person stopped the reply here; nothing after this point was said or done.",
}
CORRECTION: Final = "The reply above says that something was done which the record does not have. It was not executed."
NOT_RUN: Final = "the process stopped"
SLIM: Final = 600
"""Characters of a tool result that are left where a turn is too long by itself."""
NOTES: Final = {
    "awaiting_second": "one person confirmed it and another one still has to; not executed",
    "expired": "not executed",
    "superseded": "not executed; another card took its place",
    "edited": "a person changed the card; only the changed one can be executed",
    "rejected": "a person said no; not executed",
    "cancelled": "not executed",
    "failed": "nothing was done",
    "asked_again": "a person asked for it once more by its card; NOT executed so far, do not call it again",
    "reversed": "it had been done, and a person took it back: it does not stand any more",
    "in_doubt": "it is not known whether it was done; never repeat it, never say that it was",
}


Row = Any
"""A row of the columns below, by name: whole models with their joins take ten times as long."""
SAID: Final = (
    "pk",
    "turn__ordinal",
    "role",
    "text",
    "code",
    "params",
    "action_id",
    "action__tool",
    "action__summary",
    "action__superseded_by_id",
    "action__superseded_by__summary",
)
MADE: Final = ("message_id", "call_id", "name", "arguments", "result")
TOLD: Final = (Message.Role.USER, Message.Role.ASSISTANT, Message.Role.RECORD)
"""Cards, receipts and lines are no part of it (T45)."""


def _of_turns() -> dict[str, Slot]:
    """A conversation's turns after one ordinal and up to another: they are numbered without gaps."""
    return {
        "turn__conversation_id": an_id("conversation"),
        "turn__ordinal__gt": a_number("after"),
        "turn__ordinal__lte": a_number("last"),
    }


MESSAGES: Compiled[Row] = Compiled(
    lambda: (
        Message.objects.filter(
            **_of_turns(), conversation_id=an_id("conversation"), role__in=TOLD, silent=False, open=False
        )
        .order_by("position")
        .values_list(*SAID, named=True)
    )
)
CALLS: Compiled[Row] = Compiled(
    lambda: ToolCall.objects.filter(**_of_turns()).order_by("index").values_list(*MADE, named=True)
)


@dataclass(frozen=True)
class Window:
    """How much of the past is shown: the newest turns, whole, up to so many characters. The newest one always is."""

    turns: int = 40
    characters: int = 160_000


@dataclass(frozen=True)
class History:
    """The messages, and whether older ones were left out."""

    messages: list[dict[str, Any]]
    cut: bool


def messages(conversation_id: uuid.UUID, *, developer: bool = True) -> list[dict[str, Any]]:
    """The conversation as it stands at this instant, in Chat Completions' form, without the system prompt."""
    return read(conversation_id, developer=developer).messages


def read(
    conversation_id: uuid.UUID, *, now: Turn | None = None, developer: bool = True, window: Window | None = None
) -> History:
    """The newest turns up to `now`, the one that is running. Two queries, however long the conversation is.

    A reply of `now` that was cut off is left out: the model says it again.
    """
    window = window or Window()
    newest = now or turns.newest(conversation_id)
    last = newest.ordinal if newest else 0
    shown = {"conversation": conversation_id, "after": last - window.turns, "last": last}
    said: dict[int, list[Row]] = defaultdict(list)
    for message in MESSAGES.all(**shown):
        said[message.turn__ordinal].append(message)
    calls: dict[uuid.UUID, list[Row]] = defaultdict(list)
    if any(message.role == Message.Role.ASSISTANT for told in said.values() for message in told):
        for call in CALLS.all(**shown):
            calls[call.message_id].append(call)
    blocks: list[list[dict[str, Any]]] = []
    room = window.characters
    for ordinal in range(last, max(last - window.turns, 0), -1):
        block = list(_turn(said[ordinal], calls, developer, running=now is not None and ordinal == now.ordinal))
        size = sum(map(_size, block))
        if blocks and size > room:
            return History(_joined(blocks), cut=True)
        if size > room:
            size = _slim(block, room)
        blocks.append(block)
        room -= size
    return History(_joined(blocks), cut=last > window.turns)


def _joined(blocks: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [message for block in reversed(blocks) for message in block]


def _turn(
    said: list[Row], calls: dict[uuid.UUID, list[Row]], developer: bool, *, running: bool
) -> Iterable[dict[str, Any]]:
    last_reply = next((message.pk for message in reversed(said) if message.role == Message.Role.ASSISTANT), None)
    for message in said:
        match message.role:
            case Message.Role.USER:
                yield {"role": "user", "content": without_marker(message.text)}
            case Message.Role.RECORD:
                yield _record(_outcome(message), developer)
            case Message.Role.ASSISTANT:
                said_again = running or message.pk != last_reply
                if message.code == INTERRUPTED and said_again:
                    continue
                yield from _reply(message, calls.get(message.pk, []))
                if message.code in CUT_SHORT and message.text:
                    yield _record({"event": EVENTS[message.code], "note": CUT_SHORT[message.code]}, developer)
                if message.code == UNFOUNDED:
                    about = message.params.get("actions", [])
                    yield _record(
                        {"event": "correction", "executed": False, "actions": about, "note": CORRECTION}, developer
                    )


def _reply(message: Row, calls: list[Row]) -> Iterable[dict[str, Any]]:
    """What the model said, its calls, and each call's result right after it, in the order of the calls (T39)."""
    text = without_marker(message.text)
    if not text and not calls:
        return
    reply: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        reply["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": _name(call.name), "arguments": _arguments(call.arguments)},
            }
            for call in calls
        ]
    yield reply
    for call in calls:
        result = call.result or results.not_run(NOT_RUN)
        yield {"role": "tool", "tool_call_id": call.call_id, "content": without_marker(result)}


def _outcome(message: Row) -> dict[str, Any]:
    """What became of an action: only "executed" says that something was done (T47)."""
    event, params = message.code, message.params
    executed = {"executed": True, "in_doubt": "unknown"}.get(event, False)
    body: dict[str, Any] = {
        "event": event,
        "tool": message.action__tool,
        "action": str(message.action_id),
        "summary": message.action__summary,
        "executed": executed,
    }
    for name in ("receipt", "reason_code", "reason", "by", "changes", "closed_by", "code", "attempt", "failed_before"):
        if params.get(name):
            body[name] = params[name]
    if event == "failed" and params.get("sentence"):
        body["reason"] = params["sentence"]
    if successor := message.action__superseded_by_id:
        body["now"] = {"action": str(successor), "summary": message.action__superseded_by__summary}
    if event in NOTES:
        body["note"] = NOTES[event]
    return body


def _record(body: dict[str, Any], developer: bool) -> dict[str, Any]:
    text = without_marker(results.fit(body, results.MOST_OUTCOME - len(RECORD) - 1))
    return {"role": "developer" if developer else "user", "content": f"{RECORD} {text}"}


def without_marker(text: str) -> str:
    """The text without anything that looks like the mark of a record."""
    return _MARKER.sub(r"(\1)", text)


def _name(name: str) -> str:
    """A name that the API takes back: a made-up one may hold anything."""
    return _NAME.sub("_", name)[:64] or "unnamed"


def _arguments(text: str) -> str:
    """Arguments that are no JSON object are never replayed (H40)."""
    try:
        return text if isinstance(json.loads(text), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"


def _size(message: dict[str, Any]) -> int:
    calls = message.get("tool_calls") or ()
    return len(message.get("content") or "") + sum(len(call["function"]["arguments"]) + 80 for call in calls) + 20


def _slim(block: list[dict[str, Any]], room: int) -> int:
    """Shorten a turn that is too long by itself: its tool results, the oldest first. Returns its new size."""
    size = sum(map(_size, block))
    for message in block:
        if size <= room:
            break
        if message["role"] == "tool" and len(message["content"]) > SLIM and results.PROPOSED not in message["content"]:
            before = len(message["content"])
            cut = {"hint": "Shortened, since the conversation is long. Ask again if it is needed."}
            message["content"] = results.as_json({"beginning": message["content"][: SLIM // 2], "cut": cut})
            size -= before - len(message["content"])
    return size
