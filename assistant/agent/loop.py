"""One turn, from wherever its rows stand to its next rest: done, waiting for a person, or at an end that says why.

The loop holds nothing that the rows do not: it can be killed at any point and another runner goes on. What it waits
for (the model, a tool) is given up at once when the person stops the turn.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from assistant.agent import calling, history, steps
from assistant.agent.claimed import Claimed, ClaimLost, StopRequested
from assistant.agent.database import Database
from assistant.agent.failures import (
    ModelError,
    ModelInterrupted,
    ModelRateLimited,
    ModelRefused,
    ModelRejectedRequest,
    ModelUnavailable,
)
from assistant.agent.lines import Line
from assistant.agent.llm import Model
from assistant.agent.replies import Reply, estimated_usage
from assistant.agent.speech import Speech
from assistant.agent.steps import Over, RunCalls, Speak
from assistant.models import Turn

log = logging.getLogger(__name__)
T = TypeVar("T")

NARROWER: Final = 4
"""By how much less of the past is shown where the model says that it is too much, two times at most."""
MOST_NARROWED: Final = 2


class Draining(Exception):
    """The process goes away and waits no longer for what this turn was doing."""


@dataclass
class Signals:
    """What a running turn is told from outside. `pause`: rest at the next safe point. `leave`: give up waiting."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    pause: asyncio.Event = field(default_factory=asyncio.Event)
    leave: asyncio.Event = field(default_factory=asyncio.Event)

    def all(self) -> tuple[tuple[asyncio.Event, type[Exception]], ...]:
        return (self.lost, ClaimLost), (self.stop, StopRequested), (self.leave, Draining)


@dataclass
class TurnLoop:
    """Runs one claimed turn. `tools` are the threads for tool calls, `asking` bounds the process's model calls."""

    claimed: Claimed
    model: Model
    database: Database
    tools: Database
    asking: asyncio.Semaphore
    pace: Callable[[], float]
    signals: Signals = field(default_factory=Signals)
    first: steps.Step | None = None
    said: str | None = None
    narrowed: int = 0

    async def run(self) -> None:
        """Go on until the turn rests. A claim that is lost ends it without a word: another runner has the turn."""
        try:
            await self._run()
        except ClaimLost:
            log.info("Turn %s is no longer ours", self.claimed.turn_id)
        except StopRequested:
            await self._last(steps.end_stopped)
        except Draining:
            await self._last(steps.release)

    async def _last(self, ending: Callable[[Claimed, str | None], None]) -> None:
        try:
            await self.database(ending, self.claimed, self.said)
        except ClaimLost:
            log.info("Turn %s ended meanwhile", self.claimed.turn_id)
        except StopRequested:
            await self.database(steps.end_stopped, self.claimed, self.said)

    async def _run(self) -> None:
        step = self.first
        while not isinstance(step, Over):
            if self.signals.pause.is_set():
                raise Draining
            match step:
                case Speak():
                    step = await self._speak(step)
                case RunCalls(calls):
                    for call, seconds in calls:
                        await self._call(call, seconds)
                        if self.signals.pause.is_set():
                            raise Draining
                    step = None
                case None:
                    step = await self.database(
                        steps.next_step,
                        self.claimed,
                        developer=self.model.settings.takes_developer,
                        window=self._window(),
                    )

    def _window(self) -> history.Window:
        whole = history.Window()
        by = NARROWER**self.narrowed
        return history.Window(max(1, whole.turns // by), whole.characters // by)

    async def _speak(self, step: Speak) -> steps.Step | None:
        """Ask the model and store what it said; None where the turn goes on from its rows."""
        speech = Speech(self.claimed, step, pace=self.pace, save=self._save(step))
        try:
            async with self.asking:
                reply = await self._unless_told(self._ask(speech, step))
        except ModelError as error:
            return await self._failed(error, step, speech.text)
        finally:
            self.said = speech.text
        return await self.database(steps.complete_reply, self.claimed, step.message_id, reply)

    async def _ask(self, speech: Speech, step: Speak) -> Reply:
        return await speech.listen(self.model.stream(step.messages, step.tools))

    def _save(self, step: Speak) -> Callable[[str], Coroutine[Any, Any, None]]:
        async def save(text: str) -> None:
            await self.database(steps.save_text, self.claimed, step.message_id, text)

        return save

    async def _failed(self, error: ModelError, step: Speak, said: str) -> steps.Step | None:
        log.warning("Turn %s: the model failed (%s): %.300s", self.claimed.turn_id, error.code, error)
        if isinstance(error, ModelRejectedRequest) and error.code == "too_long" and self.narrowed < MOST_NARROWED:
            self.narrowed += 1
            return None
        status, line = verdict(error)
        if isinstance(error, ModelRefused):
            said = said or error.refusal
        tokens = 0
        if isinstance(error, ModelInterrupted | ModelRefused):
            tokens = estimated_usage(step.messages, Reply(said, (), "", None, complete=False)).total
        await self.database(steps.fail, self.claimed, status, line, said, tokens)
        return Over()

    async def _call(self, call: uuid.UUID, seconds: float) -> None:
        """Run one tool call; one that takes too long is closed as failed while its thread may still be busy."""
        work = self.tools(calling.run_call, self.claimed, call)
        try:
            async with asyncio.timeout(seconds):
                await self._unless_told(work)
        except TimeoutError:
            await self.database(calling.overrun, self.claimed, call)

    async def _unless_told(self, work: Coroutine[Any, Any, T]) -> T:
        """The work's result, unless a signal comes first: then it is cancelled and the signal's exception raised."""
        task = asyncio.ensure_future(work)
        events = self.signals.all()
        waits = [asyncio.ensure_future(event.wait()) for event, _ in events]
        try:
            await asyncio.wait([task, *waits], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise next(told for event, told in events if event.is_set())
        finally:
            for pending in (task, *waits):
                pending.cancel()
            await asyncio.gather(task, *waits, return_exceptions=True)


def verdict(error: ModelError) -> tuple[Turn.Status, Line]:
    """How a turn ends whose model gave no reply, and what its person is told."""
    match error:
        case ModelInterrupted():
            return Turn.Status.INTERRUPTED, Line.INTERRUPTED
        case ModelRefused():
            return Turn.Status.FAILED, Line.REFUSED
        case ModelRateLimited():
            return Turn.Status.FAILED, Line.NO_QUOTA if error.code == "no_quota" else Line.RATE_LIMITED
        case ModelUnavailable():
            return Turn.Status.FAILED, Line.CREDENTIALS if error.code == "credentials" else Line.UNAVAILABLE
        case _:
            return Turn.Status.FAILED, Line.TOO_LONG if error.code == "too_long" else Line.REJECTED
