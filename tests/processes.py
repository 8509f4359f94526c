"""The product's own processes, started for a test on the test's database."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import connection

from tests.server import ROOT

STOP_SECONDS = 15
COMMANDS = {
    "agent": ["manage.py", "run_agent"],
    "worker": ["manage.py", "qcluster"],
}


@dataclass
class Running:
    """One process and its children, which are a process group of their own."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path
    url: str = ""

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def alive(self) -> bool:
        return self.popen.poll() is None

    def stop(self) -> int:
        """Ask the process to end (SIGTERM; the queue's children end by its word), then kill what is left of the group.

        Returns the exit status.
        """
        self.terminate()
        try:
            self.popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self.signal(signal.SIGKILL)
        return self.popen.wait()

    def terminate(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.popen.pid, signal.SIGTERM)

    def kill(self) -> None:
        """The whole group at once, as a machine that loses power would."""
        self.signal(signal.SIGKILL)
        self.popen.wait()

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, number)

    def wait_for(self, condition: Callable[[], bool], seconds: float = 30) -> None:
        """Until the condition holds; the process's words are in the failure if it ends or takes too long."""
        deadline = time.monotonic() + seconds
        while not condition():
            if not self.alive():
                pytest.fail(f"{self.name} ended with {self.popen.returncode}:\n{self.output}")
            if time.monotonic() > deadline:
                pytest.fail(f"{self.name} was not ready within {seconds} s:\n{self.output}")
            time.sleep(0.02)


class Processes:
    """Starts web, agent and worker; everything it started is ended with it."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.database_url = database_url
        self.folder = folder
        self.started: list[Running] = []

    def web(self, **settings: str) -> Running:
        """Daphne on a free port, answering."""
        port = free_port()
        address = f"http://localhost:{port}"
        options = ["--bind", "127.0.0.1", "--port", str(port), "--verbosity", "0", "ledger.asgi:application"]
        web = self.run("web", ["-m", "daphne", *options], **({"AVAL_URL": address} | settings))
        web.url = address
        web.wait_for(lambda: answers(address))
        return web

    def agent(self, **settings: str) -> Running:
        return self.run("agent", COMMANDS["agent"], **settings)

    def worker(self, **settings: str) -> Running:
        return self.run("worker", COMMANDS["worker"], **settings)

    def run(self, name: str, arguments: list[str], **settings: str) -> Running:
        """A Python process of the product with settings of its own on top of the tests'."""
        environment = os.environ | {
            "DATABASE_URL": self.database_url,
            "DJANGO_SETTINGS_MODULE": "tests.settings_processes",
            "PYTHONUNBUFFERED": "1",
        }
        environment.pop("AVAL_PROCESS", None)
        log = self.folder / f"{len(self.started)}-{name}.log"
        with log.open("wb") as output:
            popen = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=environment | settings,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        running = Running(name, popen, log)
        self.started.append(running)
        return running

    def stop(self) -> None:
        for running in self.started:
            running.terminate()
        for running in self.started:
            running.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(address: str) -> bool:
    """Whether a web server answers there, whatever it answers."""
    try:
        urllib.request.urlopen(f"{address}/", timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def forget_what_waits() -> None:
    """Nothing that other tests of this database left is due: hundreds of their cards expire by themselves in a long
    run, and a worker or an agent that starts now would do all that first."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM ledger_due")
        cursor.execute("DELETE FROM django_q_ormq")


@pytest.fixture
def processes(database_url: str, tmp_path: Path) -> Iterator[Processes]:
    """For tests that kill or configure processes: nothing runs yet, all ends with the test."""
    forget_what_waits()
    own = Processes(database_url, tmp_path)
    yield own
    own.stop()


HESITATES = {
    "steps": [
        {"when": {"user": "take your time"}, "do": [{"text": "One thing at a time:\n\nFirst"}, {"silence": True}]},
        {"when": {"user": "sem pressa"}, "do": [{"text": "Uma coisa de cada vez:\n\nPrimeiro"}, {"silence": True}]},
    ],
    "after": "rehearse",
}
"""The rehearsal model, which stops in the middle of an answer where it is asked to, until it is hung up on."""


@pytest.fixture(scope="module")
def product(database_url: str) -> Iterator[Running]:
    """The whole product for the tests of a module: web, agent and worker. `product.url` is its address.

    It ends with the module: its agent and worker would take the turns and actions of other tests.
    """
    forget_what_waits()
    with tempfile.TemporaryDirectory() as folder:
        own = Processes(database_url, Path(folder))
        script = Path(folder) / "hesitates.json"
        script.write_text(json.dumps(HESITATES))
        try:
            own.agent(AVAL_REHEARSAL_SCRIPT=str(script))
            own.worker()
            yield own.web()
        finally:
            own.stop()
