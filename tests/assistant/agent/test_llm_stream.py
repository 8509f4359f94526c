"""The stream itself: odd chunks (H41), odd bytes, refusals, errors inside, and where it is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assistant.agent.failures import (
    ModelInterrupted,
    ModelRateLimited,
    ModelRefused,
    ModelRejectedRequest,
    ModelUnavailable,
)
from assistant.agent.replies import Limits, Usage
from tests.assistant.agent.endpoint import ENDED, call_delta, delta, piece, scripted


def chunk(**parts: Any) -> dict[str, Any]:
    return {"chunk": parts}


async def test_h41_chunks_without_choices_or_without_delta() -> None:
    step = {
        "do": [
            chunk(choices=[], prompt_filter_results=[{"prompt_index": 0}]),
            chunk(choices=[{"index": 0, "delta": {"role": "assistant", "content": "Oi"}}]),
            chunk(choices=[{"index": 0, "finish_reason": None, "content_filter_results": {}}]),
            chunk(choices=[{"index": 0, "delta": {"content": None}, "finish_reason": "stop"}]),
            chunk(choices=[], usage={"total_tokens": 12}),
            {"done": True},
        ]
    }
    async with scripted(step) as endpoint:
        heard = await endpoint.ask()
    assert (heard.text, heard.reply.text, heard.reply.finish_reason) == ("Oi", "Oi", "stop")
    assert heard.reply.usage == Usage(0, 0, 12)
    assert heard.reply.calls == ()


async def test_a_stream_without_usage_gets_an_estimate() -> None:
    async with scripted({"do": [{"text": "four words of text"}, {"finish": "stop"}, {"done": True}]}) as endpoint:
        usage = (await endpoint.ask()).reply.usage
    assert usage is not None
    assert usage.estimated
    assert (usage.prompt, usage.completion, usage.total) == (5, 5, 10)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 4096])
async def test_characters_lines_and_events_may_be_cut_anywhere_by_the_network(size: int) -> None:
    text = "Olá, Dona Inês — ✓ 🏠 telhado"
    body = "\ufeff: welcome\r\nevent: message\r\nid: 5\r\nretry: 10\r\n"
    body += "data: " + json.dumps({"choices": [{"delta": {"content": text}}]}, ensure_ascii=False) + "\r\n\r\n"
    body += ": keep-alive\n\n"
    body += 'data: {"choices":\ndata: [{"delta": {"content": "!"},\rdata:  "finish_reason": "stop"}]}\r\r'
    body += "data: [DONE]\n\n"
    async with scripted({"do": [{"raw": body}, {"end": True}], "network_chunk": size}) as endpoint:
        heard = await endpoint.ask()
    assert heard.text == heard.reply.text == text + "!"


async def test_a_character_split_over_two_chunks_is_joined() -> None:
    step = {"do": [delta(content="house \ud83c"), delta(content="\udfe0!"), {"finish": "stop"}, {"done": True}]}
    async with scripted(step) as endpoint:
        heard = await endpoint.ask()
    assert heard.text == heard.reply.text == "house 🏠!"


async def test_half_a_character_in_text_is_shown_as_a_replacement() -> None:
    step = {"do": [delta(content="a\ud83cb\u0000c"), {"finish": "stop"}, {"done": True}]}
    async with scripted(step) as endpoint:
        assert (await endpoint.ask()).text == "a�b�c"


async def test_an_argument_split_inside_a_character_is_joined() -> None:
    step = {
        "do": [
            call_delta(piece("add_note", '{"body": "\ud83c', id="c1", index=0)),
            call_delta(piece(None, '\udfe0"}', index=0)),
            *ENDED,
        ]
    }
    async with scripted(step) as endpoint:
        assert (await endpoint.ask()).calls == [("c1", "add_note", {"body": "🏠"}, None)]


async def test_thinking_is_not_shown_and_parts_of_text_are() -> None:
    step = {
        "do": [
            delta(reasoning_content="secret plan"),
            delta(content=[{"type": "thinking", "text": "hm"}, {"type": "text", "text": "Hello"}]),
            {"finish": "stop"},
            {"done": True},
        ]
    }
    async with scripted(step) as endpoint:
        assert (await endpoint.ask()).text == "Hello"


async def test_events_without_blank_lines_between_them_are_read() -> None:
    lines = "".join(f"data: {json.dumps({'choices': [{'delta': {'content': word}}]})}\n" for word in ("one ", "two"))
    async with scripted({"do": [{"raw": lines + "data: [DONE]\n"}, {"end": True}]}) as endpoint:
        assert (await endpoint.ask()).text == "one two"


async def test_a_second_choice_is_ignored() -> None:
    step = {"do": [chunk(choices=[{"index": 1, "delta": {"content": "no"}}]), {"text": "yes"}]}
    async with scripted(step) as endpoint:
        assert (await endpoint.ask()).text == "yes"


async def test_an_answer_that_does_not_stream_is_read_whole() -> None:
    message = {"role": "assistant", "content": "All at once", "tool_calls": [piece("list_leads", "{}", id="c1")]}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": {"total_tokens": 9}}
    async with scripted({"do": [{"status": 200, "body": body}]}) as endpoint:
        heard = await endpoint.ask()
    assert (heard.text, heard.calls) == ("All at once", [("c1", "list_leads", {}, None)])
    assert heard.reply.usage == Usage(0, 0, 9)


async def test_a_refusal_is_told_and_nothing_runs() -> None:
    step = {
        "do": [delta(refusal="I can't "), delta(refusal="help with that."), {"finish": "stop"}, {"done": True}],
    }
    async with scripted(step) as endpoint:
        with pytest.raises(ModelRefused) as caught:
            await endpoint.ask()
    assert caught.value.refusal == "I can't help with that."


async def test_a_filter_that_cuts_in_lets_nothing_run() -> None:
    step = {
        "do": [
            {"text": "Of course"},
            call_delta(piece("list_leads", "{}", id="c1", index=0)),
            {"finish": "content_filter"},
            {"done": True},
        ]
    }
    async with scripted(step) as endpoint:
        with pytest.raises(ModelRefused) as caught:
            await endpoint.ask()
    assert caught.value.text == "Of course"


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        ({"message": "slow down", "type": "rate_limit_exceeded"}, ModelRateLimited, "rate_limited"),
        ({"message": "overloaded", "code": 529}, ModelUnavailable, "server"),
        ("upstream broke", ModelUnavailable, "server"),
        ({"message": "bad", "type": "invalid_request_error"}, ModelRejectedRequest, "rejected"),
        ({"message": "filtered", "code": "content_filter"}, ModelRefused, "refused"),
    ],
)
async def test_an_error_inside_the_stream_is_what_its_words_say(error: Any, kind: type, code: str) -> None:
    async with scripted({"when": {"user": "."}, "do": [chunk(error=error), {"done": True}]}) as endpoint:
        with pytest.raises(kind) as caught:
            await endpoint.ask()
    assert caught.value.code == code  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "raw", ['event: error\ndata: {"message": "boom"}\n\n', 'error: {"code": 500, "message": "boom"}\n\n']
)
async def test_an_error_after_the_first_words_interrupts_and_keeps_them(raw: str) -> None:
    async with scripted({"do": [{"text": "Half a "}, {"raw": raw}, {"end": True}]}) as endpoint:
        with pytest.raises(ModelInterrupted) as caught:
            await endpoint.ask()
        assert len(endpoint.requests) == 1
    assert (caught.value.code, caught.value.text) == ("error", "Half a ")


@pytest.mark.parametrize(
    "raw",
    [
        'data: {"choices": [{"del\n\n',
        "data: nonsense\n\n",
        "data: [1]\n\n",
        'data: {"choices": [{"delta": {"tool_calls": [7]}}]}\n\n',
        "data: " + "[" * 20_000 + "\n\n",
        'data: {"n": ' + "9" * 5000 + "}\n\n",
    ],
    ids=["half an object", "words", "a list", "a call that is none", "deep", "a huge number"],
)
async def test_a_damaged_chunk_interrupts_because_a_piece_may_be_missing(raw: str) -> None:
    ending = [{"finish": "tool_calls"}, {"done": True}]
    step = {"do": [call_delta(piece("list_leads", "{}", id="c1", index=0)), {"raw": raw}, *ending]}
    async with scripted(step) as endpoint:
        with pytest.raises(ModelInterrupted) as caught:
            await endpoint.ask()
    assert caught.value.code == "damaged"


async def test_bytes_that_are_not_utf_8_interrupt() -> None:
    raw = b'data: {"choices": [{"delta": {"content": "a\xff"}}]}\n\n'.hex()
    async with scripted({"do": [{"text": "ok"}, {"raw_hex": raw}, {"finish": "stop"}, {"done": True}]}) as endpoint:
        with pytest.raises(ModelInterrupted) as caught:
            await endpoint.ask()
    assert caught.value.code == "damaged"


@pytest.mark.parametrize(
    ("acts", "limits"),
    [
        ([{"raw": "data: " + "x" * 1_200_000}, {"end": True}], Limits()),
        ([{"text": "x" * 101}], Limits(text=100)),
        ([{"raw": ": comment\n" * 1000}, {"end": True}], Limits(stream=5000)),
    ],
    ids=["line", "text", "stream"],
)
async def test_what_is_too_large_is_not_read_on(acts: list[Any], limits: Limits) -> None:
    async with scripted({"do": acts}, limits=limits) as endpoint:
        with pytest.raises(ModelInterrupted) as caught:
            await endpoint.ask()
    assert caught.value.code == "too_large"


async def test_a_connection_serves_the_next_reply_too() -> None:
    """Reading stops at [DONE], but the last bytes are taken as well: else each reply would need a new connection."""
    async with scripted(*[{"do": [{"text": "ok"}]}] * 3) as endpoint:
        for _ in range(3):
            await endpoint.ask()
        connections = endpoint.model._http._transport._pool.connections  # type: ignore[attr-defined]
        assert [connection.info().split(", ")[-1] for connection in connections] == ["Request Count: 3"]
