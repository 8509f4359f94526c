"""The throw-away PostgreSQL of a test run, or the one that a developer keeps running beside it.

`python -m ledger.embedded throwaway` prints an address; written to var/test-server it is used by every run, and the
migrated template stays there for as long as the migrations do not change.
"""

import atexit
import contextlib
import os
import subprocess
import sys
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent


def run_id() -> str:
    """The same short word in every process of one run, another in the next (a server may outlive a run)."""
    return os.environ.setdefault("AVAL_TEST_RUN", str(os.getpid()))


def start() -> str:
    """Start it and give its address. It ends with this process, however this process ends: it watches a pipe."""
    if kept := _kept():
        return kept
    command = [sys.executable, "-m", "ledger.embedded", "throwaway"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    pipe = process.stdin
    assert pipe is not None and process.stdout is not None
    address = process.stdout.readline().strip()
    if not address:
        raise RuntimeError("the throw-away PostgreSQL did not start; its words are above")

    def stop() -> None:
        pipe.close()
        process.wait(60)

    atexit.register(stop)
    return address


def _kept() -> str | None:
    """The address of a server that is kept running, if it answers."""
    with contextlib.suppress(OSError, psycopg.Error):
        address = (ROOT / "var" / "test-server").read_text().strip()
        psycopg.connect(address, connect_timeout=2).close()
        return address
    return None
