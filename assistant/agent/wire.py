"""Reading an endpoint's answer: bounded, with an end to patience, and no more of an error than is needed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from assistant.agent.failures import ModelUnavailable
from assistant.agent.stream import DONE, EventDecoder, StreamDamaged, StreamTooLarge, chunks_of, decode

LONGEST_ERROR_BODY: Final = 65_536
REST_SECONDS: Final = 0.04
"""After a read that had to wait: words are shown in frames as far apart, and each time one wakes has its price."""
WAITED_SECONDS: Final = 0.002
"""A piece that took longer to come was not there yet; those that lie there already are read without a rest."""


class BadStatus(Exception):
    """An answer other than 200; `body` is decoded JSON or text."""

    def __init__(self, status: int, headers: httpx2.Headers, body: Any) -> None:
        super().__init__(f"status {status}")
        self.status, self.headers, self.body = status, headers, body


class TooLate(Exception):
    """`silent`: nothing came for too long. `too_long`: the reply as a whole takes too long."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Patience:
    """`deadline` by the event loop's clock, seconds of silence, bytes of the whole answer."""

    deadline: float
    idle_seconds: float
    most_bytes: int


async def payloads(
    response: httpx2.Response, patience: Patience, *, may_rest: Callable[[], bool]
) -> AsyncGenerator[Any, None]:
    """The answer's chunks as decoded JSON, and `[DONE]`. An endpoint that does not stream gives one.

    Before it `may_rest` each piece is read as soon as it comes: somebody waits for the first word.

    Raises:
        TooLate, StreamTooLarge, StreamDamaged, ErrorInStream: see there.
        ModelUnavailable: it is a web page.
        httpx2.HTTPError: the connection broke.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        raise ModelUnavailable("not_a_model", "the endpoint answers with a web page", retryable=False)
    loop, decoder, whole = asyncio.get_running_loop(), EventDecoder(), bytearray()
    asked = loop.time()
    async with aclosing(_pieces(response, patience)) as pieces:
        async for piece in pieces:
            waited = loop.time() - asked > WAITED_SECONDS
            if kind == "application/json":
                whole += piece
                continue
            over = False
            for event in decoder.feed(piece):
                for chunk in chunks_of(event):
                    over = over or chunk is DONE
                    yield chunk
            if waited and not over and may_rest():
                await asyncio.sleep(REST_SECONDS)
            asked = loop.time()
    if kind == "application/json":
        yield decode(whole.decode("utf-8", "replace"))
        return
    try:
        last = [chunk for event in decoder.close() for chunk in chunks_of(event)]
    except StreamDamaged:
        return  # half a line: the connection was cut there
    for chunk in last:
        yield chunk


async def _pieces(response: httpx2.Response, patience: Patience) -> AsyncGenerator[bytes, None]:
    loop = asyncio.get_running_loop()
    size = 0
    pieces = response.aiter_bytes()
    try:
        while True:
            limit = min(patience.deadline, loop.time() + patience.idle_seconds)
            try:
                async with asyncio.timeout_at(limit):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise TooLate("too_long" if limit == patience.deadline else "silent") from None
            size += len(piece)
            if size > patience.most_bytes:
                raise StreamTooLarge("the model's stream is too long")
            yield piece
    finally:
        await pieces.aclose()


async def refuse_bad_status(response: httpx2.Response) -> None:
    """A response hook: the `openai` package would read a failed answer's whole body, however long.

    Raises:
        BadStatus: the status is not 200.
    """
    if response.status_code == 200:
        return
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > LONGEST_ERROR_BODY:
            break
    text = body[:LONGEST_ERROR_BODY].decode("utf-8", "replace")
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        decoded = text
    raise BadStatus(response.status_code, response.headers, decoded)
