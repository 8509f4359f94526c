"""One database for each test process, copied from a template that is migrated once for each run.

Tests run on real commits as the product's restricted role: no test is wrapped in a transaction and nothing is flushed.
What keeps tests apart is a company of its own for each. Tests that need no database never cause one to be made.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql
from pytest_django.plugin import DjangoDbBlocker

from tests import server, settings


def _fingerprint() -> str:
    """Of everything that the template is made from: a kept server's template serves until one of them changes."""
    made_from = [*server.ROOT.glob("*/migrations/*.py"), server.ROOT / "requirements.txt"]
    made_from += [server.ROOT / "ledger" / file for file in ("tenancy.py", "grants.py")]  # what migrations call
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(made_from))).hexdigest()[:12]


TEMPLATE = f"aval_template_{_fingerprint()}"


class TestDatabase:
    """Makes this process's database on the first call of `make`."""

    __test__ = False

    def __init__(self) -> None:
        self.made = False
        self.failed = False

    def make(self) -> None:
        """Once; after a failure every later test is told at once rather than trying again."""
        if self.made:
            return
        if self.failed:
            raise RuntimeError("the test database could not be made: see the first failure")
        self.failed = True
        with psycopg.connect(os.environ["DATABASE_URL_TEST"], autocommit=True) as connection:
            _refuse_strong_role(connection)
            _make_template(connection)
            _create(connection, settings.DATABASE, TEMPLATE)
        self.made = True

    def drop(self) -> None:
        """Dropped with whatever is still connected to it."""
        if not self.made:
            return
        with psycopg.connect(os.environ["DATABASE_URL_TEST"], autocommit=True) as connection:
            _drop(connection, settings.DATABASE)


@pytest.fixture(scope="session", autouse=True)
def database(django_db_blocker: DjangoDbBlocker) -> Iterator[TestDatabase]:
    """Django may connect; the first connection makes the database. Tests that connect by themselves call `make()`."""
    own = TestDatabase()
    with django_db_blocker.unblock():
        connect = BaseDatabaseWrapper.ensure_connection

        def make_then_connect(wrapper: BaseDatabaseWrapper) -> None:
            own.make()
            connect(wrapper)

        BaseDatabaseWrapper.ensure_connection = make_then_connect  # type: ignore[assignment, method-assign]
        yield own
        BaseDatabaseWrapper.ensure_connection = connect  # type: ignore[method-assign]
    own.drop()


@pytest.fixture(scope="session")
def database_url(database: TestDatabase) -> str:
    """The address of this process's database, which exists."""
    database.make()
    return os.environ["DATABASE_URL"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test in a transaction of its own would prove nothing about locks, triggers at commit, or other processes."""
    for item in items:
        if item.get_closest_marker("django_db") or "db" in getattr(item, "fixturenames", ()):
            raise pytest.UsageError(f"{item.nodeid}: no django_db and no db here; tests run on real commits.")


def _refuse_strong_role(connection: psycopg.Connection) -> None:
    row = connection.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").fetchone()
    if row != (False,):
        pytest.exit("DATABASE_URL_TEST names a role that row-level security does not bind: use another.", 4)


def _make_template(connection: psycopg.Connection) -> None:
    """The first process of the run migrates; the others wait for it."""
    with (Path(tempfile.gettempdir()) / f"{TEMPLATE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [TEMPLATE]).fetchone():
            return
        unfinished = f"{TEMPLATE}_unfinished"
        _drop(connection, unfinished)
        _create(connection, unfinished, "template1")
        address = urlsplit(os.environ["DATABASE_URL_TEST"])._replace(path=f"/{unfinished}").geturl()
        command = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"]
        environment = os.environ | {
            "DATABASE_URL": address,
            "DJANGO_SETTINGS_MODULE": "tests.settings_processes",
        }
        result = subprocess.run(command, cwd=server.ROOT, env=environment, capture_output=True, text=True, check=False)
        if result.returncode:
            raise RuntimeError(f"the template could not be migrated:\n{result.stdout}{result.stderr}")
        rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
        connection.execute(rename.format(sql.Identifier(unfinished), sql.Identifier(TEMPLATE)))


def _create(connection: psycopg.Connection, name: str, template: str) -> None:
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))


def _drop(connection: psycopg.Connection, name: str) -> None:
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
