"""A reply while it is being spoken: frames to those who watch, and the text to its row now and then.

The first frame leaves at once, then one every 40 ms, more slowly where many speak at the same time; the row is written
at each finished block or half second (settled question 16). Neither ever waits for the other.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

from assistant import bus
from assistant.agent.claimed import Claimed
from assistant.agent.failures import ModelError
from assistant.agent.llm import ModelEvent
from assistant.agent.replies import Finished, Reply, TextDelta
from assistant.agent.steps import Speak

FRAME_SECONDS: Final = 0.04
FRAMES_A_SECOND: Final = 120
"""What one process sends at most, all its replies together."""
SEND_SECONDS: Final = 1.0
SAVE_SECONDS: Final = 0.5
SHORTEST_SAVE_SECONDS: Final = 0.1


class Speech:
    """One reply's text. `pace` gives the seconds between two frames, `save` writes the text to its row."""

    def __init__(
        self, claimed: Claimed, step: Speak, *, pace: Callable[[], float], save: Callable[[str], Awaitable[None]]
    ) -> None:
        self._claimed, self._step, self._pace, self._save = claimed, step, pace, save
        self._said: list[str] = []
        self._unsent: list[str] = []
        self._news, self._block, self._over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @property
    def text(self) -> str:
        return "".join(self._said)

    async def listen(self, events: AsyncGenerator[ModelEvent, None]) -> Reply:
        """Pass the model's words on until its reply is whole. Raises what the model's client and `save` raise."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._publish())
                group.create_task(self._keep())
                outcome = await self._hear(events)
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    async def _hear(self, events: AsyncGenerator[ModelEvent, None]) -> Reply | ModelError:
        try:
            async with aclosing(events):
                async for event in events:
                    match event:
                        case TextDelta(text):
                            self._add(text)
                        case Finished(reply):
                            return reply
            raise RuntimeError("the model's stream ended without a word about it")
        except ModelError as error:
            return error
        finally:
            for bell in (self._over, self._news, self._block):
                bell.set()

    def _add(self, text: str) -> None:
        block_ends = "\n\n" in (self._said[-1][-1:] + text if self._said else text)
        self._said.append(text)
        self._unsent.append(text)
        self._news.set()
        if block_ends:
            self._block.set()

    async def _publish(self) -> None:
        sent = 0
        while self._unsent or not self._over.is_set():
            await self._news.wait()
            self._news.clear()
            piece = "".join(self._unsent)
            self._unsent.clear()
            if piece:
                await self._send(sent, piece)
                sent += len(piece)
            await self._rest(until_the_next(self._pace(), asyncio.get_running_loop().time()))
            if self._unsent:
                self._news.set()

    async def _send(self, at: int, piece: str) -> None:
        """Send one frame. A layer that hangs costs the frame, not the reply: who watches reads the row instead."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SEND_SECONDS):
                await bus.send_text(
                    self._claimed.conversation_id,
                    self._step.seq,
                    message_id=self._step.message_id,
                    at=at,
                    text=piece,
                    opening=self._step.opening,
                )

    async def _keep(self) -> None:
        """Write the text now and then; the whole reply is written with its calls, elsewhere."""
        saved = 0
        while not self._over.is_set():
            await _within(SAVE_SECONDS, self._block)
            self._block.clear()
            text = self.text
            if self._over.is_set() or len(text) == saved:
                continue
            await self._save(text)
            saved = len(text)
            await self._rest(SHORTEST_SAVE_SECONDS)

    async def _rest(self, seconds: float) -> None:
        """Wait so long, or until the reply is over."""
        if not self._over.is_set():
            await _within(seconds, self._over)


def until_the_next(pace: float, now: float) -> float:
    """Seconds until the next frame: the pace at least, and then to a beat that all replies of the process share, so
    that what they send goes out in one statement."""
    beat = pace / 2
    return pace + beat - (now + pace) % beat if pace else 0.0


async def _within(seconds: float, bell: asyncio.Event) -> None:
    """Wait for the bell, so long at most."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await bell.wait()
