"""What the endpoint can do in answer to one request: speak, call tools, and misbehave on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Say:
    """Text, streamed in small pieces."""

    text: str


@dataclass(frozen=True, slots=True)
class CallTool:
    """A tool call; `arguments` is the text as it goes out, whether it is JSON or not."""

    name: str
    arguments: str = "{}"
    id: str = ""
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """One event with this object as its data."""

    data: Any


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes, exactly so."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Silence:
    """Send nothing more until the other side hangs up."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Drop the connection in the middle of the answer."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The closing chunk with its finish reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Count:
    """The usage chunk."""

    usage: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """`[DONE]`."""


@dataclass(frozen=True, slots=True)
class End:
    """A clean end of the answer without anything more."""


@dataclass(frozen=True, slots=True)
class Status:
    """An answer other than 200, or one that is not a stream."""

    code: int
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Rehearse:
    """What the rehearsal model itself would do here."""


@dataclass(frozen=True, slots=True)
class Attack:
    """What a hijacked model would do here (hostile.py)."""

    seed: int
    refs: tuple[str, ...] = ()


Act = Say | CallTool | Chunk | Raw | Pause | Silence | Cut | Finish | Count | Done | End | Status | Rehearse | Attack
Play = tuple[Act, ...]


def closes(act: Act) -> bool:
    """Whether the answer's end is written by hand after this act, so that none is added."""
    return isinstance(act, Finish | Done | End | Cut | Silence | Status | Rehearse | Attack)
