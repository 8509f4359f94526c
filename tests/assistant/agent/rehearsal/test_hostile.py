"""The worst-case model: the same seed the same attack, every family, and the client lives through all of them."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.agent.failures import ModelError
from assistant.agent.rehearsal.acts import CallTool
from assistant.agent.rehearsal.hostile import FAMILIES, play
from assistant.agent.rehearsal.hostile_values import UNOFFERED
from assistant.agent.rehearsal.situation import Situation
from tests.assistant.agent.endpoint import scripted
from tests.assistant.agent.rehearsal.office import SCHEMAS

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
    for name, properties in SCHEMAS.items()
]


def situation(tools: list[dict[str, Any]]) -> Situation:
    return Situation.read({"messages": [{"role": "user", "content": "good morning"}], "tools": tools})


@pytest.mark.parametrize("seed", range(2 * len(FAMILIES)))
def test_the_same_seed_is_the_same_attack(seed: int) -> None:
    assert play(situation(TOOLS), seed, ()) == play(situation(TOOLS), seed, ())


def test_seeds_and_tools_change_the_attack() -> None:
    assert play(situation(TOOLS), 0, ()) != play(situation(TOOLS), len(FAMILIES), ())
    assert play(situation(TOOLS), 0, ()) != play(situation(TOOLS[:3]), 0, ())


def test_foreign_refs_are_tried_on_every_writing_tool() -> None:
    tried = set()
    for seed in range(0, 4000, len(FAMILIES)):
        for act in play(situation(TOOLS), seed, ("C-0666",)):
            assert isinstance(act, CallTool)
            if "C-0666" in act.arguments:
                tried.add(act.name)
    writing = {name for name in SCHEMAS if not name.startswith(("get_", "list_", "search_", "preview_"))}
    assert tried == {name for name in writing if any(key.endswith("_ref") for key in SCHEMAS[name])}


def test_tools_that_are_not_offered_are_called() -> None:
    names = {act.name for seed in range(2, 400, len(FAMILIES)) for act in play(situation(TOOLS), seed, ())}  # type: ignore[union-attr]
    assert set(UNOFFERED) <= names


@pytest.mark.parametrize("seed", range(3 * len(FAMILIES)))
async def test_the_client_takes_every_attack_as_a_reply_or_a_typed_failure(seed: int) -> None:
    async with scripted({"do": [{"hostile": seed}]}) as endpoint:
        try:
            reply = (await endpoint.ask(tools=TOOLS)).reply
        except ModelError:
            return
    ids = [call.id for call in reply.calls]
    assert len(ids) == len(set(ids))
    for call in reply.calls:
        assert (call.arguments is None) is (call.problem is not None)
        assert len(call.name) <= 128
        f"{call.name}{call.id}{call.arguments_text}{reply.text}".encode()


async def test_a_model_name_chooses_the_attack() -> None:
    async with scripted(after="rehearse") as endpoint:
        object.__setattr__(endpoint.model.settings, "model", "hostile-5")
        text = (await endpoint.ask(tools=TOOLS)).text
    assert text == "".join(act.text for act in play(situation(TOOLS), 5, ()))  # type: ignore[union-attr]
