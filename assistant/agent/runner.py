"""The process that runs turns: hundreds at once, each claimed, each resumable by another process.

It is woken by NOTIFY and looks by itself every second or so, since a notification can be lost. It also keeps the
product's clock: twice a second it wakes the jobs whose time has come (undo windows, expiries).
"""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import psycopg
from channels.layers import get_channel_layer
from django.conf import settings

from assistant import bus, turns
from assistant.agent import claiming, history, offered, steps
from assistant.agent.claimed import Claimed
from assistant.agent.database import Database
from assistant.agent.endpoint import RehearsalEndpoint
from assistant.agent.llm import Model
from assistant.agent.loop import TurnLoop
from assistant.agent.model_settings import ModelSettings
from assistant.agent.speech import FRAME_SECONDS, FRAMES_A_SECOND
from assistant.tools import registry
from ledger import jobs
from ledger.environment import pool_size

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
CLOCK_SECONDS: Final = 0.5
LONGEST_PULSE_SECONDS: Final = 2.0
DRAIN_SECONDS: Final = 5.0
LEAVE_SECONDS: Final = 3.0
PICKED_AT_ONCE: Final = 32
CLAIM_THREADS: Final = 2
"""Threads that take turns and find their first step: a person waits for those, and no turn that ends stands before."""
WORK_THREADS: Final = 3
"""Threads for the loop's other short transactions: more would only take the interpreter from the event loop. Tools,
which may be slow, have the rest of the pool and hold nothing else up; leases and clock have theirs."""
SIDE_THREADS: Final = 2
RECONNECT_SECONDS: Final = (0.1, 0.5, 1.0, 2.0, 5.0)


class Runner:
    """One runner of turns. `model` is given in tests; otherwise the settings say which, or the rehearsal model is."""

    def __init__(self, *, model: Model | None = None, most: int | None = None) -> None:
        self._given = model
        taken = CLAIM_THREADS + WORK_THREADS + SIDE_THREADS
        self._claims = Database(CLAIM_THREADS, "claims")
        self._work = Database(WORK_THREADS, "turns")
        self._tools = Database(max(2, pool_size(settings.DATABASES["default"]) - taken), "tools")
        self._side = Database(SIDE_THREADS, "clock")
        self._most = most or settings.AVAL_AGENT_TURNS
        self._running: dict[uuid.UUID, TurnLoop] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._look, self._room, self._beat = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._going = asyncio.Event()
        self._endpoint: RehearsalEndpoint | None = None

    def stop(self) -> None:
        """Take no more turns, let the running ones reach a safe point, and return from `run`."""
        self._going.set()
        self._look.set()

    async def run(self) -> None:
        """Run until `stop`."""
        model = self._given or await self._make_model()
        self._asking = asyncio.Semaphore(model.settings.connections)
        side = [
            asyncio.create_task(self._listen(), name="listen"),
            asyncio.create_task(self._for_ever(self._pulse, self._until_next_pulse), name="leases"),
            asyncio.create_task(self._for_ever(self._tick, self._until_next_tick), name="clock"),
        ]
        await self._work(offered.specs, registry.TOOLS)
        log.info("The agent runs turns with %s at %s", model.settings.model, model.settings.base_url)
        try:
            await self._take_turns(model)
            await self._drain()
        finally:
            for task in side:
                task.cancel()
            await asyncio.gather(*side, return_exceptions=True)
            await self._close(model)

    async def _make_model(self) -> Model:
        if not settings.AVAL_REHEARSAL:
            return Model(ModelSettings.from_django())
        self._endpoint = RehearsalEndpoint(settings.AVAL_REHEARSAL_SCRIPT)
        return Model(ModelSettings.from_django(rehearsal_url=await self._endpoint.start()))

    async def _close(self, model: Model) -> None:
        if self._given is None:
            await model.aclose()
        if self._endpoint is not None:
            await self._endpoint.close()
        await asyncio.to_thread(bus.flush)
        close = getattr(get_channel_layer(), "close", None)
        if close is not None and self._given is None:
            await close()
        for database in (self._claims, self._work, self._tools, self._side):
            database.close()

    # Taking turns

    async def _take_turns(self, model: Model) -> None:
        while not self._going.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), LOOK_SECONDS)
            self._look.clear()
            if self._going.is_set():
                return
            room = min(self._most - len(self._tasks), PICKED_AT_ONCE)
            if room <= 0:
                self._room.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._room.wait(), LOOK_SECONDS)
                self._look.set()
                continue
            try:
                picked, begun = await self._claims(claiming.pick_and_begin, room, **self._first_step(model))
            except Exception:
                log.exception("No turns could be taken")
                await asyncio.sleep(LOOK_SECONDS)
                continue
            for tenant_id, turn_id in picked:
                self._spawn(self._turn(model, tenant_id, turn_id))
            if begun is not None:
                self._spawn(self._run_claimed(model, *begun))
            if len(picked) + bool(begun) >= room:
                self._look.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="turn")
        self._tasks.add(task)
        task.add_done_callback(self._gone)

    def _gone(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.set()

    async def _turn(self, model: Model, tenant_id: uuid.UUID, turn_id: uuid.UUID) -> None:
        """Claim one turn and run it to its next rest. What goes wrong here leaves it to the next runner."""
        try:
            claimed, first = await self._claim(model, tenant_id, turn_id)
        except Exception:
            log.exception("Turn %s could not be claimed; it is taken up again when its lease is over", turn_id)
            return
        if claimed is not None:
            await self._run_claimed(model, claimed, first)

    async def _run_claimed(self, model: Model, claimed: Claimed, first: steps.Step | None) -> None:
        try:
            loop = TurnLoop(claimed, model, self._work, self._tools, self._asking, self._pace, first=first)
            self._running[claimed.token] = loop
            if self._going.is_set():
                loop.signals.pause.set()
            await loop.run()
        except Exception:
            log.exception(
                "Turn %s was left in the middle; it is taken up again when its lease is over", claimed.turn_id
            )
        finally:
            self._running.pop(claimed.token, None)

    async def _claim(
        self, model: Model, tenant_id: uuid.UUID, turn_id: uuid.UUID
    ) -> tuple[Claimed | None, steps.Step | None]:
        """The claim and the turn's first step; the claim alone where the step cannot be found at once."""
        try:
            begun = await self._claims(claiming.claim_and_begin, tenant_id, turn_id, **self._first_step(model))
        except Exception:
            log.exception("Turn %s could not be begun at once", turn_id)
            return await self._claims(claiming.claim, tenant_id, turn_id), None
        return begun or (None, None)

    @staticmethod
    def _first_step(model: Model) -> dict[str, Any]:
        return {"developer": model.settings.takes_developer, "window": history.Window()}

    def _pace(self) -> float:
        """Seconds between two frames of one reply, so that all replies together keep within what the layer carries."""
        return max(FRAME_SECONDS, len(self._running) / FRAMES_A_SECOND)

    # What wakes it

    async def _listen(self) -> None:
        """Hear of new turns and of stops; after a lost connection look at everything anew."""
        failures = 0
        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(
                    settings.DATABASE_DIRECT_URL, autocommit=True, keepalives_idle=10, keepalives_interval=5
                )
                async with connection:
                    await connection.execute(f"LISTEN {turns.CHANNEL}")
                    failures = 0
                    self._look.set()
                    self._beat.set()
                    async for notification in connection.notifies():
                        self._hear(notification.payload)
            except (psycopg.Error, OSError) as error:
                log.warning("The agent does not hear of new turns for now: %s", error)
            await asyncio.sleep(RECONNECT_SECONDS[min(failures, len(RECONNECT_SECONDS) - 1)])
            failures += 1

    def _hear(self, word: str) -> None:
        verb, _, turn_id = word.partition(" ")
        if verb != turns.STOP:
            self._look.set()
            return
        for loop in self._running.values():
            if str(loop.claimed.turn_id) == turn_id:
                loop.signals.stop.set()

    async def _for_ever(self, work: Callable[[], Awaitable[None]], wait: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await work()
            except Exception:
                log.exception("%s failed and is tried again", getattr(work, "__name__", "work"))
            await wait()

    async def _pulse(self) -> None:
        """Renew the leases; a turn that another runner has, or that is to stop, hears of it here at the latest."""
        self._beat.clear()
        running = dict(self._running)
        for tenant_id, claims in claiming.by_tenant(loop.claimed for loop in running.values()).items():
            pulse = await self._side(claiming.renew, tenant_id, [claim.token for claim in claims])
            for claim in claims:
                signals = running[claim.token].signals
                if claim.token in pulse.stopped:
                    signals.stop.set()
                elif claim.token not in pulse.held:
                    signals.lost.set()
        held = [loop.claimed.turn_id for token, loop in running.items() if token in self._running]
        if held:
            await self._side(claiming.renew_promises, held)

    async def _until_next_pulse(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._beat.wait(), min(settings.AVAL_LEASE_SECONDS / 4, LONGEST_PULSE_SECONDS))

    async def _tick(self) -> None:
        await self._side(jobs.dispatch_due)

    async def _until_next_tick(self) -> None:
        await asyncio.sleep(CLOCK_SECONDS)

    # Going away

    async def _drain(self) -> None:
        """Let each turn come to a safe point, then to none, and give them all back."""
        for loop in self._running.values():
            loop.signals.pause.set()
        await self._wait(DRAIN_SECONDS)
        for loop in self._running.values():
            loop.signals.leave.set()
        await self._wait(LEAVE_SECONDS)
        for task in self._tasks:
            task.cancel()
        await self._wait(1.0)

    async def _wait(self, seconds: float) -> None:
        if self._tasks:
            started = time.monotonic()
            await asyncio.wait(self._tasks, timeout=seconds)
            log.info("Waited %.1f s for turns; %s are left", time.monotonic() - started, len(self._tasks))
