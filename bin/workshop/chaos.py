"""The long form of the fault tests: more seeds of kills, a crash loop for every gated tool, a thousand races.

bin/chaos        20 seeds, each of 20 kills
bin/chaos 200    200 seeds
"""

import os
import subprocess
import sys
from pathlib import Path

from bin.workshop.test import command

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = ["tests/assistant/faults", "tests/assistant/agent/test_kills.py"]
LONG = {"AVAL_CHAOS_LOOPS": "1", "AVAL_RACES": "1000"}


def main(arguments: list[str]) -> int:
    seeds, rest = (arguments[0], arguments[1:]) if arguments and arguments[0].isdigit() else ("20", arguments)
    environment = os.environ | LONG | {"AVAL_CHAOS_SEEDS": seeds}
    # A race of a thousand rounds takes longer than a test may take otherwise.
    patience = ["-o", "timeout=1200"]
    return subprocess.run(command([*TESTS, *patience, *rest]), cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
