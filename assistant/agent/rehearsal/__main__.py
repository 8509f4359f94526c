"""Start the rehearsal model: `python -m assistant.agent.rehearsal --port 0 --print-port`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
import threading
from pathlib import Path

from assistant.agent.rehearsal.app import RehearsalApp
from assistant.agent.rehearsal.script import Script
from assistant.agent.rehearsal.serve import bound, server


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m assistant.agent.rehearsal", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (loopback)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on; 0 takes a free one")
    parser.add_argument("--print-port", action="store_true", help="write the port as the first line of output")
    parser.add_argument("--script", type=Path, help="a scenario (JSON) that answers in place of the model")
    parser.add_argument("--delay", type=float, default=0.012, help="seconds between two pieces of text")
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="end when the process that started this one is gone"
    )
    return parser.parse_args()


async def run(chosen: argparse.Namespace) -> None:
    script = Script.read(chosen.script) if chosen.script else None
    listener = bound(chosen.port, chosen.host)
    running = server(RehearsalApp(script=script, delay=chosen.delay))
    if chosen.print_port:
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()

    def end_with_parent() -> None:
        while os.read(0, 4096):
            pass
        running.should_exit = True

    if chosen.until_stdin_closes:
        threading.Thread(target=end_with_parent, daemon=True).start()
    await running.serve(sockets=[listener])


def main() -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    chosen = options()
    try:
        asyncio.run(run(chosen))
    except OSError as error:
        sys.exit(f"The rehearsal model cannot listen on {chosen.host}:{chosen.port}: {error.strerror}.")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
