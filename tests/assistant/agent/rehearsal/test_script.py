"""A scenario is data: steps in order for each conversation, steps by condition, and clear words for nonsense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assistant.agent.failures import ModelUnavailable
from assistant.agent.rehearsal.script import BadScript, Script
from tests.assistant.agent.endpoint import scripted


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


async def test_steps_come_in_order_for_each_conversation_by_itself() -> None:
    async with scripted({"do": [{"text": "one"}]}, {"do": [{"text": "two"}]}, retries=0) as endpoint:
        assert (await endpoint.ask(said("a"))).text == "one"
        assert (await endpoint.ask(said("b"))).text == "one"
        assert (await endpoint.ask(said("a"))).text == "two"
        with pytest.raises(ModelUnavailable):
            await endpoint.ask(said("a"))


async def test_steps_by_condition_come_first_and_as_often_as_they_may() -> None:
    steps = [
        {"do": [{"text": "in order"}]},
        {"when": {"user": "refund"}, "times": 1, "do": [{"text": "about a refund"}]},
        {"when": {"after": "list_leads", "call": 1}, "do": [{"text": "after the list"}]},
        {"when": {"record": "executed"}, "do": [{"text": "after the record"}]},
    ]
    history = [
        *said("go"),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "list_leads", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "{}"},
    ]
    record = {"role": "developer", "content": '[record] {"event": "executed", "tool": "send_quote"}'}
    async with scripted(*steps) as endpoint:
        assert (await endpoint.ask(said("Refund me"))).text == "about a refund"
        assert (await endpoint.ask(said("Refund me"))).text == "in order"
        assert (await endpoint.ask(history)).text == "after the list"
        assert (await endpoint.ask([*said("x"), record])).text == "after the record"


async def test_when_nothing_is_left_the_rehearsal_model_may_go_on() -> None:
    async with scripted({"do": [{"text": "scripted"}]}, after="rehearse") as endpoint:
        assert (await endpoint.ask(said("hi"))).text == "scripted"
        assert (await endpoint.ask(said("hi"))).text.startswith("Hello!")


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ({"steps": [{}]}, "step 0"),
        ({"steps": [{"do": [], "wen": {}}]}, "wen"),
        ({"steps": [{"do": [{"txet": "x"}]}]}, "txet"),
        ({"steps": [{"do": [], "when": {"usr": "x"}}]}, "usr"),
        ({"steps": [], "after": "stop"}, "after"),
    ],
)
def test_a_script_that_means_nothing_says_where(data: dict[str, Any], part: str) -> None:
    with pytest.raises(BadScript, match=part):
        Script.from_data(data)


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "scenario.json"
    path.write_text('{"steps": [{"do": [{"text": "Olá"}]}]}', encoding="utf-8")
    assert len(Script.read(path).steps) == 1
