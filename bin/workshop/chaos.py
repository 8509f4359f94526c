"""The long form of the kill tests: as many seeds as asked, each with its own moments of death.

bin/chaos        20 seeds
bin/chaos 200    200 seeds
"""

import os
import subprocess
import sys
from pathlib import Path

from bin.workshop.test import command

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = ["tests/assistant/agent/test_kills.py", "tests/assistant/gate/test_kills.py"]


def main(arguments: list[str]) -> int:
    seeds, rest = (arguments[0], arguments[1:]) if arguments and arguments[0].isdigit() else ("20", arguments)
    environment = os.environ | {"AVAL_CHAOS_SEEDS": seeds}
    return subprocess.run(command([*TESTS, *rest]), cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
