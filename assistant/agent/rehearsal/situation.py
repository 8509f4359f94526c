"""What the model can know: the request's messages, read once into questions that the stories ask."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Literal

from assistant.agent.rehearsal.memory import Memory
from assistant.agent.rehearsal.words import language_of

Language = Literal["en", "pt"]
RECORD: Final = "[record]"
MARKER_SPACE: Final = 24


@dataclass(frozen=True, slots=True)
class Done:
    """A call with its result; `result` is {} where it is no JSON object."""

    name: str
    arguments: dict[str, Any]
    result: dict[str, Any]

    @property
    def error(self) -> str:
        """What went wrong in words fit to pass on, or ""."""
        found = self.result.get("error")
        if not found:
            return ""
        parts = [self.result.get("message") or found, self.result.get("hint")]
        return " ".join(str(part) for part in parts if part)

    @property
    def proposed(self) -> bool:
        return self.result.get("status") == "proposed"


@dataclass(frozen=True, slots=True)
class Record:
    """What the system says became of an action."""

    event: str
    tool: str
    data: dict[str, Any]

    @property
    def summary(self) -> str:
        return str(self.data.get("summary") or self.tool).strip()

    @property
    def reason(self) -> str:
        return str(self.data.get("reason") or "").strip()

    @property
    def receipt(self) -> dict[str, Any]:
        """The receipt's facts; a receipt that is only text stands under `text`."""
        found = self.data.get("receipt")
        if isinstance(found, dict):
            facts = found.get("facts")
            return found | (facts if isinstance(facts, dict) else {})
        return {"text": str(found)} if found else {}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A card that was asked for, and the last word about it ("" while it is open). Cards of one message: one batch."""

    tool: str
    arguments: dict[str, Any]
    action: str
    summary: str
    outcome: str
    batch: int


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that a reply may rest on."""

    language: Language
    today: date
    tools: Mapping[str, Mapping[str, Any]]
    user_texts: tuple[str, ...]
    last_reply: str
    calls: tuple[Done, ...]
    done: tuple[Done, ...]
    records: tuple[Record, ...]
    news: tuple[Record, ...]
    proposals: tuple[Proposal, ...]
    memory: Memory
    calls_in_turn: int
    currency: str

    @property
    def said(self) -> str:
        return self.user_texts[-1] if self.user_texts else ""

    @property
    def asked(self) -> bool:
        """Whether our last words before this message were a question."""
        return self.last_reply.rstrip().endswith("?")

    def offers(self, *names: str) -> str:
        """The first of these tools that the request offers, or ""."""
        return next((name for name in names if name in self.tools), "")

    def result(self, tool: str, /, **arguments: Any) -> Done | None:
        """This turn's last call of a tool with (at least) these arguments."""
        for call in reversed(self.done):
            if call.name == tool and all(call.arguments.get(key) == value for key, value in arguments.items()):
                return call
        return None

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Situation:
        messages = [_Read.of(message) for message in body["messages"]]
        last = max((n for n, message in enumerate(messages) if message.is_user), default=-1)
        texts = tuple(message.text for message in messages if message.is_user)
        calls = list(_calls(messages))
        records = [record for message in messages for record in message.records]
        return cls(
            language=_language(messages, texts),
            today=_today(messages),
            tools=_tools(body.get("tools") or ()),
            user_texts=texts,
            last_reply=next((m.text for m in reversed(messages[: max(last, 0)]) if m.is_reply), ""),
            calls=tuple(call for _, call in calls),
            done=tuple(call for at, call in calls if at > last),
            records=tuple(records),
            news=_news(messages),
            proposals=tuple(_proposals(calls, records)),
            memory=Memory.of([(call.name, call.arguments, call.result) for _, call in calls]),
            calls_in_turn=sum(message.role == "assistant" for message in messages[last + 1 :]),
            currency=_currency(messages),
        )


@dataclass(frozen=True, slots=True)
class _Read:
    role: str
    text: str
    records: tuple[Record, ...]
    message: Mapping[str, Any]

    @property
    def is_user(self) -> bool:
        return self.role == "user" and not self.records

    @property
    def is_reply(self) -> bool:
        return self.role == "assistant" and bool(self.text.strip())

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> _Read:
        text = _text(message.get("content"))
        marked = message["role"] in ("developer", "system", "user") and RECORD in text[:MARKER_SPACE]
        return cls(message["role"], text, tuple(_records(text)) if marked else (), message)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _records(text: str) -> Iterator[Record]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            data, end = decoder.raw_decode(text, at)
        except ValueError:
            return
        if isinstance(data, dict) and data.get("event"):
            yield Record(str(data["event"]), str(data.get("tool") or ""), data)
        at = text.find("{", end)


def _calls(messages: list[_Read]) -> Iterator[tuple[int, Done]]:
    """Each call with its result, and the place of the message that made it."""
    results = {
        message.message.get("tool_call_id"): (place, message.text)
        for place, message in enumerate(messages)
        if message.role == "tool"
    }
    for place, message in enumerate(messages):
        for call in message.message.get("tool_calls") or ():
            arguments, result = _object(call["function"]["arguments"]), _object(results[call["id"]][1])
            yield place, Done(call["function"]["name"], arguments, result)


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    if isinstance(found, list):
        return {"items": found}
    return found if isinstance(found, dict) else {}


def _news(messages: list[_Read]) -> tuple[Record, ...]:
    """Records at the very end, about which nothing has been said."""
    found: list[Record] = []
    for message in reversed(messages):
        if not message.records:
            break
        found[:0] = message.records
    return tuple(found)


def _proposals(calls: list[tuple[int, Done]], records: list[Record]) -> Iterator[Proposal]:
    for place, call in calls:
        if not call.proposed:
            continue
        action, summary = str(call.result.get("action") or ""), str(call.result.get("summary") or "")
        outcomes = [record.event for record in records if _about(record, call.name, action, summary)]
        yield Proposal(call.name, call.arguments, action, summary, outcomes[-1] if outcomes else "", place)


def _about(record: Record, tool: str, action: str, summary: str) -> bool:
    if action and record.data.get("action"):
        return str(record.data["action"]) == action
    return record.tool == tool and record.summary in (summary, "")


def _tools(tools: Any) -> dict[str, Mapping[str, Any]]:
    functions = [tool["function"] for tool in tools]
    return {function["name"]: function.get("parameters") or {} for function in functions}


def _language(messages: list[_Read], texts: tuple[str, ...]) -> Language:
    """What the person writes in decides; where that says nothing, the language that the instructions name."""
    for text in reversed(texts):
        english, portuguese = language_of(text)
        if english != portuguese:
            return "pt" if portuguese > english else "en"
    hint = next((message.text for message in messages if message.role == "system"), "")
    return "pt" if re.search(r"language\W+(pt|portug)", hint, re.IGNORECASE) else "en"


def _currency(messages: list[_Read]) -> str:
    hint = next((message.text for message in messages if message.role == "system"), "")
    found = re.search(r"\b(USD|BRL|EUR|GBP|CAD|MXN)\b", hint)
    return found[1] if found else ""


def _today(messages: list[_Read]) -> date:
    hint = next((message.text for message in messages if message.role == "system"), "")
    found = re.search(r"today\D{0,40}(\d{4}-\d\d-\d\d)", hint, re.IGNORECASE)
    return date.fromisoformat(found[1]) if found else datetime.now(UTC).date()
