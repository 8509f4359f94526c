"""The endpoint: POST /v1/chat/completions, streaming and not, and GET /v1/models. A plain ASGI application."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any, Final

from assistant.agent.rehearsal import hostile, model
from assistant.agent.rehearsal.acts import Attack, Cut, Pause, Play, Rehearse, Silence, Status
from assistant.agent.rehearsal.protocol import refusal
from assistant.agent.rehearsal.script import Request, Script, Step
from assistant.agent.rehearsal.situation import Situation
from assistant.agent.rehearsal.sse import Writer

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LONGEST_BODY: Final = 64_000_000
MODELS: Final = ("rehearsal", "hostile-1")
JSON_TYPE: Final = [(b"content-type", b"application/json")]
STREAM_TYPE: Final = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]


class RehearsalApp:
    """`delay` is the pause between two pieces, in seconds. `received` holds the last requests, for tests.

    The model named in the request decides who answers: `hostile-<seed>` is the hijacked one, any other the
    rehearsal model. A script comes before both.
    """

    def __init__(self, *, script: Script | None = None, delay: float = 0.0, remember: int = 0) -> None:
        self.script = script
        self.delay = delay
        self.received: deque[dict[str, Any]] = deque(maxlen=remember)
        self.open_streams = 0
        self.hung_up = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        match scope["method"], scope["path"].rstrip("/"):
            case "GET", "/v1/models":
                models = [{"id": name, "object": "model", "created": 0, "owned_by": "aval"} for name in MODELS]
                await _answer(send, 200, {"object": "list", "data": models})
            case "POST", "/v1/chat/completions":
                await self._complete(receive, send)
            case _, "/v1/models" | "/v1/chat/completions":
                await _fail(send, 405, "method not allowed")
            case _:
                await _fail(send, 404, "there is nothing at this address")

    async def _complete(self, receive: Receive, send: Send) -> None:
        raw = await _body(receive)
        if raw is None:
            await _fail(send, 413, "the request is too large")
            return
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            await _fail(send, 400, "the request is not JSON")
            return
        if isinstance(body, dict):
            self.received.append(body)
        if problem := refusal(body):
            await _fail(send, 400, problem)
            return
        step = self._step(body)
        if status := next((act for act in step.do if isinstance(act, Status)), None):
            await _answer(send, status.code, status.body, status.headers)
            return
        name = hashlib.sha256(raw).hexdigest()[:20]
        wants_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        writer = Writer(name, body["model"], len(raw) // 4, wants_usage)
        if not body.get("stream"):
            await _answer(send, 200, writer.whole(step.do))
            return
        await self._stream(writer, step, receive, send)

    def _step(self, body: dict[str, Any]) -> Step:
        situation = Situation.read(body)
        step = self.script.take(_request(body, situation)) if self.script else Step((Rehearse(),))
        play: list[Any] = []
        for act in step.do:
            match act:
                case Rehearse() if body["model"].startswith("hostile-"):
                    seed = body["model"].removeprefix("hostile-")
                    play += hostile.play(situation, int(seed) if seed.isdecimal() else 0, ())
                case Rehearse():
                    play += model.play(situation)
                case Attack(seed, refs):
                    play += hostile.play(situation, seed, refs)
                case _:
                    play.append(act)
        return Step(tuple(play), network_chunk=step.network_chunk)

    async def _stream(self, writer: Writer, step: Step, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(_hang_up(receive))
        self.open_streams += 1
        try:
            await send({"type": "http.response.start", "status": 200, "headers": STREAM_TYPE})
            for piece in self._pieces(writer, step.do):
                match piece:
                    case bytes():
                        for part in _parts(piece, step.network_chunk):
                            await send({"type": "http.response.body", "body": part, "more_body": True})
                            await asyncio.sleep(self.delay)
                    case Pause(seconds):
                        await asyncio.wait([gone], timeout=seconds)
                    case Silence():
                        await gone
                    case Cut():
                        return  # without the last chunk: the server drops the connection
                if gone.done():
                    self.hung_up += 1
                    return
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self.open_streams -= 1
            gone.cancel()

    def _pieces(self, writer: Writer, play: Play) -> Iterator[bytes | Pause | Silence | Cut]:
        for act in play:
            if isinstance(act, Pause | Silence | Cut):
                yield act
            else:
                yield from writer.pieces(act)
        yield from writer.ending(play)


def _request(body: dict[str, Any], situation: Situation) -> Request:
    first = next((words for words in situation.user_texts), "")
    return Request(
        conversation=str(body.get("user") or first),
        last_user=situation.said,
        calls_in_turn=situation.calls_in_turn,
        last_tool=situation.done[-1].name if situation.done else "",
        last_record=json.dumps(situation.records[-1].data, ensure_ascii=False) if situation.records else "",
    )


def _parts(piece: bytes, size: int) -> Iterator[bytes]:
    if not size:
        yield piece
        return
    for at in range(0, len(piece), size):
        yield piece[at : at + size]


async def _body(receive: Receive) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LONGEST_BODY:
            return None
        if not message.get("more_body"):
            return bytes(body)


async def _hang_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _fail(send: Send, status: int, message: str) -> None:
    kind = "invalid_request_error" if status < 500 else "server_error"
    await _answer(send, status, {"error": {"message": message, "type": kind, "param": None, "code": None}})


async def _answer(send: Send, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
    """A whole answer: JSON, or text as it stands where a script gives text."""
    sent = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    given = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
    kinds = [] if any(name == b"content-type" for name, _ in given) else JSON_TYPE
    await send({"type": "http.response.start", "status": status, "headers": [*kinds, *given]})
    await send({"type": "http.response.body", "body": sent})
