"""Kill this process at a named point of the gate (SIGKILL, as a machine that loses power).

AVAL_KILL_AT names the point, AVAL_KILL_FILE a file: where it exists and the mode is `once`, nothing is killed any
more. A point with `-` is just before the commit of its step, one with `+` just after.
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
    "record-",
    "record+",
    "ack",
)


def arm() -> None:
    """Put the kill in place, if the environment asks for one."""
    point = os.environ.get("AVAL_KILL_AT", "")
    match point:
        case "propose-":
            _after(proposals, "propose")
        case "propose+":
            _after_commit_of(proposals, "propose")
        case "confirm-":
            _after(approvals, "confirm")
        case "confirm+":
            _after_commit_of(approvals, "confirm")
        case "claim-":
            _after(execution, "_claim")
        case "claim+":
            _before(execution, "_call")
        case "record-":
            _after(execution, "_executed")
        case "record+":
            _after(execution, "_record")
        case "ack":
            _after(jobs, "run")


def die() -> None:
    """Die now; once, where the mode says so."""
    file = Path(os.environ["AVAL_KILL_FILE"])
    if os.environ.get("AVAL_KILL_MODE", "once") == "once":
        try:
            file.touch(exist_ok=False)
        except FileExistsError:
            return
    else:
        with file.open("a") as deaths:
            deaths.write("x")
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(10)


def _after(module: Any, name: str) -> None:
    original = getattr(module, name)

    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        die()
        return result

    setattr(module, name, run)


def _before(module: Any, name: str) -> None:
    original = getattr(module, name)

    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        die()
        return original(*args, **kwargs)

    setattr(module, name, run)


def _after_commit_of(module: Any, name: str) -> None:
    """Die when the scope that the function ran in has committed."""
    original: Callable[..., Any] = getattr(module, name)

    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        transaction.on_commit(die)
        return result

    setattr(module, name, run)
