"""Server-sent events, decoded by hand from network chunks.

The typed chunks of the `openai` package cost more than everything else in a turn, so the lines are read here.
The decoder is pure: bytes in, events out.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

DONE: Final = "[DONE]"
LONGEST_EVENT: Final = 1_000_000
_BOM: Final = b"\xef\xbb\xbf"


class StreamDamaged(Exception):
    """Bytes that cannot be part of an undamaged stream. A piece may be missing: nothing of the reply may run."""


class StreamTooLarge(Exception):
    """A line, an event or a reply beyond its bound."""


class ErrorInStream(Exception):
    """The endpoint reported an error after it had answered 200."""

    def __init__(self, body: Any) -> None:
        super().__init__("the endpoint reported an error inside the stream")
        self.body = body


class ServerEvent(NamedTuple):
    """`name` is "message" unless the server named the event; `data` has its lines joined by line feeds."""

    name: str
    data: str


class EventDecoder:
    """Splits network chunks into events, whatever their line ends and wherever a chunk stops."""

    def __init__(self, longest_event: int = LONGEST_EVENT) -> None:
        self._longest = longest_event
        self._rest = bytearray()
        self._first_line = True
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events that `chunk` completes.

        Raises:
            StreamTooLarge: a line or an event is longer than the bound (bytes).
            StreamDamaged: a complete event is not UTF-8.
        """
        self._rest += chunk
        if b"\n" not in chunk and b"\r" not in chunk:
            if len(self._rest) > self._longest:
                raise StreamTooLarge("a line of the model's stream is too long")
            return []
        text = bytes(self._rest)
        held = b""
        if b"\r" in text:
            if text.endswith(b"\r"):
                text, held = text[:-1], b"\r"
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = text.split(b"\n")
        self._rest = bytearray(lines.pop() + held)
        if len(self._rest) > self._longest:
            raise StreamTooLarge("a line of the model's stream is too long")
        return self._read(lines)

    def close(self) -> list[ServerEvent]:
        """Return what the stream's end completes: the last event may lack its blank line, or even its line
        end.
        """
        lines = [line for line in bytes(self._rest).replace(b"\r", b"\n").split(b"\n") if line]
        self._rest.clear()
        return self._read([*lines, b""])

    def _read(self, lines: list[bytes]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for line in lines:
            if self._first_line:
                self._first_line = False
                line = line.removeprefix(_BOM)
            if not line:
                if self._data:
                    events.append(self._event())
                self._name = ""
                continue
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                self._add(value)
            elif field == b"error":  # llama.cpp's server writes its errors so
                self._name = "error"
                self._add(value)
            elif field == b"event":
                self._name = value.decode("utf-8", "replace")
        return events

    def _add(self, value: bytes) -> None:
        self._data.append(value)
        self._size += len(value)
        if self._size > self._longest:
            raise StreamTooLarge("an event of the model's stream is too long")

    def _event(self) -> ServerEvent:
        data = b"\n".join(self._data)
        self._data = []
        self._size = 0
        try:
            return ServerEvent(self._name or "message", data.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise StreamDamaged("the model's stream is not UTF-8") from error


def chunks_of(event: ServerEvent) -> list[Any]:
    """The chunk of an event, or `[DONE]`. Servers that forget the blank lines between events make it several.

    Raises:
        ErrorInStream: the event is an error.
        StreamDamaged: it is not JSON.
    """
    data = event.data.strip()
    if event.name == "error":
        try:
            body = decode(data)
        except StreamDamaged:
            body = data
        raise ErrorInStream(body)
    if "\n" in data:
        try:
            return [json.loads(data)]
        except (ValueError, RecursionError):
            return [_chunk(line) for line in data.split("\n") if line.strip()]
    return [_chunk(data)] if data else []


def decode(text: str) -> Any:
    """JSON of a chunk; anything else means that the stream is damaged."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StreamDamaged("a chunk of the model's stream is not JSON") from error


def _chunk(data: str) -> Any:
    return DONE if data.strip() == DONE else decode(data)
