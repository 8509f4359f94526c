"""Run everything on one machine: the embedded PostgreSQL (unless DATABASE_URL is set) and the Procfile's processes.

Ctrl-C stops web, agent and worker, and the database last.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import honcho.manager
import psycopg
from honcho.compat import ProcessManager
from honcho.environ import parse_procfile

from bin.workshop import messages
from ledger import embedded
from ledger.embedded_access import EmbeddedError

ROOT = Path(__file__).resolve().parent.parent.parent
READY_SECONDS = 60
KILL_SECONDS = 10
STOPPED_BY_SIGNAL = {130, 143}


class Refusal(Exception):
    """It cannot start; the message is the one line to show."""


def chosen_port(environment: dict[str, str]) -> int:
    """PORT, which must be free on the loopback address."""
    text = environment.get("PORT", "").strip() or "8000"
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65536:
        raise Refusal(f"PORT is {text!r}; it must be a number from 1 to 65535.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(text)))
        except OSError as error:
            raise Refusal(
                f"Port {text} cannot be used ({error.strerror}): choose another, PORT=8001 bin/dev."
            ) from None
    return int(text)


@contextlib.contextmanager
def database(environment: dict[str, str]) -> Iterator[str]:
    """The address of the database for the length of the block: the one that was given, or the embedded server's."""
    given = environment.get("DATABASE_URL", "").strip()
    if given:
        try:
            psycopg.connect(given, connect_timeout=10).close()
        except psycopg.Error as error:
            raise Refusal(f"DATABASE_URL cannot be reached: {str(error).strip().splitlines()[0]}") from None
        yield given
        return
    data_dir = Path(environment.get("AVAL_DATA_DIR") or ROOT / "var").expanduser().resolve()
    print(f"Starting PostgreSQL in {data_dir} …", flush=True)
    with embedded.Server(embedded.folder(data_dir)).owned() as access:
        try:
            yield access.url
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)  # nothing may cut the shutdown of the database short
            print("Stopping PostgreSQL …", flush=True)


def manage(environment: dict[str, str], *arguments: str) -> str:
    """Run a command of manage.py and give back what it printed; Refusal if it failed."""
    command = [sys.executable, "manage.py", *arguments]
    result = subprocess.run(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, check=False)
    if result.returncode:
        sys.stdout.write(result.stdout)
        raise Refusal(f"manage.py {arguments[0]} failed; the lines above say why.")
    return result.stdout


def announce(port: int, logins: str, over: threading.Event) -> None:
    """Say where the pages are as soon as they answer."""
    address = f"http://localhost:{port}/"
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and not over.is_set():
        if _answers(port):
            print(f"\n{logins.rstrip()}\n\nAval is ready at {address}  (Ctrl-C stops it)\n", flush=True)
            return
        time.sleep(0.1)
    if not over.is_set():
        print(f"The web process has not answered at {address} for {READY_SECONDS} s.", file=sys.stderr, flush=True)


def _answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


class LeadersOnly(ProcessManager):  # type: ignore[misc]
    """Asks each process itself to end, not its whole group: the worker stops its own children in order, and a child
    that is told as well dies under its hands and keeps the rest waiting."""

    def terminate(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def run_processes(environment: dict[str, str], port: int, logins: str) -> int:
    """Run the Procfile's processes until one ends or a signal comes; 0 after a signal, else the first exit status."""
    honcho.manager.KILL_WAIT = KILL_SECONDS
    manager = honcho.manager.Manager()
    manager._procmgr = LeadersOnly()
    for name, command in parse_procfile((ROOT / "Procfile").read_text()).processes.items():
        if name != "release":
            manager.add_process(name, f"exec {command}", env=environment, cwd=str(ROOT))
    over = threading.Event()
    herald = threading.Thread(target=announce, args=(port, logins, over), daemon=True)
    herald.start()
    manager.loop()
    over.set()
    herald.join()
    if manager.returncode in STOPPED_BY_SIGNAL:
        return 0
    print("A process ended by itself, so everything was stopped; its lines above say why.", file=sys.stderr)
    return manager.returncode or 1


def environment_of(port: int) -> dict[str, str]:
    """What the processes get: this machine only, development unless DEBUG says otherwise, our own Python first."""
    binaries = str(Path(sys.executable).parent)
    given = dict(os.environ)
    given |= {"PORT": str(port), "AVAL_BIND": "127.0.0.1", "PYTHONUNBUFFERED": "1"}
    given["PATH"] = f"{binaries}{os.pathsep}{given.get('PATH', os.defpath)}"
    given.setdefault("DEBUG", "1")
    return given


def interrupted(number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main() -> int:
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        port = chosen_port(dict(os.environ))
        environment = environment_of(port)
        with database(environment) as address:
            environment["DATABASE_URL"] = address
            messages.compile_all()
            print("Migrating …", flush=True)
            manage(environment, "migrate", "--no-input", "--verbosity=0")
            print("Loading the demonstration companies …", flush=True)
            logins = manage(environment, "load_demo")
            return run_processes(environment, port, logins)
    except (Refusal, EmbeddedError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 0


if __name__ == "__main__":
    sys.exit(main())
