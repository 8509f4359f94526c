"""Measure the pages that list what grows without bound, over a million rows of one company.

    bin/bench_records [ROWS] [--keep FOLDER]     a million; FOLDER keeps the filled database for the next run

A PostgreSQL of its own is started and migrated; the rows come by COPY as its superuser, past triggers and policies, and
the pages are measured as the product's own role. Each part is a module of its own with `main()`, named in PARTS: it
finds the address of the superuser in AVAL_BENCH_ADMIN and the number of rows in AVAL_BENCH_ROWS.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ledger import embedded
from ledger.embedded import Server
from ledger.embedded_access import Access
from tests.own_server import own_server
from tests.server import ROOT

PARTS = ("bin.workshop.records_inbox", "bin.workshop.records_audit")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, default=None)
    parser.add_argument("--part", action="append", choices=PARTS, default=None)
    given = parser.parse_args()
    with server(given.keep) as access:
        return measured(access, given.rows, given.part or list(PARTS))


@contextlib.contextmanager
def server(kept: Path | None) -> Iterator[Access]:
    """A PostgreSQL for this run alone, or the one of a folder, which stays."""
    if kept:
        with Server(embedded.folder(kept.absolute()), fast=True).owned() as access:
            yield access
        return
    with tempfile.TemporaryDirectory(prefix="aval-records-") as folder, own_server(Path(folder)) as access:
        yield access


def measured(access: Access, rows: int, parts: list[str]) -> int:
    """Run each part on one server; 1 if one of them was over its bar."""
    environment = os.environ | settings_of(access, rows)
    run([sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"], environment)
    return max(run([sys.executable, "-m", part], environment) for part in parts)


def run(command: list[str], environment: dict[str, str]) -> int:
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def settings_of(access: Access, rows: int) -> dict[str, str]:
    admin = urlsplit(access.admin_url)._replace(path=urlsplit(access.url).path).geturl()
    return {
        "DJANGO_SETTINGS_MODULE": "tests.settings_processes",
        "DEBUG": "0",
        "SECRET_KEY": "only-for-measuring-" + "k" * 50,
        "AVAL_HOSTS": "localhost,testserver",
        "AVAL_URL": "http://testserver",
        "AVAL_LOG_LEVEL": "ERROR",
        "DATABASE_URL": access.url,
        "AVAL_BENCH_ADMIN": admin,
        "AVAL_BENCH_ROWS": str(rows),
    }


if __name__ == "__main__":
    sys.exit(main())
