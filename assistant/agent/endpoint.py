"""The rehearsal model as a child process of the agent: a free port of the loopback, started again when it dies.

It ends with its parent, however that ends: it reads a pipe that the parent holds.
"""

import asyncio
import contextlib
import logging
import sys
from typing import Final

log = logging.getLogger(__name__)

START_SECONDS: Final = 30
WAITS: Final = (0.1, 0.5, 2.0, 5.0)


class EndpointFailed(RuntimeError):
    """The rehearsal model did not start."""


class RehearsalEndpoint:
    """`script` is the path of a scenario for tests, or "". Once started it keeps its port, also after a restart."""

    def __init__(self, script: str = "") -> None:
        self._script = script
        self._port = 0
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def start(self) -> str:
        """Start it and return its address. Raises EndpointFailed."""
        await self._spawn()
        self._watch = asyncio.create_task(self._keep_alive(), name="rehearsal model")
        return self.url

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await self._end()

    async def _spawn(self) -> None:
        options = ["--port", str(self._port), "--print-port", "--until-stdin-closes"]
        if self._script:
            options += ["--script", self._script]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "assistant.agent.rehearsal",
            *options,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # a signal to the agent's group reaches the agent alone, which ends its turns first
        )
        self._process = process
        assert process.stdout is not None  # noqa: S101 (it was asked for)
        try:
            line = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)
            self._port = int(line)
        except (TimeoutError, ValueError):
            await self._end()
            raise EndpointFailed("the rehearsal model did not start") from None

    async def _keep_alive(self) -> None:
        tries = 0
        while True:
            if self._process is not None:
                code = await self._process.wait()
                log.warning("The rehearsal model ended with status %s and is started again", code)
            await asyncio.sleep(WAITS[min(tries, len(WAITS) - 1)])
            tries += 1
            try:
                await self._spawn()
                tries = 0
            except (EndpointFailed, OSError):
                log.exception("The rehearsal model could not be started again")

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
