"""The agent as a process of its own, killed, paused and asked to go. The model lives on in the test's process."""

import asyncio
import signal
import time
from collections.abc import Callable

import pytest

from assistant import turns
from assistant.agent.endpoint import RehearsalEndpoint
from assistant.models import Turn
from tests.assistant.agent.talk import Talk, call, say, step, talking
from tests.processes import Processes, Running, answers

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]


def agent(talk: Talk, processes: Processes) -> Running:
    url = talk.endpoint.model.settings.base_url
    return processes.agent(OPENAI_BASE_URL=url, OPENAI_MODEL="scripted", AVAL_LEASE_SECONDS="1")


def until(condition: Callable[[], bool], running: Running, seconds: float = 60) -> None:
    running.wait_for(condition, seconds)


def rests(talk: Talk) -> bool:
    return talk.turn().status not in turns.BUSY


def test_a_paused_agent_that_wakes_up_again_writes_nothing_more(processes):
    old_call = call("tag_client", client_ref="C-0001", tag="old")
    silent = step(say("One moment. "), {"delay": 60}, old_call, times=1, when={})
    new = step(say("Here I am."), call("tag_client", client_ref="C-0001", tag="new"), when={"call": 0})
    with talking(silent, new, step(say("Done."), when={"call": 1}), idle_seconds=90.0) as talk:
        old = agent(talk, processes)
        talk.post("tag him")
        until(lambda: talk.messages(role="assistant") != [] and talk.messages(role="assistant")[0].text != "", old)
        old.signal(signal.SIGSTOP)
        other = agent(talk, processes)
        until(lambda: rests(talk), other)
        before = [(m.text, m.code, m.open) for m in talk.messages()]
        old.signal(signal.SIGCONT)
        time.sleep(3)
        assert old.alive()
        assert [(m.text, m.code, m.open) for m in talk.messages()] == before
        assert before == [
            ("tag him", "", False),
            ("One moment. ", "cut_off", False),
            ("Here I am.", "", False),
            ("Done.", "", False),
        ]
        assert talk.client_now().tags == ["new"]


def test_an_agent_that_is_asked_to_go_gives_its_turn_back_and_ends_cleanly(processes):
    with talking(step(say("Half a sen"), {"silence": True}), step(say("Whole.")), idle_seconds=90.0) as talk:
        running = agent(talk, processes)
        talk.post("hello")
        until(lambda: talk.messages(role="assistant") != [] and talk.messages(role="assistant")[0].text != "", running)
        started = time.monotonic()
        assert running.stop() == 0
        assert time.monotonic() - started < 14
        assert talk.turn().status == Turn.Status.QUEUED
        talk.history()
        until(lambda: rests(talk), agent(talk, processes))
        assert (talk.turn().status, talk.replies()) == (Turn.Status.DONE, ["Half a sen", "Whole."])


def test_a_tool_that_kills_its_process_each_time_does_not_loop_for_ever(processes):
    deadly = call("tag_slowly", client_ref="C-0001", tag="x", die=True)
    with talking(step(deadly, when={"call": 0}), step(say("I could not."), when={"call": 1})) as talk:
        talk.post("tag him")
        for _ in range(6):
            running = agent(talk, processes)
            while running.alive() and not rests(talk):
                time.sleep(0.05)
            if rests(talk):
                break
        assert (talk.turn().status, talk.client_now().tags) == (Turn.Status.DONE, [])
        assert [c.status for c in talk.calls()] == ["skipped"]
        assert talk.replies()[-1] == "I could not."
        assert "not run: the process stopped" in talk.calls()[0].result


async def test_the_rehearsal_model_is_started_again_on_its_port_when_it_dies():
    endpoint = RehearsalEndpoint()
    url = await endpoint.start()
    try:
        first = endpoint._process
        assert first is not None
        first.kill()
        await first.wait()
        deadline = time.monotonic() + 30
        while endpoint._process is first or not answers(url.removesuffix("/v1")):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.1)
        assert endpoint.url == url
    finally:
        await endpoint.close()


def test_without_an_endpoint_the_agent_brings_its_own_rehearsal_model(processes):
    with talking(step(say("not asked"))) as talk:
        running = processes.agent(AVAL_LEASE_SECONDS="1")
        talk.post("hello")
        until(lambda: rests(talk), running)
        assert (talk.turn().status, talk.endpoint.requests) == (Turn.Status.DONE, [])
        assert talk.replies()[0] != ""
