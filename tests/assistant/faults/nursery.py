"""Starts agents, workers and webs within a moment: a process that has loaded the product once forks for each of them.

What is forked runs the very command (`manage.py run_agent`, `manage.py qcluster`, `python -m daphne`) in a session of
its own, and is killed like any other process. Run as a module it is the parent: it reads one line for each child (the
log, by how many hours its clock is off, the command's words, separated by tabs) and answers with the child's id.
"""

import contextlib
import os
import runpy
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import time_machine

from tests.processes import Running, answers, free_port
from tests.server import ROOT

COMMANDS = {
    "agent": ["manage.py", "run_agent"],
    "worker": ["manage.py", "qcluster"],
    "web": ["daphne", "--bind", "127.0.0.1", "--verbosity", "0", "ledger.asgi:application"],
}


class Child:
    """As much of subprocess.Popen as `Running` uses, for a process whose parent is the nursery."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, 0)
            return None
        self.returncode = 0
        return 0

    def wait(self, timeout: float = 30) -> int:
        deadline = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.005)
        return 0


class Nursery:
    """One kind of process with one set of settings; `start` gives a running one."""

    def __init__(self, kind: str, database_url: str, folder: Path, **settings: str) -> None:
        self.kind, self.folder = kind, folder
        self.children: list[Running] = []
        self.port = free_port()
        environment = os.environ | {
            "DATABASE_URL": database_url,
            "DJANGO_SETTINGS_MODULE": "tests.settings_processes",
            "AVAL_PROCESS": kind,
            "AVAL_URL": f"http://localhost:{self.port}",
            "PYTHONUNBUFFERED": "1",
        }
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.assistant.faults.nursery"],
            cwd=ROOT,
            env=environment | settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(self, *, hours_off: int = 0) -> Running:
        """A fresh process, with a clock that is so many hours off; a web answers when this returns."""
        assert self._parent.stdin is not None and self._parent.stdout is not None
        log = self.folder / f"{self.kind}-{len(self.children)}.log"
        words = [*COMMANDS[self.kind], *(["--port", str(self.port)] if self.kind == "web" else [])]
        self._parent.stdin.write("\t".join([str(log), str(hours_off), *words]) + "\n")
        self._parent.stdin.flush()
        running = Running(self.kind, Child(int(self._parent.stdout.readline())), log)  # type: ignore[arg-type]
        self.children.append(running)
        if self.kind == "web":
            running.url = f"http://localhost:{self.port}"
            running.wait_for(lambda: answers(running.url))
        return running

    def empty(self) -> None:
        """Kill every child; their words stay."""
        for running in self.children:
            running.kill()

    def close(self) -> None:
        self.empty()
        self._parent.kill()
        self._parent.wait()


def main() -> None:
    """Load everything, then fork for each line. Nothing is connected and no thread runs here."""
    import_module("tests.assistant.faults.preload")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        log, hours, *words = line.rstrip("\n").split("\t")
        pid = os.fork()
        if pid == 0:
            if int(hours):
                time_machine.travel(datetime.now(UTC) + timedelta(hours=int(hours))).start()
            grow(log, words)
        print(pid, flush=True)


def grow(log: str, words: list[str]) -> None:
    """The child: its own session, its own output, the command as it is."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((nothing, output, output)):
        os.dup2(descriptor, number)
    sys.argv = words
    if words[0] == "manage.py":
        runpy.run_path("manage.py", run_name="__main__")
    else:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
