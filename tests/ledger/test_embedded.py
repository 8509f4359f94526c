"""The embedded PostgreSQL, started for real in a folder of its own."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from ledger import embedded
from ledger.embedded_access import Access, EmbeddedError, free_port
from ledger.embedded_account import choose_account
from tests.server import ROOT

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account to run PostgreSQL")


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A server's folder. It is entered through a folder that only its owner may enter, as pytest makes them."""
    folder = embedded.folder(tmp_path / "var")
    yield folder
    with contextlib.suppress(EmbeddedError):
        embedded.Server(folder).stop()
    if (folder / "data").exists():
        choose_account(folder).remove()


def value(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def test_a_restart_keeps_data_passwords_and_the_port(root: Path) -> None:
    with embedded.Server(root).owned() as first, psycopg.connect(first.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    with embedded.Server(root).owned() as second:
        assert second == first
        assert value(second.url, "SELECT answer FROM kept") == 42
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(second.url)


def test_the_role_is_weak_the_data_durable_and_every_connection_needs_the_password(root: Path) -> None:
    with embedded.Server(root).owned() as access:
        role = (
            "SELECT rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = current_user"
        )
        assert value(access.url, role) is False
        owner = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"
        assert value(access.url, owner) == "aval"
        assert value(access.url, "SHOW fsync") == "on"
        assert value(access.url, "SHOW max_connections") == "300"
        for wrong in (Access(access.port, "wrong", "wrong"), Access(access.port, "", "")):
            for url in (wrong.url, wrong.admin_url):
                with pytest.raises(psycopg.OperationalError, match="password"):
                    psycopg.connect(url)
        with psycopg.connect(access.admin_url) as admin:
            methods = admin.execute("SELECT DISTINCT auth_method FROM pg_hba_file_rules").fetchall()
        assert methods == [("scram-sha-256",)]
    assert (root / "access.json").stat().st_mode & 0o777 == 0o600


def test_a_folder_has_one_owner_at_a_time(root: Path) -> None:
    refused = pytest.raises(EmbeddedError, match=r"is in use by another bin/dev\. Stop that one, or choose")
    with embedded.Server(root).owned(), refused, embedded.Server(root).owned():
        pytest.fail("two owners")


def test_a_server_whose_owner_was_killed_is_taken_over_and_stopped(root: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from ledger import embedded\n"
        "with embedded.Server(Path(sys.argv[1])).owned(): os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(root)], cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL
    running = int((root / "data" / "postmaster.pid").read_text().split()[0])
    with embedded.Server(root).owned() as access:
        assert value(access.url, "SELECT 1") == 1
        assert int((root / "data" / "postmaster.pid").read_text().split()[0]) == running
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(access.url)


def test_a_pid_file_left_by_a_lost_machine_ends_no_strangers_process(root: Path) -> None:
    with embedded.Server(root).owned():
        words = (root / "data" / "postmaster.pid").read_text().split("\n")
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        (root / "data" / "postmaster.pid").write_text("\n".join([str(stranger.pid), *words[1:]]))
        embedded.Server(root).stop()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_taken_port_is_changed_for_a_free_one(root: Path) -> None:
    with embedded.Server(root).owned() as first:
        pass
    with socket.create_server(("127.0.0.1", first.port)), embedded.Server(root).owned() as second:
        assert second.port != first.port
        assert value(second.url, "SELECT 1") == 1


def test_an_interrupted_first_start_is_made_good_by_the_next(root: Path) -> None:
    root.mkdir(parents=True)
    (root / "access.json").write_text(
        json.dumps({"port": free_port(), "password": "p" * 32, "admin_password": "a" * 32})
    )
    with embedded.Server(root).owned() as access:
        assert access.password == "p" * 32
        assert value(access.url, "SELECT 1") == 1


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda root: (root / "access.json").unlink(), "access.json is gone, and with it the way into"),
        (lambda root: (root / "access.json").write_text("{"), "access.json cannot be read"),
        (lambda root: (root / "data" / "PG_VERSION").write_text("17\n"), "was made by PostgreSQL 17; this is 18"),
        (lambda root: (root / "data" / "global" / "pg_control").unlink(), "did not start: "),
    ],
    ids=["no access", "bad access", "older data", "broken data"],
)
def test_what_cannot_be_started_is_said_in_one_line(root: Path, break_it: Callable[[Path], object], words: str) -> None:
    with embedded.Server(root).owned():
        pass
    break_it(root)
    with pytest.raises(EmbeddedError, match=words) as refused:
        embedded.Server(root).start()
    assert "\n" not in str(refused.value)


def test_a_data_folder_that_cannot_be_used_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("a file is in the way")
    with pytest.raises(EmbeddedError, match="cannot be used: Not a directory"):
        embedded.Server(embedded.folder(tmp_path / "var")).start()


@AS_ROOT
def test_as_root_no_folder_is_opened_and_the_data_is_the_accounts_alone(tmp_path: Path, root: Path) -> None:
    closed = tmp_path / "home"
    closed.mkdir(mode=0o700)
    folder = embedded.folder(closed / "project" / "var")
    with embedded.Server(folder).owned() as access:
        assert value(access.url, "SELECT 1") == 1
        assert (folder / "data").is_symlink()
        data = (folder / "data").resolve()
        assert (data.stat().st_mode & 0o777, data.owner()) == (0o700, "aval_postgres")
    assert closed.stat().st_mode & 0o777 == 0o700
    choose_account(folder).remove()
    assert not data.parent.exists()


def test_the_throw_away_server_ends_with_the_pipe_and_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ledger.embedded", "throwaway"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    tmp_path.chmod(0o755)
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    url = process.stdout.readline().strip()
    assert value(url, "SELECT rolcreatedb FROM pg_roles WHERE rolname = current_user") is True
    assert len(list(tmp_path.iterdir())) == 1
    process.stdin.close()
    assert process.wait(30) == 0
    assert list(tmp_path.iterdir()) == []


def test_an_installation_that_never_ran_has_an_address_that_names_its_folder(tmp_path: Path) -> None:
    with pytest.raises(psycopg.OperationalError, match=str(tmp_path / "postgres")):
        psycopg.connect(embedded.url(tmp_path))
