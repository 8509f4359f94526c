"""A role that row-level security does not bind runs nothing (R13)."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connections
from django.db.backends.signals import connection_created

from ledger import roles
from ledger.embedded_access import Access
from tests.own_server import address, own_server
from tests.processes import Processes, free_port

LINE = "Aval does not start: row-level security does not bind the database's role {}: give DATABASE_URL one that is"
STARTS = {
    "web": ["-m", "daphne", "--bind", "127.0.0.1", "--verbosity", "0", "ledger.asgi:application"],
    "agent": ["manage.py", "run_agent"],
    "worker": ["manage.py", "qcluster"],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Access]:
    """A server with a role `strong` that has BYPASSRLS, beside the product's own."""
    with own_server(tmp_path_factory.mktemp("roles")) as access:
        with psycopg.connect(access.admin_url, autocommit=True) as admin:
            admin.execute("CREATE ROLE strong LOGIN BYPASSRLS PASSWORD 'strong'")
        yield access


def address_of(access: Access, role: str) -> str:
    return address(access, role, {"postgres": access.admin_password, "strong": "strong"}[role])


@pytest.mark.processes
@pytest.mark.parametrize("role", ["strong", "postgres"])
@pytest.mark.parametrize("name", STARTS)
def test_no_process_starts_under_a_role_that_sees_every_company(
    server: Access, tmp_path: Path, name: str, role: str
) -> None:
    own = Processes(address_of(server, role), tmp_path)
    arguments = [*STARTS[name], *(["--port", str(free_port())] if name == "web" else [])]
    try:
        running = own.run(name, arguments)
        assert running.popen.wait(60) == 1
    finally:
        own.stop()
    said = running.output.strip().splitlines()
    assert said[-1].startswith(LINE.format(role))
    assert "Traceback" not in running.output


@pytest.fixture
def connect(server: Access, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Opens the first connection of a process under a role, and says which role it has. A thread has its own."""

    def in_a_thread() -> str:
        try:
            with connections["default"].cursor() as cursor:
                cursor.execute("SELECT current_user")
                return str(cursor.fetchone()[0])
        finally:
            connections["default"].close()

    def as_role(role: str) -> str:
        parts = urlsplit(server.url if role == "aval" else address_of(server, role))
        for name, value in (("USER", role), ("PASSWORD", parts.password), ("PORT", parts.port), ("NAME", "aval")):
            monkeypatch.setitem(connections.settings["default"], name, value)
        with ThreadPoolExecutor(max_workers=1) as apart:
            return apart.submit(in_a_thread).result()

    roles.watch()
    yield as_role
    connection_created.disconnect(dispatch_uid="ledger.roles")


def watching() -> int:
    return sum(key[0] == "ledger.roles" for key, *_rest in connection_created.receivers)


def test_every_connection_is_refused_until_one_is_bound_and_then_none_is_asked(connect: Callable[[str], str]) -> None:
    """A database that was away at the start cannot let a strong role in later."""
    for _attempt in range(2):
        with pytest.raises(roles.UnboundRole, match="role strong"):
            connect("strong")
    assert watching() == 1
    assert connect("aval") == "aval"
    assert watching() == 0


def test_a_database_that_is_away_ends_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.settings["default"], "PORT", free_port())
    roles.require_bound()


def test_a_bound_role_passes_and_leaves_no_connection(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as own:
        mine = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        before = own.execute(mine).fetchone()
        roles.require_bound()
        for _wait in range(100):
            if own.execute(mine).fetchone() == before:
                return
            time.sleep(0.05)
    pytest.fail("the check left its connection open")
