"""A model's reply, put together from the chunks of a Chat Completions stream.

Pure: chunks (decoded JSON) in, events out. Servers that call themselves compatible differ in what they leave
out; each tolerance here was met in the field and has its case (H36 to H41). What is lost or cut is never
guessed.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assistant.agent.arguments import Problem, has_surrogates, join_surrogates, read_arguments, storable
from assistant.agent.stream import ErrorInStream, StreamDamaged, StreamTooLarge
from assistant.agent.toolcalls import CallSlot, CallSlots

CUT_BY_LENGTH: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "max_length"})
CUT_BY_FILTER: Final = frozenset(
    {
        "content_filter",
        "safety",
        "recitation",
        "prohibited_content",
        "blocklist",
        "spii",
        "refusal",
        "guardrail_intervened",
    }
)
BROKEN_OFF: Final = frozenset(
    {"error", "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource"}
)
NOT_WHOLE: Final = CUT_BY_LENGTH | CUT_BY_FILTER | BROKEN_OFF


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one reply: characters of text and of one call's arguments, calls, bytes of the whole stream."""

    text: int = 200_000
    arguments: int = 64_000
    calls: int = 128
    stream: int = 16_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them; `estimated` where it did not say."""

    prompt: int
    completion: int
    total: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. It may run only if `problem` is None; `arguments_text` is what the model sent, for the
    record.
    """

    id: str
    name: str
    arguments_text: str
    arguments: dict[str, Any] | None
    problem: Problem | None = None

    @property
    def arguments_json(self) -> str:
        """What is stored and replayed: the model's own text if it is whole, else `{}` (H40)."""
        return self.arguments_text if self.problem is None and self.arguments_text.strip()[:1] == "{" else "{}"


def replayable_name(name: str) -> str:
    """The name as an endpoint takes it back: a made-up name with other characters would refuse the whole history."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply. `finish_reason` is the endpoint's word, lower case, "" if it gave none.

    `complete` is False when the token limit cut it: its calls carry the problem `cut`, also those that look
    whole.
    """

    text: str
    calls: tuple[Call, ...]
    finish_reason: str
    usage: Usage | None
    complete: bool


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call begins to arrive; `index` counts the calls of this reply from 0."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class Finished:
    reply: Reply


@dataclass(slots=True)
class Assembler:
    """Takes one reply's chunks. `taken` are the call ids that the conversation already uses."""

    limits: Limits = field(default_factory=Limits)
    taken: Collection[str] = ()
    begun: bool = False
    finish_reason: str = ""
    refusal: str = ""
    usage: Usage | None = None
    _text: list[str] = field(default_factory=list)
    _length: int = 0
    _half: str = ""
    _slots: CallSlots = field(default_factory=CallSlots)

    @property
    def text(self) -> str:
        return "".join(self._text)

    def take(self, chunk: Any) -> list[TextDelta | CallStarted]:
        """Take one chunk; return what a person can be shown of it.

        Raises:
            ErrorInStream: the chunk is an error.
            StreamDamaged: it is not a chunk at all: a piece may be missing.
            StreamTooLarge: text, calls or arguments go beyond `limits`.
        """
        if not isinstance(chunk, dict):
            raise StreamDamaged("a chunk of the model's stream is not an object")
        if chunk.get("error") or chunk.get("object") == "error":
            raise ErrorInStream(chunk.get("error") or chunk)
        self.usage = _usage(chunk.get("usage")) or self.usage
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return []
        events: list[TextDelta | CallStarted] = []
        for choice in choices:
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                self._choose(choice, events)
        self.begun = self.begun or bool(events)
        return events

    def finish(self) -> Reply:
        """The reply as a whole. Only after a proper end (`[DONE]` or a finish reason)."""
        length = self.finish_reason in CUT_BY_LENGTH
        ids = set(self.taken)
        calls = tuple(self._call(slot, ids, cut=length) for slot in self._slots.whole())
        return Reply(self.text, calls, self.finish_reason, self.usage, complete=not length)

    def _choose(self, choice: dict[str, Any], events: list[TextDelta | CallStarted]) -> None:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if isinstance(delta, dict):
            text = self._readable(_plain_text(delta.get("content")))
            if text:
                self._add_text(text)
                events.append(TextDelta(text))
            if isinstance(refusal := delta.get("refusal"), str):
                self.refusal = (self.refusal + refusal)[: self.limits.text]
            for position, slot in self._slots.take(delta, self.limits.arguments):
                events.append(CallStarted(position, slot.name))
            if len(self._slots) > self.limits.calls:
                raise StreamTooLarge(f"more than {self.limits.calls} tool calls in one reply")
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason and self.finish_reason not in NOT_WHOLE:
            self.finish_reason = reason.lower()[:40]  # "tool_calls" after "length" hides the cut (H40)

    def _readable(self, text: str) -> str:
        """Hold back half a character until its other half comes; a half that never finds one is shown as `�`."""
        if not self._half and not has_surrogates(text):
            return text.replace("\x00", "�")
        text = join_surrogates(self._half + text)
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return storable(text)

    def _add_text(self, text: str) -> None:
        self._length += len(text)
        if self._length > self.limits.text:
            raise StreamTooLarge("the reply's text is too long")
        self._text.append(text)

    def _call(self, slot: CallSlot, ids: set[str], *, cut: bool) -> Call:
        call_id = slot.id if slot.id and slot.id not in ids else f"call_{uuid.uuid4().hex[:24]}"
        ids.add(call_id)
        text = join_surrogates(slot.text)
        arguments: dict[str, Any] | None = None
        problem: Problem | None
        if cut:
            problem = "cut"
        elif slot.too_large:
            problem = "too_large"
        elif not slot.name:
            problem = "no_name"
        else:
            arguments, problem = read_arguments(text)
        return Call(call_id, slot.name, storable(text), arguments, problem)


def estimated_usage(messages: Sequence[Mapping[str, Any]], reply: Reply) -> Usage:
    """A rough count, four characters a token, for endpoints that do not count: budgets must not stand still."""
    prompt = sum(len(message.get("content") or "") + 16 for message in messages) // 4
    said = len(reply.text) + sum(len(call.arguments_text) + len(call.name) for call in reply.calls)
    return Usage(prompt, said // 4 + 1, prompt + said // 4 + 1, estimated=True)


def _plain_text(content: Any) -> str:
    """Text, or the text parts of a list of parts; thinking and anything else is not shown."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part for part in content if isinstance(part, dict) and part.get("type") in ("text", "output_text")]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _usage(found: Any) -> Usage | None:
    if not isinstance(found, dict):
        return None
    prompt, completion = _count(found.get("prompt_tokens")), _count(found.get("completion_tokens"))
    total = _count(found.get("total_tokens")) or prompt + completion
    return Usage(prompt, completion, total) if total else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0
