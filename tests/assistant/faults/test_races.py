"""Decisions that meet each other, the deadline, an edit, a newer card; rows 9, 10, 11 and 25 of the fault matrix."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import psycopg
import pytest
import time_machine
from django.conf import LazySettings
from django.db import connection
from django.db.models import F, QuerySet
from django.utils import timezone

from assistant.gate import approvals, closing, execution
from assistant.gate.approvals import Answer, Kind
from assistant.gate.outcome import Clock
from assistant.models import OPEN, Attempt, Decision, PendingAction, Status
from ledger.models import Due
from tests.assistant.faults.ground import assert_all_holds, wait_for
from tests.assistant.faults.races import Racers
from tests.assistant.faults.test_database_away import chain_held, waiting_for
from tests.assistant.faults.test_deciding import third_approver
from tests.assistant.gate.conftest import Office
from tests.support.provider import FileProvider

T = TypeVar("T")
ROUNDS = int(os.environ.get("AVAL_RACES", "24"))
STRONG: dict[str, Any] = {"fresh_login": True, "held": True, "reason": "agreed"}


@pytest.fixture
def racers() -> Iterator[Racers]:
    with Racers(2) as two:
        yield two


@pytest.fixture(autouse=True)
def provider(tmp_path, monkeypatch) -> FileProvider:
    monkeypatch.setenv("AVAL_TEST_PROVIDER", str(tmp_path / "provider"))
    return FileProvider()


def slots(office: Office, action: PendingAction) -> list[tuple[int, str, str]]:
    with office.scope():
        rows = Decision.objects.filter(action=action).order_by("slot").select_related("member")
        return [(row.slot, str(row.verdict), row.member.name) for row in rows]


@pytest.mark.parametrize("second", ["confirm", "reject", "cancel"])
def test_of_two_answers_of_one_person_at_once_one_decides(
    office: Office, provider: FileProvider, racers: Racers, second: str
):
    ends: Counter[str] = Counter()
    for number in range(ROUNDS // 4):
        action = office.propose("rename_client", name=f"Joe {number}")
        answers = racers.at_once(partial(office.confirm, action), partial(getattr(office, second), action))
        lost = Kind.REPEATED if second == "confirm" else Kind.CONFLICT
        assert sorted(answer.kind for answer in answers) == sorted([Kind.DECIDED, lost])
        [(slot, _verdict, name)] = slots(office, action)
        assert (slot, name) == (1, "Dana")
        loser = next(answer for answer in answers if answer.kind != Kind.DECIDED)
        status = office.fresh(action).status
        assert loser.action is not None and loser.action.status == status, "the loser sees what stands"
        ends[status] += 1
        if status == Status.SCHEDULED:
            with office.scope():
                approvals.undo(office.click(action))
    assert_all_holds(office, provider)


def test_two_people_at_once_take_one_slot_each(office: Office, provider: FileProvider, racers: Racers):
    """Confirm beside confirm of a card for two: the first key once, then the second once, never by the same person."""
    kim = third_approver(office)
    for number in range(ROUNDS // 8):
        action = office.propose("pay_out", amount_cents=60_000 + number)
        first = racers.at_once(*[partial(office.confirm, action, **STRONG)] * 2)
        assert sorted(answer.kind for answer in first) in (
            sorted([Kind.DECIDED, Kind.REPEATED]),
            sorted([Kind.DECIDED, Kind.REFUSED]),
        )
        assert office.fresh(action).status == Status.AWAITING_SECOND
        second = racers.at_once(*[partial(office.confirm, action, by=member, **STRONG) for member in (office.sam, kim)])
        assert sorted(answer.kind for answer in second) == sorted([Kind.DECIDED, Kind.CONFLICT])
        assert [(slot, verdict) for slot, verdict, _name in slots(office, action)] == [(1, "confirm"), (2, "confirm")]
        with office.scope():
            approvals.undo(office.click(action))
    assert_all_holds(office, provider)


def test_a_rejection_that_waits_for_a_first_approval_takes_the_second_slot(
    office: Office, provider: FileProvider, database_url: str
):
    """Sam read a card that nobody had answered; while he clicked, Dana's yes was being written."""
    action = office.propose("pay_out", amount_cents=60_000)
    with ThreadPoolExecutor(2) as pool, psycopg.connect(database_url, autocommit=True) as watcher:
        with chain_held(office, database_url) as holder:
            yes = pool.submit(own_connection, lambda: office.confirm(action, **STRONG))
            wait_for(lambda: len(waiting_for(watcher, holder)) == 1)
            no = pool.submit(own_connection, lambda: office.reject(action, by=office.sam))
            wait_for(lambda: blocked(watcher) == 2)
        assert [yes.result(10).kind, no.result(10).kind] == [Kind.DECIDED, Kind.DECIDED]
    assert slots(office, action) == [(1, "confirm", "Dana"), (2, "reject", "Sam")]
    assert office.fresh(action).status == Status.REJECTED
    assert_all_holds(office, provider)


def own_connection(work: Callable[[], Answer]) -> Answer:
    try:
        return work()
    finally:
        connection.close()


def blocked(watcher: psycopg.Connection) -> int:
    row = watcher.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND cardinality(pg_blocking_pids(pid)) > 0"
    ).fetchone()
    return row[0] if row else 0


def test_a_click_at_the_deadline_confirms_or_expires_and_never_both(
    office: Office, provider: FileProvider, racers: Racers
):
    """The sweep and the click within a millisecond of the deadline, by the database's clock."""
    ends: Counter[str] = Counter()
    lead = 0.01  # how long a click takes to reach its UPDATE; learned, so that it meets the deadline
    for number in range(ROUNDS):
        action = office.propose("rename_client", name=f"Joe {number}")
        with office.scope():
            PendingAction.objects.filter(pk=action.pk).update(expires_at=Clock() + timedelta(seconds=lead + 0.03))
        at = time.monotonic() + lead + 0.03
        kind, _ = racers.at_once(
            partial(after, at - lead, partial(office.confirm, action)),
            partial(after, at, partial(office.run_due, "expire_action", action)),
        )
        fresh, confirmed = office.fresh(action), [verdict for _slot, verdict, _name in slots(office, action)]
        assert (kind.kind, fresh.status, confirmed) in (
            (Kind.DECIDED, Status.SCHEDULED, ["confirm"]),
            (Kind.CONFLICT, Status.EXPIRED, []),
        )
        with office.scope():
            early = PendingAction.objects.filter(pk=action.pk, status=Status.EXPIRED, closed_at__lt=F("expires_at"))
            assert not early.exists(), "nothing expires before its time"
            approvals.undo(office.click(action))
        lead *= 1.3 if fresh.status == Status.EXPIRED else 0.85
        ends[fresh.status] += 1
    assert min(ends[Status.SCHEDULED], ends[Status.EXPIRED]) > 0, ends
    assert_all_holds(office, provider)


def after(moment: float, work: Callable[[], T]) -> T:
    time.sleep(max(0.0, moment - time.monotonic()))
    return work()


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_machine_an_hour_off_makes_the_same_deadlines_promises_and_leases(
    office: Office, provider: FileProvider, settings: LazySettings, hours: int
):
    with time_machine.travel(timezone.now() + timedelta(hours=hours)):
        letter = office.propose("post_letter", text="Hi")
        office.confirm(letter)
        promise = Due.objects.filter(kind="execute_action", object_id=letter.pk)
        off = {"wake": from_now(promise, "lease")}
        with office.scope():
            assert execution._claim(office.company.pk, letter.pk) is not None
            off |= {
                "expiry": from_now(PendingAction.objects.filter(pk=letter.pk), "expires_at"),
                "lease": from_now(Attempt.objects.filter(action=letter), "lease_until"),
                "watch": from_now(Due.objects.filter(kind="watch_action", object_id=letter.pk), "run_at"),
            }
    lease = settings.AVAL_LEASE_SECONDS
    most = {"wake": 2 * lease, "expiry": 600, "lease": 2 + lease, "watch": 2 + lease}
    assert all(most[name] - 5 < off[name] <= most[name] for name in most), off


def from_now(rows: QuerySet, name: str) -> float:
    """Seconds between the database's time and a column of the one row."""
    [left] = rows.annotate(left=F(name) - Clock()).values_list("left", flat=True)
    return left.total_seconds()


@pytest.mark.parametrize("rival", ["edit", "proposed_again", "new_message"])
def test_a_click_beside_something_newer_runs_what_was_shown_or_nothing(
    office: Office, provider: FileProvider, racers: Racers, rival: str
):
    """The old card's click never moves the new card, whichever comes first."""
    ends: Counter[str] = Counter()
    for number in range(ROUNDS // 4):
        old = office.propose("post_letter", text=f"old {number}")

        def newer(old: PendingAction = old, number: int = number) -> str:
            match rival:
                case "edit":
                    with office.scope():
                        return str(approvals.edit(office.click(old), {"text": f"new {number}"}).kind)
                case "proposed_again":
                    return office.propose("post_letter", text=f"new {number}").status
                case _:
                    with office.scope():
                        return str(closing.expire_open(office.conversation.pk, closed_by="new_message"))

        kind, _ = racers.at_once(lambda old=old: str(office.confirm(old).kind), newer)
        status = office.fresh(old).status
        closed = Status.EXPIRED if rival == "new_message" else Status.SUPERSEDED
        assert (kind, status) in (("decided", Status.SCHEDULED), ("conflict", closed))
        ends[status] += 1
        with office.scope():
            younger = PendingAction.objects.filter(pk__gt=old.pk)
            assert set(younger.values_list("status", flat=True)) <= {Status.PENDING}
            for card in younger.filter(status__in=OPEN):
                late = approvals.confirm(office.click(card, shown_hash=old.digest))
                assert (late.kind, office.fresh(card).status) == (Kind.CONFLICT, Status.PENDING)
                approvals.cancel(office.click(card))
            approvals.undo(office.click(old))
    assert provider.all_sends() == {}
    assert_all_holds(office, provider)
