"""A database put back to an earlier moment, for real: what was done after the back-up is not done again (row 32)."""

import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from assistant.doors.receipts import _why_closed
from assistant.gate import execution, reconciliation
from assistant.insight.invariants import violations
from assistant.models import Alert, Attempt, Message, PendingAction, Status
from assistant.tools.registry import Tool
from ledger import audit, embedded, lifeline
from ledger.embedded_account import choose_account
from ledger.models import AuditEvent, Client, Lifeline
from tests.assistant.gate.conftest import Office, make_office
from tests.own_server import address, own_server
from tests.processes import Processes, Running
from tests.support.provider import FileProvider

LOOK_FIRST = "The database was put back to an earlier moment. Look whether it was done before you ask again."
pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]


@dataclass
class Installation:
    """A database of its own that can be dumped and put back, and the worker that runs on it."""

    url: str
    admin: str
    binaries: Path
    folder: Path
    processes: Processes

    def back_up(self) -> None:
        self._run("pg_dump", "--format=custom", f"--file={self.folder / 'dump'}", f"--dbname={self.admin}/aval")

    def put_back(self) -> None:
        """Into a new database under the old name, as its owner had it."""
        connection.close()
        with psycopg.connect(f"{self.admin}/postgres", autocommit=True) as admin:
            admin.execute("DROP DATABASE aval WITH (FORCE)")
            admin.execute("CREATE DATABASE aval OWNER aval")
        self._run("pg_restore", "--exit-on-error", f"--dbname={self.admin}/aval", str(self.folder / "dump"))

    def worker(self) -> Running:
        return self.processes.worker(AVAL_LEASE_SECONDS="2")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run([self.binaries / program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("restore")
    with own_server(folder) as access:
        processes = Processes(access.url, folder)
        migrate = processes.run("migrate", ["manage.py", "migrate", "--no-input", "--verbosity=0"])
        assert migrate.popen.wait(240) == 0, migrate.output
        admin = address(access, "postgres", access.admin_password, "").rstrip("/")
        binaries = choose_account(embedded.folder(folder / "var")).binaries
        yield Installation(access.url, admin, binaries, folder, processes)


@pytest.fixture
def installation(
    migrated: Installation, provider: FileProvider, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Installation]:
    """This process, too, works on that database, with callers that know no other."""
    monkeypatch.setattr(execution, "_callers", ThreadPoolExecutor(1))
    own, parts = dict(connection.settings_dict), urlsplit(migrated.url)
    connection.close()
    connection.settings_dict |= {"PORT": parts.port, "NAME": parts.path[1:], "PASSWORD": parts.password}
    yield migrated
    migrated.processes.stop()
    connection.close()
    connection.settings_dict |= own


def wait_until(office: Office, action: PendingAction, *statuses: str, seconds: float = 60) -> PendingAction:
    deadline = time.monotonic() + seconds
    while (now := office.fresh(action)).status not in statuses:
        assert time.monotonic() < deadline, f"{now.tool} {now.status}"
        time.sleep(0.1)
    return now


def confirmed(office: Office, tool: str, **arguments: str) -> PendingAction:
    action = office.propose(tool, **arguments)
    office.confirm(action)
    return office.fresh(action)


def everything_holds(office: Office) -> None:
    with office.scope():
        assert violations() == []
        assert audit.verify().whole


def test_what_was_done_after_the_backup_is_looked_up_and_not_done_again(
    installation: Installation, provider: FileProvider
) -> None:
    office, other, third = make_office(), make_office(), make_office()
    letter = confirmed(office, "post_letter", text="Confirmed before the back-up")
    unknown = confirmed(other, "post_letter", text="Confirmed before it, and not sent after it")
    name = confirmed(third, "rename_client", name="Joe")
    card = office.propose("post_letter", text="A card before the back-up")
    assert lifeline.moved() is False  # this life has its name before the back-up is made
    installation.back_up()

    with other.scope():
        PendingAction.objects.filter(pk=unknown.pk).update(execute_after="2100-01-01T00:00Z")
    office.confirm(card)
    worker = installation.worker()
    for whose, action in ((office, letter), (office, card), (third, name)):
        wait_until(whose, action, Status.EXECUTED)
    worker.stop()
    assert provider.all_sends() == {str(letter.pk): 1, str(card.pk): 1}

    installation.put_back()
    assert {office.fresh(letter).status, third.fresh(name).status} == {Status.SCHEDULED}
    installation.worker()
    found = wait_until(office, letter, Status.EXECUTED)
    wait_until(other, unknown, Status.IN_DOUBT)
    undone, closed = third.fresh(name), office.fresh(card)
    assert found.receipt["text"] == "The letter was posted."
    assert (undone.status, undone.failure["code"]) == (Status.FAILED, "RESTORED")
    assert (closed.status, closed.closed_by) == (Status.EXPIRED, "restored")
    assert [str(line) for line in _why_closed(closed, [])] == [LOOK_FIRST]
    with third.scope():
        assert Client.objects.get().name == "John Smith"
    with office.scope():
        assert AuditEvent.objects.filter(kind="action.in_doubt", subject_id=letter.pk).count() == 1
    with other.scope():
        assert Alert.objects.get(handled_at=None).action_id == unknown.pk
        reconciliation.settle(unknown.pk, by=other.dana, done=False, note="Not in the provider's list.")
    for one in (office, other, third):
        everything_holds(one)

    # Life goes on, and what comes now runs by itself.
    after = confirmed(office, "post_letter", text="After it")
    wait_until(office, after, Status.EXECUTED)
    assert provider.all_sends() == {str(letter.pk): 1, str(card.pk): 1, str(after.pk): 1}


def test_an_action_that_ran_at_the_moment_of_the_backup_is_in_doubt_at_once(
    installation: Installation, provider: FileProvider
) -> None:
    office = make_office()
    letter = confirmed(office, "post_letter", text="Running")
    lifeline.mend()
    with office.scope():
        assert execution._claim(office.company.pk, letter.pk) is not None
    moved_away()
    assert lifeline.mend() is True
    assert office.fresh(letter).status == Status.IN_DOUBT
    with office.scope():
        assert Attempt.objects.get(action=letter).detail == {"why": "restored"}
    everything_holds(office)
    assert provider.all_sends() == {}


def test_the_claim_itself_asks_so_that_no_worker_can_be_too_early(
    installation: Installation, provider: FileProvider
) -> None:
    office = make_office()
    lifeline.mend()
    letter = confirmed(office, "post_letter", text="Hi")
    moved_away()
    assert office.execute(letter).status == Status.IN_DOUBT
    assert (provider.all_sends(), lifeline.moved()) == ({}, False)
    later = confirmed(office, "post_letter", text="Later")
    assert office.execute(later).status == Status.EXECUTED
    everything_holds(office)


def test_a_deed_that_can_no_longer_be_reserved_is_a_persons_to_settle(
    installation: Installation, provider: FileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = make_office()
    lifeline.mend()
    letter = confirmed(office, "post_letter", text="Hi")
    moved_away()

    def refuse(*_arguments: object) -> None:
        raise LookupError("what it names is not there yet")

    monkeypatch.setattr(Tool, "part", lambda made, name: refuse)
    lifeline.mend()
    monkeypatch.undo()
    assert office.fresh(letter).status == Status.IN_DOUBT
    (provider.folder / f"{letter.pk}.done").write_text("{}")
    office.run_due("reconcile_action", letter)
    assert office.fresh(letter).status == Status.IN_DOUBT
    with office.scope():
        settled = reconciliation.settle(letter.pk, by=office.dana, done=True, note="It is in their list.")
        assert (settled.status, settled.receipt["text"]) == (Status.EXECUTED, "It is in their list.")
        assert Message.objects.filter(action=letter, code="executed").count() == 1
    everything_holds(office)


def test_a_snapshot_that_leaves_no_trace_is_declared_by_the_operator(
    installation: Installation, provider: FileProvider
) -> None:
    office = make_office()
    lifeline.mend()
    letter = confirmed(office, "post_letter", text="Hi")
    assert lifeline.mend() is False
    call_command("restored")
    assert office.fresh(letter).status == Status.IN_DOUBT
    assert provider.all_sends() == {}


def moved_away() -> None:
    """As after a restore: the rows say that they are another database's."""
    assert Lifeline.objects.update(identity="another") == 1
