"""The database's sessions ended in the middle, the database away, full or read-only; rows 7, 17, 21 and 30.

"Away" is the test's own database closed to everyone and every session of it ended, as in a restart.
"""

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2 as httpx
import psycopg
import pytest
from django.db import connections
from psycopg import sql

from assistant.models import Decision, PendingAction, Status, Turn
from ledger.models import AuditEvent, Due
from tests import cast as casts
from tests import settings as test_settings
from tests.assistant.agent.talk import Stage
from tests.assistant.faults.ground import POOL, Ground, assert_all_holds, wait_for
from tests.assistant.faults.stories import TAG, begin, rests
from tests.assistant.gate.conftest import Office
from tests.support.signing_in import signed_in

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]

SENTENCE = "Your last step may not have been taken. Try again in a few seconds: nothing is done twice."


class Browser:
    """One signed-in person; the sign-in is made while the database is there."""

    def __init__(self, ground: Ground, office: Office, *, connections: int = 4) -> None:
        cookies, headers = signed_in(office.dana)
        self.http = httpx.Client(
            base_url=ground.running("web").url,
            cookies=cookies,
            headers=headers,
            timeout=60,
            limits=httpx.Limits(max_connections=connections),
        )

    def confirm(self, action: PendingAction, *, htmx: bool = True) -> httpx.Response:
        headers = {"HX-Request": "true"} if htmx else {}
        path = f"/c/{action.conversation_id}/actions/{action.pk}/confirm"
        return self.http.post(path, data={"hash": action.digest}, headers=headers)


@contextmanager
def chain_held(office: Office, database_url: str) -> Iterator[psycopg.Connection]:
    """Hold the head of the company's audit chain: a decision waits with everything but its last statement done."""
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT set_config('app.tenant', %s, true)", [str(office.company.pk)])
        holder.execute("SELECT FROM ledger_chainhead FOR UPDATE")
        yield holder


def waiting_for(watcher: psycopg.Connection, holder: psycopg.Connection) -> list[int]:
    """The sessions that wait for what the holder holds."""
    rows = watcher.execute(
        "SELECT pid FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))", [holder.info.backend_pid]
    )
    return [pid for (pid,) in rows.fetchall()]


def nothing_was_decided(office: Office, action: PendingAction) -> bool:
    with office.scope():
        traces: list[Any] = [
            *Decision.objects.filter(action=action),
            *AuditEvent.objects.filter(subject_id=action.pk).exclude(kind="action.proposed"),
            *Due.objects.filter(object_id=action.pk).exclude(kind="expire_action"),
        ]
    return office.fresh(action).status == Status.PENDING and traces == []


@pytest.mark.parametrize("htmx", [True, False])
def test_a_session_ended_in_the_middle_of_a_decision_decides_nothing_and_is_503(
    ground: Ground, office: Office, database_url: str, htmx: bool
):
    action, browser = office.propose("rename_client", name="Joe"), Browser(ground, office)
    with (
        psycopg.connect(database_url, autocommit=True) as watcher,
        ThreadPoolExecutor(1) as pool,
        chain_held(office, database_url) as holder,
    ):
        answer = pool.submit(browser.confirm, action, htmx=htmx)
        wait_for(lambda: waiting_for(watcher, holder) != [], ground=ground)
        [session] = waiting_for(watcher, holder)
        watcher.execute("SELECT pg_terminate_backend(%s)", [session])
        refused = answer.result(30)
    assert (refused.status_code, refused.headers["retry-after"], SENTENCE in refused.text) == (503, "5", True)
    assert ("<html" in refused.text, refused.headers.get("hx-reswap")) == (
        (False, "beforebegin") if htmx else (True, None)
    )
    assert "answered with 503" in ground.running("web").output
    assert nothing_was_decided(office, action)
    assert browser.confirm(action).status_code == 200
    assert office.execute(action).status == Status.EXECUTED
    assert_all_holds(office, ground.provider)


def test_a_pool_without_room_is_503_and_the_clicks_that_waited_are_answered(
    ground: Ground, office: Office, database_url: str
):
    """Every connection is held; twenty for each wait; the others are told at once."""
    clicks = 21 * POOL + 10
    action, browser = office.propose("rename_client", name="Joe"), Browser(ground, office, connections=clicks)
    with ThreadPoolExecutor(clicks) as pool:
        with (
            psycopg.connect(database_url, autocommit=True) as watcher,
            chain_held(office, database_url) as holder,
        ):
            answers = [pool.submit(browser.confirm, action)]
            wait_for(lambda: waiting_for(watcher, holder) != [], ground=ground)
            answers += [pool.submit(browser.confirm, action) for _ in range(clicks - 1)]
            wait_for(lambda: any(answer.done() for answer in answers), ground=ground)
        told = Counter(answer.result(30).status_code for answer in answers)
    assert (set(told), told[200] >= 10 * POOL) == ({200, 503}, True), told
    assert all(SENTENCE in answer.result().text for answer in answers if answer.result().status_code == 503)
    assert office.execute(action).status == Status.EXECUTED
    assert_all_holds(office, ground.provider)


def test_a_database_that_takes_no_writes_decides_nothing_and_is_503(ground: Ground, office: Office, database_url: str):
    action, browser = office.propose("rename_client", name="Joe"), Browser(ground, office)
    with altered("SET default_transaction_read_only = on", "RESET default_transaction_read_only"):
        end_sessions()
        assert browser.confirm(action).status_code == 503
    end_sessions()
    assert nothing_was_decided(office, action)
    assert browser.confirm(action).status_code == 200


def test_web_agent_and_worker_come_back_by_themselves(ground: Ground, office: Office, stage: Stage):
    """A call at the provider, a turn at the model and a click meet the database's absence; all come to their end."""
    for kind in ("agent", "worker"):
        ground.running(kind)
    browser, talk = Browser(ground, office), begin(casts.lone_ridge(), stage)
    letter = office.propose("post_letter", text="Hi")
    ground.provider.set_mode("hold")
    assert browser.confirm(letter).status_code == 200
    wait_for(lambda: ground.provider.sends(str(letter.pk)) == 1, ground=ground)
    talk.post(TAG)
    wait_for(lambda: talk.messages(role="assistant") != [], ground=ground)
    with ThreadPoolExecutor(2) as pool:
        with altered("ALLOW_CONNECTIONS false", "ALLOW_CONNECTIONS true"):
            end_sessions()
            ground.provider.set_mode("ok")
            answers = [pool.submit(browser.http.get, "/c/"), pool.submit(browser.confirm, letter)]
            wait_for(lambda: "is away; the outcome" in ground.running("worker").output, ground=ground)
        assert {answer.result(30).status_code for answer in answers} <= {200, 302, 503}
    wait_for(lambda: office.fresh(letter).status == Status.EXECUTED, ground=ground)
    with office.scope():
        [executed] = AuditEvent.objects.filter(subject_id=letter.pk, kind="action.executed")
    assert '"how":"worker"' in executed.body, "the answer itself was kept, not looked up"
    wait_for(lambda: rests(talk), ground=ground)
    assert (talk.turn().status, talk.client_now().tags, talk.replies()[-1]) == (Turn.Status.DONE, ["seen"], "Done.")
    rename = office.propose("rename_client", name="Joe")
    assert browser.confirm(rename).status_code == 200
    wait_for(lambda: office.fresh(rename).status == Status.EXECUTED, seconds=6, ground=ground)
    assert all(ground.now[kind].alive() for kind in ("web", "agent", "worker"))
    assert_all_holds(office, ground.provider)
    assert_all_holds(talk.cast, ground.provider)


def server() -> psycopg.Connection:
    """Beside the test's own database."""
    return psycopg.connect(os.environ["DATABASE_URL_TEST"], autocommit=True)


@contextmanager
def altered(change: str, back: str) -> Iterator[None]:
    alter = sql.SQL("ALTER DATABASE {} ").format(sql.Identifier(test_settings.DATABASE))
    with server() as connection:
        connection.execute(alter + sql.SQL(change))  # type: ignore[arg-type]
        try:
            yield
        finally:
            connection.execute(alter + sql.SQL(back))  # type: ignore[arg-type]


def end_sessions() -> None:
    """Every session of the test's database, this process's own included."""
    connections.close_all()
    with server() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [test_settings.DATABASE]
        )
