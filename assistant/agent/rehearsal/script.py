"""A scenario as data: what the endpoint does, step by step, in place of the rehearsal model.

    {"steps": [
      {"do": [{"status": 429, "headers": {"retry-after": "1"}}]},
      {"do": [{"text": "One moment."}, {"call": {"name": "list_leads", "arguments": {}}}]},
      {"do": [{"text": "Half a sen"}, {"cut": true}], "network_chunk": 1},
      {"when": {"user": "refund", "call": 0}, "times": 1, "do": [{"hostile": 7, "refs": ["C-0999"]}]},
      {"do": [{"rehearse": true}]}
     ],
     "after": "fail"}

Steps without `when` are taken in their order, one a request, by each conversation for itself. A conversation
is known by the request's `user`, else by its first user message. Steps with `when` come first where they fit:
`user` (a regular expression in the last user message), `call` (model calls before this one in the turn),
`after` (the tool whose result stands last), `record` (a regular expression in the last record); at most
`times` times. When nothing is left, `after` says what happens: `rehearse` or `fail` (status 500, the
default).

Acts: text, call, chunk, raw, raw_hex, delay, silence, cut, finish, usage, done, end, status, rehearse,
hostile. Unless an act ends the answer itself, the fitting finish reason, the usage and [DONE] are added.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from assistant.agent.rehearsal.acts import (
    Act,
    Attack,
    CallTool,
    Chunk,
    Count,
    Cut,
    Done,
    End,
    Finish,
    Pause,
    Play,
    Raw,
    Rehearse,
    Say,
    Silence,
    Status,
)


class BadScript(ValueError):
    """The scenario has a step that means nothing; the message says which."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a step is matched against."""

    conversation: str
    last_user: str
    calls_in_turn: int
    last_tool: str
    last_record: str


@dataclass(frozen=True, slots=True)
class Step:
    do: Play
    when: dict[str, Any] | None = None
    times: int | None = None
    network_chunk: int = 0

    def fits(self, request: Request) -> bool:
        when = self.when or {}
        if "user" in when and not re.search(when["user"], request.last_user, re.IGNORECASE):
            return False
        if "call" in when and when["call"] != request.calls_in_turn:
            return False
        if "after" in when and when["after"] != request.last_tool:
            return False
        return "record" not in when or re.search(when["record"], request.last_record, re.IGNORECASE) is not None


EXHAUSTED = Step((Status(500, {}, {"error": {"message": "the script has no further step", "type": "server_error"}}),))


@dataclass(slots=True)
class Script:
    """Steps and how far each conversation has come."""

    steps: tuple[Step, ...]
    after: Literal["rehearse", "fail"] = "fail"
    _next: Counter[str] = field(default_factory=Counter)
    _used: Counter[int] = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path) -> Script:
        return cls.from_data(json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Script:
        """Read a scenario. Raises BadScript."""
        after = data.get("after", "fail")
        if after not in ("rehearse", "fail"):
            raise BadScript(f"after is {after!r}; it may be rehearse or fail")
        return cls(tuple(_step(number, step) for number, step in enumerate(data["steps"])), after)

    def take(self, request: Request) -> Step:
        """The step for this request."""
        for number, step in enumerate(self.steps):
            left = step.times is None or self._used[number] < step.times
            if step.when is not None and left and step.fits(request):
                self._used[number] += 1
                return step
        sequence = [step for step in self.steps if step.when is None]
        position = self._next[request.conversation]
        self._next[request.conversation] += 1
        if position < len(sequence):
            return sequence[position]
        return Step((Rehearse(),)) if self.after == "rehearse" else EXHAUSTED


def _step(number: int, data: dict[str, Any]) -> Step:
    unknown = set(data) - {"do", "when", "times", "network_chunk"}
    if unknown or not isinstance(data.get("do"), list):
        raise BadScript(f"step {number}: needs `do`, and knows no {', '.join(sorted(unknown)) or 'other form'}")
    strange = set(data.get("when") or {}) - {"user", "call", "after", "record"}
    if strange:
        raise BadScript(f"step {number}: `when` knows no {', '.join(sorted(strange))}")
    acts = tuple(_act(number, act) for act in data["do"])
    return Step(acts, data.get("when"), data.get("times"), data.get("network_chunk", 0))


def _act(number: int, data: dict[str, Any]) -> Act:
    match data:
        case {"text": str(text)}:
            return Say(text)
        case {"call": {"name": str(name)}}:
            wanted = data["call"]
            arguments = wanted.get("arguments", {})
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            return CallTool(name, text, wanted.get("id", ""), wanted.get("index"))
        case {"chunk": chunk}:
            return Chunk(chunk)
        case {"raw": str(text)}:
            return Raw(text.encode("utf-8", "surrogatepass"))
        case {"raw_hex": str(text)}:
            return Raw(bytes.fromhex(text))
        case {"delay": int() | float() as seconds}:
            return Pause(seconds)
        case {"silence": True}:
            return Silence()
        case {"cut": True}:
            return Cut()
        case {"finish": str(reason)}:
            return Finish(reason)
        case {"usage": dict(usage)}:
            return Count(usage)
        case {"done": True}:
            return Done()
        case {"end": True}:
            return End()
        case {"status": int(code), **more}:
            return Status(code, more.get("headers", {}), more.get("body"))
        case {"rehearse": True}:
            return Rehearse()
        case {"hostile": int(seed), **more}:
            return Attack(seed, tuple(more.get("refs", ())))
        case _:
            raise BadScript(f"step {number}: no act is {json.dumps(data)[:80]}")
