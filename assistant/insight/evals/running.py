"""Play cases against a model: it reads the company's real records on a desk where nothing lasts (dry.py).

A case is what `manage.py evals export` wrote, or a whole conversation with what should come of each message: then each
message of the person is one step, and a case that goes wrong ends there.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from assistant.agent.database import Database
from assistant.agent.failures import ModelError
from assistant.agent.llm import Model
from assistant.agent.replies import Finished, Reply
from assistant.insight.evals import dry
from assistant.insight.evals.dry import Desk
from assistant.insight.evals.judging import Deed, Done, Tally, Verdict, judge_unwanted, judge_wanted, judge_words
from assistant.tools import registry

MOST_CALLS = 8
"""Model calls for one message, as in a turn."""
Message = dict[str, Any]
DeskOf = Callable[[dict[str, Any]], Desk]


@dataclass
class Player:
    """A model at a desk: `past` is what has been said and done so far, as the model reads it."""

    model: Model
    desk: Desk
    work: Database
    tools: list[dict[str, Any]] = field(default_factory=list)
    past: list[Message] = field(default_factory=list)

    async def sit_down(self) -> None:
        """Begin anew, with the member's prompt and tools."""
        system, self.tools = await self.work(self.desk.opening)
        self.past = [{"role": "system", "content": system}]

    async def speak(self) -> Done:
        """Let the model answer, with as many calls as it makes until it rests.

        As in a turn, a reply that puts up a card is the last one.
        """
        done = Done()
        for _ in range(MOST_CALLS):
            reply = await self._reply()
            done.text = f"{done.text}\n{reply.text}".strip()
            calls = [(call.id, call.name, call.arguments_json) for call in reply.calls]
            self.past.append(dry.call_message(reply.text, calls))
            before = len(done.cards)
            for call_id, name, arguments in calls:
                told = await self.work(self.desk.answer, name, arguments)
                self.past.append(dry.tool_message(call_id, told))
                done.called.append(name)
                if told.card:
                    done.cards.append(Deed(name, json.loads(arguments)))
            if len(done.cards) > before or not calls:
                break
        return done

    async def _reply(self) -> Reply:
        async with aclosing(self.model.stream(self.past, self.tools)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return event.reply
        raise RuntimeError("a model's stream ended without its end")


async def run(cases: Iterable[dict[str, Any]], model: Model, desk_of: DeskOf, *, times: int) -> Tally:
    """Try each case so often, one after the other."""
    tries: dict[str, tuple[Verdict, ...]] = {}
    work = Database(1, "evals")
    try:
        for case in cases:
            desk = await work(desk_of, case)
            tries[case["id"]] = tuple([await play(case, Player(model, desk, work)) for _ in range(times)])
    finally:
        work.close(wait=True)
    return Tally(tries)


def possible(case: dict[str, Any]) -> bool:
    """Whether every tool that the case wants is one of ours."""
    wanted = [call["name"] for step in case.get("steps", ()) for call in step.get("calls", ())]
    wanted += [case["proposal"]["tool"]] if "proposal" in case else []
    return all(registry.get(name) is not None for name in wanted)


async def play(case: dict[str, Any], player: Player) -> Verdict:
    """Try a case once. A model that fails to answer has not succeeded."""
    await player.sit_down()
    try:
        return await (_again(case, player) if "proposal" in case else _conversation(case, player))
    except ModelError as error:
        return Verdict(False, why=f"the model failed: {error.code}")


async def _again(case: dict[str, Any], player: Player) -> Verdict:
    player.past += [{"role": one["role"], "content": one["text"]} for one in case["words"]]
    done = await player.speak()
    if case["expected"] is not None:
        return judge_wanted(done, _deed(case["expected"]))
    return judge_unwanted(done, _deed(case["proposal"]))


async def _conversation(case: dict[str, Any], player: Player) -> Verdict:
    verdict, developer = Verdict(), player.model.settings.takes_developer
    for number, step in enumerate(case["steps"], start=1):
        match step["type"]:
            case "user":
                player.past.append({"role": "user", "content": step["text"]})
            case "outcome" if step.get("history_message"):
                player.past.append(dry.recorded(step["history_message"], developer=developer))
            case "assistant":
                verdict = verdict | _judged(await player.speak(), step)
                if not verdict.success:
                    return verdict | Verdict(False, why=f"step {number}")
    return verdict


def _judged(done: Done, step: dict[str, Any]) -> Verdict:
    gated = [call for call in step.get("calls", ()) if registry.TOOLS[call["name"]].gated and "error" not in call]
    verdict = judge_words(done, step.get("must_mention", ()), step.get("must_not_claim", ()))
    for call in gated:
        verdict = verdict | judge_wanted(done, Deed(call["name"], call["args"]), call.get("args_free", ()))
    if done.cards and not gated:
        verdict = verdict | Verdict(False, wrong_target=True, why=f"an unasked card of {done.cards[0].tool}")
    return verdict


def _deed(written: dict[str, Any]) -> Deed:
    return Deed(written["tool"], written["arguments"])
