"""The throw-away PostgreSQL of a test run."""

import atexit
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run_id() -> str:
    """The same short word in every process of one run, another in the next (a server may outlive a run)."""
    return os.environ.setdefault("AVAL_TEST_RUN", str(os.getpid()))


def start() -> str:
    """Start it and give its address. It ends with this process, however this process ends: it watches a pipe."""
    command = [sys.executable, "-m", "ledger.embedded", "throwaway"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdin is not None and process.stdout is not None
    address = process.stdout.readline().strip()
    if not address:
        raise RuntimeError("the throw-away PostgreSQL did not start; its words are above")

    def stop() -> None:
        process.stdin.close()
        process.wait(60)

    atexit.register(stop)
    return address
