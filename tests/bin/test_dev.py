"""bin/dev for real: everything starts, everything stops, nothing is lost and nothing is left."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from bin.workshop import dev
from ledger import embedded
from ledger.embedded_account import choose_account
from tests.processes import free_port
from tests.server import ROOT

READY = "Aval is ready at"
MARK = "AVAL_TEST_MARK"
COMMAND = [sys.executable, "-m", "bin.workshop.dev"]


class Installation:
    """A data folder and a port of its own, and an environment as on a fresh machine."""

    def __init__(self, folder: Path) -> None:
        self.data_dir = folder / "var"
        self.port = free_port()
        self.mark = uuid.uuid4().hex
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        own = {"AVAL_DATA_DIR": str(self.data_dir), "PORT": str(self.port), MARK: self.mark}
        self.environment = kept | own
        self.log = folder / "log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """Until the address is printed; what was printed."""
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                COMMAND, cwd=ROOT, env=self.environment, stdout=output, stderr=output, start_new_session=True
            )
        deadline = time.monotonic() + 240
        while READY not in self.output:
            if self.process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(self.output)
            time.sleep(0.2)
        return self.output

    def stop(self, number: int) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(90)

    def refused(self, **settings: str) -> tuple[int, str]:
        """Exit status and last line of a start that cannot succeed."""
        result = subprocess.run(
            COMMAND, cwd=ROOT, env=self.environment | settings, capture_output=True, text=True, timeout=90
        )
        return result.returncode, result.stderr.strip()

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def left_over(self) -> list[str]:
        """Processes that still carry this installation's mark."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    own = Installation(tmp_path)
    yield own
    if own.process is not None and own.process.poll() is None:
        own.stop(signal.SIGTERM)
    server = embedded.folder(own.data_dir)
    if server.exists():
        embedded.Server(server).stop()
        choose_account(server).remove()


@pytest.mark.processes
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for left-over processes in /proc")
def test_it_starts_serves_stops_and_starts_again_on_the_same_data(installation: Installation) -> None:
    printed = installation.start()
    assert "dana@loneridge.example" in printed
    assert f"{READY} http://localhost:{installation.port}/" in printed
    page = urllib.request.urlopen(f"http://localhost:{installation.port}/login/", timeout=30)
    assert page.status == 200
    with psycopg.connect(embedded.url(installation.data_dir)) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")

    status, words = installation.refused()
    assert (status, words) == (
        1,
        f"Port {installation.port} cannot be used (Address already in use): choose another, PORT=8001 bin/dev.",
    )
    status, words = installation.refused(PORT=str(free_port()))
    assert (status, words) == (
        1,
        f"The data folder {installation.data_dir} is in use by another bin/dev. "
        "Stop that one, or choose another folder with AVAL_DATA_DIR.",
    )

    assert installation.stop(signal.SIGINT) == 0
    assert installation.left_over() == []
    assert "Traceback" not in installation.output
    assert "SIGKILL" not in installation.output

    installation.start()
    with psycopg.connect(embedded.url(installation.data_dir)) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
    assert installation.stop(signal.SIGTERM) == 0
    assert installation.left_over() == []


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", "80.5"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(dev.Refusal, match=r"^PORT is .*; it must be a number from 1 to 65535\.$"):
        dev.chosen_port({"PORT": port})


def test_a_port_in_use_is_refused_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(dev.Refusal, match=f"^Port {port} cannot be used"):
            dev.chosen_port({"PORT": str(port)})


def test_a_database_of_ones_own_is_used_instead(database_url: str) -> None:
    with dev.database({"DATABASE_URL": database_url, "AVAL_DATA_DIR": "/nowhere"}) as address:
        assert address == database_url


def test_a_database_that_does_not_answer_is_refused_in_one_line() -> None:
    url = f"postgresql://aval:secret@127.0.0.1:{free_port()}/aval"
    with pytest.raises(dev.Refusal) as refused, dev.database({"DATABASE_URL": url}):
        pytest.fail("nobody is there")
    assert str(refused.value).startswith("DATABASE_URL cannot be reached: ")
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_the_processes_are_development_on_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBUG", raising=False)
    environment = dev.environment_of(8123)
    assert (environment["DEBUG"], environment["AVAL_BIND"], environment["PORT"]) == ("1", "127.0.0.1", "8123")
    assert environment["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    monkeypatch.setenv("DEBUG", "0")
    assert dev.environment_of(8123)["DEBUG"] == "0"
