"""Acts as bytes on the wire: the chunks of a Chat Completions stream, and the whole object for who does not
stream.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from assistant.agent.rehearsal.acts import Act, CallTool, Chunk, Count, Done, Finish, Play, Raw, Say, closes

PIECE: Final = re.compile(r"\s*\S{1,5}|\s+")
ARGUMENT_PIECE: Final = 24
FIRST_MOMENT: Final = 1_764_547_200  # the replies of a rehearsal have no time of their own


@dataclass(slots=True)
class Writer:
    """Writes one reply. `name` makes its ids, and those of its calls, its own and the same each time."""

    name: str
    model: str
    prompt_tokens: int
    wants_usage: bool
    _calls: Iterator[int] = field(default_factory=itertools.count)
    _called: bool = False
    _written: int = 0

    def pieces(self, act: Act) -> Iterator[bytes]:
        """The act as events; each is one small piece of the stream."""
        match act:
            case Say(text):
                for piece in PIECE.findall(text):
                    self._written += 1
                    yield self._event({"content": piece})
            case CallTool():
                yield from self._call(act)
            case Chunk(data):
                yield _line(data)
            case Raw(data):
                yield data
            case Finish(reason):
                yield self._event({}, reason)
            case Count(usage):
                yield _line(self._frame([]) | {"usage": usage})
            case Done():
                yield b"data: [DONE]\n\n"

    def ending(self, play: Play) -> Iterator[bytes]:
        """Finish reason, usage and [DONE], unless the play ends by itself."""
        if any(closes(act) for act in play):
            return
        yield from self.pieces(Finish("tool_calls" if self._called else "stop"))
        if self.wants_usage:
            yield from self.pieces(Count(self.usage()))
        yield from self.pieces(Done())

    def usage(self) -> dict[str, int]:
        total = self.prompt_tokens + self._written
        return {"prompt_tokens": self.prompt_tokens, "completion_tokens": self._written, "total_tokens": total}

    def whole(self, play: Play) -> dict[str, Any]:
        """The reply as one object (`stream` false)."""
        text = "".join(act.text for act in play if isinstance(act, Say))
        calls = [
            {"id": self._id(act, next(self._calls)), "type": "function"}
            | {"function": {"name": act.name, "arguments": act.arguments}}
            for act in play
            if isinstance(act, CallTool)
        ]
        self._written = len(PIECE.findall(text)) + len(calls)
        message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        return self._frame([choice]) | {"object": "chat.completion", "usage": self.usage()}

    def _call(self, act: CallTool) -> Iterator[bytes]:
        number = next(self._calls)
        self._called = True
        index = number if act.index is None else act.index
        start = {"index": index, "id": self._id(act, number), "type": "function"}
        yield self._event({"tool_calls": [start | {"function": {"name": act.name, "arguments": ""}}]})
        for at in range(0, len(act.arguments), ARGUMENT_PIECE):
            piece = act.arguments[at : at + ARGUMENT_PIECE]
            self._written += 1
            yield self._event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def _id(self, act: CallTool, number: int) -> str:
        return act.id or f"call_{self.name}_{number}"

    def _event(self, delta: dict[str, Any], reason: str | None = None) -> bytes:
        return _line(self._frame([{"index": 0, "delta": delta, "finish_reason": reason}]))

    def _frame(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self.name}",
            "object": "chat.completion.chunk",
            "created": FIRST_MOMENT,
            "model": self.model,
            "choices": choices,
        }


def _line(data: Any) -> bytes:
    """One event. ASCII, because a script may hold half a surrogate pair."""
    return f"data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
