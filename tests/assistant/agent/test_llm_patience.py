"""Waiting for an endpoint: retries before the first word only, Retry-After, silence, hanging up."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from assistant.agent.endpoint_errors import retry_after
from assistant.agent.failures import (
    ModelError,
    ModelInterrupted,
    ModelRateLimited,
    ModelRefused,
    ModelRejectedRequest,
    ModelUnavailable,
)
from assistant.agent.llm import Model
from assistant.agent.model_settings import ModelSettings
from assistant.agent.rehearsal.serve import bound
from tests.assistant.agent.endpoint import HELLO, Endpoint, scripted

FINE = {"do": [{"text": "fine"}]}


def status(code: int, body: Any = None, **headers: str) -> dict[str, Any]:
    return {"do": [{"status": code, "headers": headers, "body": body or {"error": {"message": "no"}}}]}


async def test_a_rate_limit_is_waited_for_as_long_as_the_endpoint_asks() -> None:
    async with scripted(status(429, **{"retry-after": "0.3"}), FINE) as endpoint:
        started = time.monotonic()
        heard = await endpoint.ask()
    assert heard.text == "fine"
    assert [(retry.attempt, retry.seconds, retry.code) for retry in heard.retries] == [(1, 0.3, "rate_limited")]
    assert 0.3 <= time.monotonic() - started < 3


async def test_a_pause_that_is_too_long_is_not_waited_for() -> None:
    async with scripted(status(429, **{"retry-after": "3600"}), FINE) as endpoint:
        with pytest.raises(ModelRateLimited) as caught:
            await endpoint.ask()
        assert len(endpoint.requests) == 1
    assert caught.value.retry_after == 3600


async def test_a_storm_of_rate_limits_ends_after_the_retries() -> None:
    async with scripted(*[status(429)] * 9) as endpoint:
        with pytest.raises(ModelRateLimited):
            await endpoint.ask()
        assert len(endpoint.requests) == 3


NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=42), usegmt=True)}, 42),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=42), usegmt=True)}, 0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "9" * 400}, None),
        ({}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize("code", [408, 500, 502, 503, 529])
async def test_a_broken_server_is_asked_again(code: int) -> None:
    async with scripted(status(code), FINE) as endpoint:
        assert (await endpoint.ask()).text == "fine"


@pytest.mark.parametrize(
    ("code", "body", "kind", "word"),
    [
        (400, {"error": {"message": "bad"}}, ModelRejectedRequest, "rejected"),
        (422, {"detail": "bad"}, ModelRejectedRequest, "rejected"),
        (400, {"error": {"message": "x", "code": "context_length_exceeded"}}, ModelRejectedRequest, "too_long"),
        (400, {"error": {"message": "x", "code": "content_filter"}}, ModelRefused, "refused"),
        (401, {"error": {"message": "bad key"}}, ModelUnavailable, "credentials"),
        (403, "forbidden", ModelUnavailable, "credentials"),
        (404, {"error": {"message": "no such model"}}, ModelUnavailable, "not_found"),
        (429, {"error": {"message": "x", "code": "insufficient_quota"}}, ModelRateLimited, "no_quota"),
        (302, "moved", ModelUnavailable, "not_a_model"),
        (400, "[" * 90_000, ModelRejectedRequest, "rejected"),
    ],
)
async def test_what_cannot_get_better_is_not_asked_again(
    code: int, body: Any, kind: type[ModelError], word: str
) -> None:
    async with scripted(status(code, body, location="http://127.0.0.1:9/"), FINE) as endpoint:
        with pytest.raises(kind) as caught:
            await endpoint.ask()
        assert len(endpoint.requests) == 1
    assert caught.value.code == word


async def test_a_web_page_is_no_model() -> None:
    page = {"do": [{"status": 200, "headers": {"content-type": "text/html"}, "body": "<h1>Log in</h1>"}]}
    async with scripted(page) as endpoint:
        with pytest.raises(ModelUnavailable) as caught:
            await endpoint.ask()
    assert caught.value.code == "not_a_model"


async def test_nobody_listening_is_unavailable() -> None:
    listener = bound()
    port = listener.getsockname()[1]
    listener.close()
    model = Model(ModelSettings(base_url=f"http://127.0.0.1:{port}/v1", model="m", retries=1, first_wait_seconds=0.01))
    with pytest.raises(ModelUnavailable) as caught:
        await Endpoint(model, None).ask()  # type: ignore[arg-type]
    await model.aclose()
    assert caught.value.code == "connection"


@pytest.mark.parametrize("ending", [{"cut": True}, {"end": True}])
async def test_a_stream_that_breaks_before_its_first_word_is_asked_for_again(ending: dict[str, Any]) -> None:
    async with scripted({"do": [{"raw": ": hello\n\n"}, ending]}, FINE) as endpoint:
        heard = await endpoint.ask()
    assert (heard.text, [retry.code for retry in heard.retries]) == ("fine", ["cut"])


async def test_nothing_is_asked_again_after_the_first_word() -> None:
    async with scripted({"do": [{"text": "Half"}, {"cut": True}]}, FINE) as endpoint:
        with pytest.raises(ModelInterrupted):
            await endpoint.ask()
        assert len(endpoint.requests) == 1


async def test_silence_in_the_middle_interrupts_and_keeps_the_text() -> None:
    async with scripted({"do": [{"text": "Half"}, {"silence": True}]}, idle_seconds=0.3) as endpoint:
        started = time.monotonic()
        with pytest.raises(ModelInterrupted) as caught:
            await endpoint.ask()
    assert (caught.value.code, caught.value.text) == ("silent", "Half")
    assert time.monotonic() - started < 3


async def test_a_stream_that_only_drips_ends_at_the_deadline() -> None:
    drip = [act for _ in range(60) for act in ({"raw": ": still here\n\n"}, {"delay": 0.05})]
    async with scripted({"do": drip}, idle_seconds=1.0, total_seconds=0.4) as endpoint:
        started = time.monotonic()
        with pytest.raises(ModelInterrupted) as caught:
            await endpoint.ask()
    assert caught.value.code == "too_long"
    assert time.monotonic() - started < 2


async def test_a_calls_own_seconds_are_its_deadline() -> None:
    async with scripted({"do": [{"text": "Half"}, {"silence": True}]}) as endpoint:
        with pytest.raises(ModelInterrupted) as caught:
            await endpoint.ask(seconds=0.3)
    assert caught.value.code == "too_long"


async def test_hanging_up_closes_the_endpoints_stream_at_once() -> None:
    async with scripted({"do": [{"text": "Half"}, {"silence": True}]}) as endpoint:
        async with aclosing(endpoint.model.stream(HELLO)) as events:
            await anext(events)
            assert endpoint.app.open_streams == 1
        await asyncio.sleep(0.1)
        assert endpoint.app.open_streams == 0
        assert endpoint.app.hung_up == 1


async def test_a_server_that_refuses_stream_options_is_asked_without_them() -> None:
    refusal = status(400, {"error": {"message": "Unknown parameter: 'stream_options'."}})
    async with scripted(refusal, FINE, FINE) as endpoint:
        assert (await endpoint.ask()).text == "fine"
        await endpoint.ask()
        asked = ["stream_options" in request for request in endpoint.requests]
    assert asked == [True, False, False]


async def test_the_request_carries_messages_tools_and_bounds() -> None:
    tools = [{"type": "function", "function": {"name": "list_leads", "parameters": {"type": "object"}}}]
    async with scripted(FINE, temperature=0.2, max_output_tokens=900) as endpoint:
        await endpoint.ask(tools=tools, max_output_tokens=500)
    assert endpoint.requests == [
        {
            "model": "scripted",
            "stream": True,
            "messages": HELLO,
            "tools": tools,
            "stream_options": {"include_usage": True},
            "temperature": 0.2,
            "max_tokens": 500,
        }
    ]


async def test_each_request_has_the_head_of_the_first_whatever_its_body() -> None:
    heads: list[list[str]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower().splitlines()
        length = next(int(line.split()[1]) for line in head if line.startswith("content-length:"))
        await reader.readexactly(length)
        heads.append([line for line in head if not line.startswith("content-length:")])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        writer.write(
            b'data: {"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
        )
        writer.close()

    served = await asyncio.start_server(answer, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{served.sockets[0].getsockname()[1]}/openai/v1"
    model = Model(ModelSettings(base_url=base, model="m", api_key="secret", query=(("api-version", "2026-01"),)))
    endpoint = Endpoint(model, None)  # type: ignore[arg-type]
    said = [(await endpoint.ask([{"role": "user", "content": text}])).text for text in ("short", "longer " * 50, "")]
    await model.aclose()
    served.close()
    assert said == ["fine"] * 3
    assert heads[0] == heads[1] == heads[2]
    assert heads[0][0] == "post /openai/v1/chat/completions?api-version=2026-01 http/1.1"
    assert "authorization: bearer secret" in heads[0]


async def test_nobody_listening_any_more_is_unavailable_too() -> None:
    async with scripted(FINE, retries=0) as endpoint:
        assert (await endpoint.ask()).text == "fine"
    model = Model(endpoint.model.settings)
    model._first = endpoint.model._first
    with pytest.raises(ModelUnavailable) as caught:
        await Endpoint(model, endpoint.app).ask()
    await model.aclose()
    assert caught.value.code == "connection"


async def test_a_model_that_speaks_fast_is_heard_as_fast() -> None:
    words = [{"text": f"word {number} "} for number in range(200)]
    async with scripted({"do": words}) as endpoint:
        started = time.monotonic()
        heard = await endpoint.ask()
    assert len(heard.text.split()) == 400
    assert time.monotonic() - started < 3  # two hundred rests would take eight seconds


async def test_the_rehearsal_model_holds_no_piece_back_until_the_one_before_is_acknowledged() -> None:
    at_once: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def accepted(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at_once.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = bound()
    served = await asyncio.start_server(accepted, sock=listener)
    _reader, writer = await asyncio.open_connection(*listener.getsockname())
    assert await asyncio.wait_for(at_once, 5)
    writer.close()
    served.close()


async def test_a_history_that_cannot_be_written_is_a_rejected_request() -> None:
    async with scripted(FINE) as endpoint:
        with pytest.raises(ModelRejectedRequest):
            await endpoint.ask([{"role": "user", "content": "\ud800"}])
        assert endpoint.requests == []


async def test_many_streams_share_one_client() -> None:
    steps = [{"when": {"user": "."}, "do": [{"text": "one"}, {"delay": 0.2}, {"text": " two"}]}]
    async with scripted(*steps) as endpoint:
        started = time.monotonic()
        heard = await asyncio.gather(*(Endpoint(endpoint.model, endpoint.app).ask() for _ in range(40)))
    assert {one.text for one in heard} == {"one two"}
    assert time.monotonic() - started < 4
