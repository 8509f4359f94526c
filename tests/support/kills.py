"""Kill a process at a named point of the gate (SIGKILL, as a machine that loses power).

AVAL_KILL_FOLDER names a folder that all processes of a test share; where it is set every point is in place, and asleep.
The file `<point>.once` kills the next process that comes by and is gone with it, `<point>.loop` kills each one. What is
written in the file, an action's id, spares all others. `<point>.deaths` counts.

A point with `-` is just before the commit of its step, one with `+` just after.
"""

import os
import signal
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from django.db import transaction

from assistant.gate import approvals, execution, proposals
from ledger import jobs

POINTS = (
    "propose-",
    "propose+",
    "confirm-",
    "confirm+",
    "claim-",
    "claim+",
    "call+",
    "record-",
    "record+",
    "ack",
)
"""`claim+` is before the provider is called, `call+` after it answered and before anything of that is written."""


class Kills:
    """The folder from the side of a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        return {"AVAL_KILL_FOLDER": str(self.folder)}

    def once(self, point: str, action_id: object = "") -> None:
        self._put(point, "once", action_id)

    def loop(self, point: str, action_id: object = "") -> None:
        self._put(point, "loop", action_id)

    def deaths(self, point: str) -> int:
        file = self.folder / f"{point}.deaths"
        return len(file.read_text()) if file.exists() else 0

    def calm(self) -> None:
        """Nobody is killed any more, and nobody was."""
        for file in self.folder.iterdir():
            file.unlink(missing_ok=True)

    def _put(self, point: str, mode: str, action_id: object) -> None:
        assert point in POINTS, point
        fresh = self.folder / f"{point}.fresh"
        fresh.write_text(str(action_id))
        fresh.rename(self.folder / f"{point}.{mode}")


def arm() -> None:
    """Put every point in place, if this process belongs to a test that kills."""
    if "AVAL_KILL_FOLDER" not in os.environ:
        return
    _wrap(proposals, "propose", _last, after="propose-", committed="propose+")
    _wrap(approvals, "confirm", lambda args, result: args[0].action_id, after="confirm-", committed="confirm+")
    _wrap(execution, "_claim", lambda args, result: args[1], after="claim-")
    _wrap(execution, "_call", lambda args, result: args[0].claim.action_id, before="claim+")
    _wrap(execution, "_executed", lambda args, result: args[0].pk, after="record-")
    _wrap(execution, "_record", lambda args, result: args[0].claim.action_id, before="call+", after="record+")
    _wrap(jobs, "run", lambda args, result: args[1], after="ack")


def die(point: str, action_id: object) -> None:
    """Die here and now, if the folder says so."""
    folder = Path(os.environ["AVAL_KILL_FOLDER"])
    once, loop = folder / f"{point}.once", folder / f"{point}.loop"
    for file in (once, loop):
        try:
            wanted = file.read_text()
            if wanted and wanted != str(action_id):
                continue
            if file is once:
                file.unlink()
        except FileNotFoundError:
            continue
        with (folder / f"{point}.deaths").open("a") as deaths:
            deaths.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(10)


def _last(args: tuple[Any, ...], result: Any) -> object:
    return result.action.pk


def _wrap(
    module: Any,
    name: str,
    whose: Callable[[tuple[Any, ...], Any], object],
    *,
    before: str = "",
    after: str = "",
    committed: str = "",
) -> None:
    original: Callable[..., Any] = getattr(module, name)

    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        if before:
            die(before, whose(args, None))
        result = original(*args, **kwargs)
        if after:
            die(after, whose(args, result))
        if committed:
            transaction.on_commit(lambda: die(committed, whose(args, result)))
        return result

    setattr(module, name, run)
