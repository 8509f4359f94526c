"""Run the tests by pytest, on a few processes and a throw-away PostgreSQL; arguments go to pytest."""

import subprocess
import sys
from pathlib import Path

from bin.workshop import messages

ROOT = Path(__file__).resolve().parent.parent.parent


def command(arguments: list[str]) -> list[str]:
    """Three processes share the tests (those of a module stay together), unless -n says otherwise: some only wait."""
    spread = [] if any(word.startswith("-n") or word == "--pdb" for word in arguments) else ["-n", "3"]
    return [sys.executable, "-m", "pytest", *spread, "--dist", "loadscope", *arguments]


def main(arguments: list[str]) -> int:
    messages.compile_all()
    return subprocess.run(command(arguments), cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
