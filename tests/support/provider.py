"""A provider made of files, shared by every process of a test: what it was sent, what it did, how it fails next.

Each send appends one line to `<key>.sends`, so that doubles can be counted at the provider and not in our database
(J1). `mode` says what the next sends do; the modes that kill take the worker down at that very moment.
"""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from assistant.tools.registry import Found, Refused

MODES = (
    "ok",
    "refuse",
    "timeout_before",
    "timeout_after",
    "garbage",
    "slow",
    "kill_before",
    "kill_during",
    "kill_after",
    "stop",
    "hold",
    "mute",
)


class FileProvider:
    """A remote service whose memory is a folder (AVAL_TEST_PROVIDER)."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(os.environ["AVAL_TEST_PROVIDER"])
        self.folder.mkdir(parents=True, exist_ok=True)

    def set_mode(self, mode: str) -> None:
        if mode not in MODES:
            raise ValueError(mode)
        (self.folder / "mode").write_text(mode)

    @property
    def mode(self) -> str:
        file = self.folder / "mode"
        return file.read_text() if file.exists() else "ok"

    def send(self, key: str, what: dict[str, Any]) -> dict[str, Any]:
        mode = self.mode
        if mode == "kill_before":
            _die()
        with (self.folder / f"{key}.sends").open("a") as sends:
            sends.write(json.dumps(what) + "\n")
        match mode:
            case "refuse":
                raise Refused("REFUSED", "The provider refused.")
            case "timeout_before":
                raise TimeoutError("no answer")
            case "kill_during":
                _die()
            case "slow":
                time.sleep(3)
            case "stop":  # asleep in the middle of the call, until somebody sends SIGCONT
                os.kill(os.getpid(), signal.SIGSTOP)
            case "hold":
                self._wait_for_release()
        (self.folder / f"{key}.done").write_text(json.dumps(what))
        match mode:
            case "timeout_after":
                raise TimeoutError("no answer")
            case "garbage":
                raise ValueError("an answer that cannot be read")
            case "kill_after":
                _die()
        return {"receipt": f"R-{key[-6:]}"}

    def _wait_for_release(self) -> None:
        deadline = time.monotonic() + 20
        while (self.folder / "mode").read_text() == "hold" and time.monotonic() < deadline:
            time.sleep(0.02)

    def find(self, key: str) -> Found | None:
        if self.mode == "mute":
            raise TimeoutError("no answer")
        done = (self.folder / f"{key}.done").exists()
        return Found({"receipt": f"R-{key[-6:]}"}) if done else None

    def sends(self, key: str) -> int:
        file = self.folder / f"{key}.sends"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def all_sends(self) -> dict[str, int]:
        return {file.stem: len(file.read_text().splitlines()) for file in self.folder.glob("*.sends")}


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(10)
