"""Put one deliberate fault at a time into a copy of the code and see the tests turn red.

    bin/mutants            all of them, two at a time
    bin/mutants claim      those whose name has the word

A fault that no test notices is a hole in the suite: it is named, and the exit status is 1.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests import server

ROOT = Path(__file__).resolve().parent.parent.parent
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "var", "staticfiles", "__pycache__", ".*_cache")
LONGEST = 600
"""Seconds that one mutant's tests may take."""


def main(words: list[str]) -> int:
    mutants = tomllib.loads((ROOT / "bin" / "workshop" / "mutants.toml").read_text())["mutant"]
    chosen = [mutant for mutant in mutants if all(word in mutant["name"] for word in words)]
    environment = os.environ | {"DATABASE_URL_TEST": os.environ.get("DATABASE_URL_TEST") or server.start()}
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda mutant: try_one(mutant, environment), chosen))
    survived = [mutant["name"] for mutant, caught in zip(chosen, verdicts, strict=True) if not caught]
    print(f"\n{len(chosen) - len(survived)} of {len(chosen)} faults were noticed")
    for name in survived:
        print(f"  not noticed: {name}")
    return 1 if survived or not chosen else 0


def try_one(mutant: dict[str, Any], environment: dict[str, str]) -> bool:
    """True if the tests fail with this fault in place (and their failure is one of tests, not of the machinery)."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="aval-mutant-") as folder:
        copy = Path(folder) / "aval"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        for file, change in changes(mutant):
            put_in(copy / file, change)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *mutant["tests"]]
        run = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST
        )
    caught = run.returncode == 1 and "FAILED" in run.stdout
    by = next((line for line in run.stdout.splitlines() if line.startswith("FAILED")), run.stdout[-400:])
    print(
        f"{'noticed' if caught else 'NOT NOTICED':<12}{time.monotonic() - started:5.0f} s  {mutant['name']}\n    {by}"
    )
    return caught


def changes(mutant: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The file and the change of each place that this fault sits in."""
    also = mutant.get("also")
    places = [mutant, also] if also else [mutant]
    return [(place.get("file", mutant["file"]), place) for place in places]


def put_in(file: Path, change: dict[str, Any]) -> None:
    text = file.read_text()
    if text.count(change["find"]) != change.get("times", 1):
        raise SystemExit(f"{file.name}: the place of a fault was not found once:\n{change['find']}")
    file.write_text(text.replace(change["find"], change["replace"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
