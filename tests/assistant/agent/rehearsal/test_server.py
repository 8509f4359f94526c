"""The endpoint as a server: its addresses, whole answers, bad requests, and the command that starts it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from assistant.agent.rehearsal.app import RehearsalApp
from assistant.agent.rehearsal.serve import serving

HELLO = {"model": "rehearsal", "messages": [{"role": "user", "content": "hi"}]}
ROOT = Path(__file__).resolve().parents[4]


async def test_models_and_unknown_addresses() -> None:
    async with serving(RehearsalApp()) as url, httpx.AsyncClient() as client:
        models = await client.get(f"{url}/models")
        assert [model["id"] for model in models.json()["data"]] == ["rehearsal", "hostile-1"]
        assert (await client.get(f"{url}/chat/completions")).status_code == 405
        assert (await client.post(f"{url}/embeddings", json={})).status_code == 404


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"model": "m", "messages": []}'])
async def test_a_bad_request_gets_400_and_a_sentence(body: bytes) -> None:
    async with serving(RehearsalApp()) as url, httpx.AsyncClient() as client:
        answer = await client.post(f"{url}/chat/completions", content=body)
        assert answer.status_code == 400
        assert answer.json()["error"]["message"]


async def test_a_reply_that_is_not_streamed_is_one_object() -> None:
    async with serving(RehearsalApp()) as url, httpx.AsyncClient() as client:
        answer = (await client.post(f"{url}/chat/completions", json=HELLO)).json()
    assert answer["object"] == "chat.completion"
    assert answer["choices"][0]["message"]["content"].startswith("Hello!")
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["total_tokens"] > 0


async def test_the_same_request_gets_the_same_bytes() -> None:
    body = HELLO | {"stream": True, "stream_options": {"include_usage": True}}
    async with serving(RehearsalApp()) as url, httpx.AsyncClient() as client:
        answers = [(await client.post(f"{url}/chat/completions", json=body)).content for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0].endswith(b"data: [DONE]\n\n")
    assert answers[0].count(b"data: ") > 10


async def test_pieces_come_one_by_one_with_the_chosen_pause() -> None:
    body = HELLO | {"stream": True}
    async with serving(RehearsalApp(delay=0.02)) as url, httpx.AsyncClient() as client:
        started, moments = time.monotonic(), []
        async with client.stream("POST", f"{url}/chat/completions", json=body) as answer:
            async for _ in answer.aiter_bytes():
                moments.append(time.monotonic() - started)
    assert len(moments) > 5
    assert moments[-1] - moments[0] > 0.1


@pytest.fixture
def started(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": [{"do": [{"text": "scripted"}]}], "after": "rehearse"}))
    command = [sys.executable, "-m", "assistant.agent.rehearsal", "--print-port", "--until-stdin-closes"]
    environment = {"PATH": os.environ["PATH"]}
    with subprocess.Popen(
        [*command, "--script", str(script), "--delay", "0"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("end", ["parent gone", "SIGTERM", "SIGINT"])
async def test_the_command_prints_its_port_serves_and_ends(started: subprocess.Popen[str], end: str) -> None:
    """It needs no Django: its environment names no settings."""
    assert started.stdout is not None
    assert started.stdin is not None
    port = int(await asyncio.to_thread(started.stdout.readline))
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=HELLO)
    assert answer.json()["choices"][0]["message"]["content"] == "scripted"
    match end:
        case "parent gone":
            started.stdin.close()
        case name:
            started.send_signal(signal.Signals[name])
    code = await asyncio.to_thread(started.wait, 10)
    assert code in (0, -signal.SIGTERM, -signal.SIGINT)
