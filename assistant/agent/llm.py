"""The only module that knows the model's API.

Chat Completions over the `openai` package's client, streamed. Two things are done past its own types, both
measured: the lines of the stream are decoded by hand (typed chunks cost three times as much), and the request
is written here (the typed way walks and copies the whole history, and every tool, on the event loop).
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import anyio
import httpx2
import openai

from assistant.agent.endpoint_errors import from_status, from_stream
from assistant.agent.failures import (
    ModelError,
    ModelInterrupted,
    ModelRateLimited,
    ModelRefused,
    ModelRejectedRequest,
    ModelUnavailable,
)
from assistant.agent.model_settings import ModelSettings
from assistant.agent.replies import (
    BROKEN_OFF,
    CUT_BY_FILTER,
    Assembler,
    CallStarted,
    Finished,
    TextDelta,
    estimated_usage,
)
from assistant.agent.stream import DONE, ErrorInStream, StreamDamaged, StreamTooLarge
from assistant.agent.wire import BadStatus, Patience, TooLate, payloads, refuse_bad_status

logger = logging.getLogger(__name__)

LAST_BYTE_SECONDS: Final = 0.2
MOST_TOOL_LISTS: Final = 64
NO_CONNECTION: Final = (httpx2.RequestError, ssl.SSLError, anyio.EndOfStream)
"""What the package takes for a connection error: the transport lets two of a handshake's own through."""
Chunks = openai.AsyncStream[object]


@dataclass(frozen=True, slots=True)
class Retrying:
    """The endpoint could not answer yet; the same request goes out again after `seconds`."""

    attempt: int
    seconds: float
    code: str


ModelEvent = TextDelta | CallStarted | Retrying | Finished
Message = dict[str, Any]


class Model:
    """One endpoint's client: make one for a process and event loop, and close it at the end."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self._asks_usage = settings.asks_usage
        headers = {"Accept-Encoding": "identity"}
        if settings.azure:
            headers["api-key"] = settings.api_key
        self._http = httpx2.AsyncClient(
            limits=httpx2.Limits(
                max_connections=settings.connections, max_keepalive_connections=settings.connections // 4
            ),
            timeout=httpx2.Timeout(settings.connect_seconds, read=None),
            follow_redirects=False,
            trust_env=not settings.loopback,
            event_hooks={"response": [refuse_bad_status]},
        )
        self._client = openai.AsyncOpenAI(
            api_key=settings.api_key or "none",
            base_url=settings.base_url,
            max_retries=0,
            timeout=httpx2.Timeout(settings.connect_seconds, read=None),
            default_headers=headers,
            default_query=dict(settings.query),
            http_client=self._http,
        )
        self._tools: dict[tuple[int, ...], tuple[Sequence[dict[str, Any]], str]] = {}
        self._first: httpx2.Request | None = None

    async def aclose(self) -> None:
        await self._client.close()

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]] = (),
        *,
        seconds: float | None = None,
        max_output_tokens: int | None = None,
    ) -> AsyncGenerator[ModelEvent, None]:
        """Ask for one reply; the last event is `Finished`. Close the generator (`aclosing`) to hang up.

        `seconds` and `max_output_tokens` are this call's budget, below those of the settings. Failures are
        retried only while nothing has been shown of the reply.

        Raises:
            ModelRateLimited, ModelUnavailable, ModelRejectedRequest: no reply began.
            ModelRefused: the model or a filter declined; nothing of the reply may run.
            ModelInterrupted: it began and had no proper end; nothing of it may run (H39).
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + min(seconds or self.settings.total_seconds, self.settings.total_seconds)
        body = self._body(messages, tools, max_output_tokens)
        taken = frozenset(call["id"] for message in messages for call in message.get("tool_calls") or ())
        for attempt in range(self.settings.retries + 1):
            begun = False
            try:
                async with aclosing(self._attempt(body, taken, deadline)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except ModelError as error:
                if self._drop_usage(body, error):
                    wait = 0.0
                elif begun or not error.retryable or attempt == self.settings.retries:
                    raise
                else:
                    wait = self._wait(error, attempt)
                if wait > self.settings.longest_wait_seconds or loop.time() + wait >= deadline:
                    raise
                logger.warning("Model request: %s, again in %.1f s: %.200r", error.code, wait, str(error))
                yield Retrying(attempt + 1, wait, error.code)
                await asyncio.sleep(wait)

    def _body(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], most: int | None) -> Message:
        """The request."""
        body: Message = {"model": self.settings.model, "stream": True, "messages": list(messages)}
        if tools:
            body["tools"] = list(tools)
        if self._asks_usage:
            body["stream_options"] = {"include_usage": True}
        if self.settings.temperature is not None:
            body["temperature"] = self.settings.temperature
        bounds = [bound for bound in (most, self.settings.max_output_tokens) if bound]
        if bounds:
            body[self.settings.length_parameter] = min(bounds)
        return body

    def _written(self, body: Message) -> bytes:
        """The request as JSON. Raises UnicodeEncodeError, ValueError or TypeError where it cannot be written."""
        rest = {name: value for name, value in body.items() if name != "tools"}
        text = json.dumps(rest, ensure_ascii=False, allow_nan=False)
        if tools := body.get("tools"):
            text = f'{text[:-1]}, "tools": {self._tools_written(tools)}}}'
        return text.encode()

    def _tools_written(self, tools: Sequence[dict[str, Any]]) -> str:
        """A hundred schemas are the same ones each time: their text is kept, as long as they are."""
        key = tuple(map(id, tools))
        if key not in self._tools:
            if len(self._tools) >= MOST_TOOL_LISTS:
                self._tools.clear()
            self._tools[key] = (tools, json.dumps(tools, ensure_ascii=False, allow_nan=False))
        return self._tools[key][1]

    def _drop_usage(self, body: Message, error: ModelError) -> bool:
        """Some servers refuse `stream_options`: ask without it, from now on."""
        refused = isinstance(error, ModelRejectedRequest) and "stream_options" in str(error)
        if not refused or body.pop("stream_options", None) is None:
            return False
        self._asks_usage = False
        return True

    def _wait(self, error: ModelError, attempt: int) -> float:
        """Seconds until the next attempt: what the endpoint asks for, else doubled each time, with jitter."""
        if isinstance(error, ModelRateLimited | ModelUnavailable) and error.retry_after is not None:
            return error.retry_after
        jitter = random.uniform(0.75, 1.25)  # noqa: S311 (nothing secret)
        return float(self.settings.first_wait_seconds * 2**attempt * jitter)

    async def _attempt(
        self, body: Message, taken: frozenset[str], deadline: float
    ) -> AsyncGenerator[TextDelta | CallStarted | Finished, None]:
        assembler = Assembler(self.settings.limits, taken)
        ended = False
        try:
            async with (
                self._opened(body, deadline) as response,
                aclosing(payloads(response, self._patience(deadline), may_rest=lambda: assembler.begun)) as chunks,
            ):
                async for chunk in chunks:
                    if chunk is DONE:
                        ended = True
                        await _drain(chunks)
                        break
                    for event in assembler.take(chunk):
                        yield event
        except ErrorInStream as error:
            raise self._failed_inside(from_stream(error.body), assembler) from error
        except StreamDamaged as error:
            raise self._interrupted("damaged", assembler, error) from error
        except StreamTooLarge as error:
            raise ModelInterrupted("too_large", str(error), text=assembler.text) from error
        except TooLate as error:
            raise ModelInterrupted(error.code, text=assembler.text) from error
        except httpx2.HTTPError as error:
            if not assembler.finish_reason:
                raise self._interrupted("cut", assembler, error) from error
        reason = assembler.finish_reason
        if reason in CUT_BY_FILTER or assembler.refusal:
            raise ModelRefused(text=assembler.text, refusal=assembler.refusal)
        if reason in BROKEN_OFF:
            raise self._interrupted("error", assembler, None)
        if not reason and not ended:
            raise self._interrupted("cut", assembler, None)
        reply = assembler.finish()
        yield Finished(reply if reply.usage else replace(reply, usage=estimated_usage(body["messages"], reply)))

    @asynccontextmanager
    async def _opened(self, body: Message, deadline: float) -> AsyncIterator[httpx2.Response]:
        """Send the request and wait for the answer's head."""
        loop = asyncio.get_running_loop()
        try:
            content = self._written(body)
            async with asyncio.timeout_at(min(deadline, loop.time() + self.settings.idle_seconds)):
                response = await self._sent(content)
        except BadStatus as error:
            raise from_status(error.status, error.headers, error.body) from error
        except TimeoutError as error:
            raise ModelUnavailable("timeout", "the endpoint does not answer", retryable=False) from error
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            raise ModelUnavailable("timeout", "no connection in time") from error
        except (openai.APIConnectionError, *NO_CONNECTION) as error:
            raise ModelUnavailable("connection", str(error.__cause__ or error)) from error
        except (UnicodeEncodeError, ValueError, TypeError) as error:
            raise ModelRejectedRequest(f"the request cannot be written as JSON: {error}") from error
        try:
            yield response
        finally:
            await response.aclose()

    async def _sent(self, content: bytes) -> httpx2.Response:
        """The answer's head. The package makes the first request; address, authentication and headers of those after
        it are that one's, for the package takes longer to make them than a near endpoint to answer.
        """
        if self._first is None:
            path = "/chat/completions"
            stream = await self._client.post(path, cast_to=object, content=content, stream=True, stream_cls=Chunks)
            self._first = stream.response.request
            return stream.response
        first = self._first
        headers = [(name, value) for name, value in first.headers.raw if name.lower() != b"content-length"]
        again = httpx2.Request("POST", first.url, headers=headers, content=content, extensions=first.extensions)
        return await self._http.send(again, stream=True)

    def _patience(self, deadline: float) -> Patience:
        return Patience(deadline, self.settings.idle_seconds, self.settings.limits.stream)

    def _failed_inside(self, error: ModelError, assembler: Assembler) -> ModelError:
        if not assembler.begun:
            return error
        if isinstance(error, ModelRefused):
            return ModelRefused(text=assembler.text)
        return ModelInterrupted("error", str(error), text=assembler.text)

    def _interrupted(self, code: str, assembler: Assembler, error: Exception | None) -> ModelInterrupted:
        """A reply that had not begun may be asked for again."""
        return ModelInterrupted(code, str(error or ""), text=assembler.text, retryable=not assembler.begun)


async def _drain(chunks: AsyncGenerator[Any, None]) -> None:
    """Read the answer to its last byte, which mostly is there already: only then can the connection serve again."""
    with suppress(TimeoutError, StreamDamaged, StreamTooLarge, ErrorInStream):
        async with asyncio.timeout(LAST_BYTE_SECONDS):
            async for _ in chunks:
                pass
