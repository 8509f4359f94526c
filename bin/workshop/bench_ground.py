"""What a benchmark runs on: the product's processes, counted and timed, and the engines beside them."""

import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.processes import Processes


@dataclass(frozen=True)
class Product:
    """The running processes: the web's address, the model's, the folder of counted queries, and who they are."""

    web: str
    endpoint: str
    counter: Path
    pids: dict[str, int]

    def cpu(self) -> dict[str, float]:
        """Seconds of processor time that each has used."""
        return {name: sum(os_times(pid)) for name, pid in self.pids.items()}


@contextmanager
def redis(folder: str) -> Iterator[str]:
    """The address of a Redis: the one that is given, or one started for this run; "" where there is none."""
    given, program = os.environ.get("AVAL_BENCH_REDIS", ""), shutil.which("redis-server")
    if given or program is None:
        yield given
        return
    socket = Path(folder) / "redis.sock"
    options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", folder]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        while not socket.exists():
            if server.poll() is not None:
                raise RuntimeError("redis-server did not start")
            time.sleep(0.05)
        yield f"unix://{socket}"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def running(folder: str, engine: dict[str, str]) -> Iterator[Product]:
    """The three processes and a rehearsal model of their own, with queries counted into a folder."""
    counter = Path(folder) / f"queries-{uuid.uuid4().hex[:6]}"
    counter.mkdir()
    own = Processes(os.environ["DATABASE_URL"], Path(folder))
    try:
        model = own.run("model", ["-m", "assistant.agent.rehearsal", "--port", "0", "--print-port"])
        model.wait_for(lambda: model.output.strip() != "")
        endpoint = f"http://127.0.0.1:{model.output.split()[-1].strip()}/v1"
        shared = engine | {
            "DJANGO_SETTINGS_MODULE": "bin.workshop.bench_settings",
            "AVAL_COUNT_FOLDER": str(counter),
            "OPENAI_BASE_URL": endpoint,
            "OPENAI_API_KEY": "bench",
            "OPENAI_MODEL": "rehearsal",
        }
        agent, _worker, web = own.agent(**shared), own.worker(**shared), own.web(**shared)
        pids = {"web": web.popen.pid, "agent": agent.popen.pid, "model": model.popen.pid}
        yield Product(web.url, endpoint, counter, pids)
    finally:
        own.stop()


def os_times(pid: int) -> tuple[float, float]:
    """User and system time of a process in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    tick = os.sysconf("SC_CLK_TCK")
    return int(fields[11]) / tick, int(fields[12]) / tick


def queries(counter: Path) -> int:
    return sum(int.from_bytes(file.read_bytes(), sys.byteorder) for file in counter.iterdir())
