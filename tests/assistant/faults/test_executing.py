"""A real worker, killed at each point of an action's way, paused and doubled; rows 13 to 20 of the fault matrix."""

import signal
from typing import Any

import pytest
from django.db.models import Max
from django_q.models import OrmQ

from assistant.models import Alert, Attempt, PendingAction, Status
from ledger import jobs
from ledger.models import AuditEvent, Payment, Refund, SandboxDelivery
from tests.assistant.faults.ground import Ground, assert_all_holds, hurry, until, wait_for
from tests.assistant.gate.conftest import Office, make_office
from tests.bills import charged, issued
from tests.cast import Cast, lone_ridge
from tests.desks import Desk, desk_of

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]

EXTERNAL = {
    "claim-": Status.EXECUTED,
    "claim+": Status.IN_DOUBT,
    "call+": Status.EXECUTED,
    "record-": Status.EXECUTED,
    "record+": Status.EXECUTED,
    "ack": Status.EXECUTED,
}
INTERNAL = {"claim-": Status.EXECUTED, "record-": Status.EXECUTED, "ack": Status.EXECUTED}
LEFT_RUNNING = ("claim+", "call+", "record-")
"""Killed there, an external action stays `executing` until its lease is over."""
STRONG: dict[str, Any] = {"fresh_login": True, "held": True, "reason": "paid twice"}


@pytest.fixture(autouse=True)
def worker(ground: Ground) -> None:
    ground.running("worker")


@pytest.mark.parametrize("point", EXTERNAL)
def test_a_worker_killed_once_around_an_external_tool_sends_at_most_once(office: Office, ground: Ground, point: str):
    action = office.propose("post_letter", text="Hi")
    ground.kills.once(point, action.pk)
    office.confirm(action)
    wait_for(lambda: ground.kills.deaths(point) == 1, ground=ground)
    if point in LEFT_RUNNING:
        hurry(office, action)
    assert until(office, action, statuses=(EXTERNAL[point],)) == [EXTERNAL[point]]
    assert ground.provider.sends(str(action.pk)) == (0 if point == "claim+" else 1)
    assert_all_holds(office, ground.provider)


@pytest.mark.parametrize(
    ("mode", "sends", "end"),
    [("kill_before", 0, Status.IN_DOUBT), ("kill_during", 1, Status.IN_DOUBT), ("kill_after", 1, Status.EXECUTED)],
)
def test_T06_a_worker_killed_around_the_providers_call_never_sends_again(
    office: Office, ground: Ground, mode: str, sends: int, end: str
):
    ground.provider.set_mode(mode)
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    assert until(office, action, statuses=(end,)) == [end]
    redeliver(office, action)
    assert (office.fresh(action).status, ground.provider.sends(str(action.pk))) == (end, sends)
    if end == Status.IN_DOUBT:
        with office.scope():
            assert Alert.objects.filter(action=action, handled_at=None).count() == 1
    assert_all_holds(office, ground.provider)


@pytest.mark.parametrize("point", INTERNAL)
def test_a_worker_killed_once_around_an_internal_tool_ends_executed_once(office: Office, ground: Ground, point: str):
    action = office.propose("rename_client", name="Joe")
    ground.kills.once(point, action.pk)
    office.confirm(action)
    assert until(office, action) == [INTERNAL[point]]
    wait_for(lambda: ground.kills.deaths(point) == 1, ground=ground)
    with office.scope():
        office.client.refresh_from_db()
        assert (office.client.name, office.client.version) == ("Joe", 2)
    assert_all_holds(office, ground.provider)


@pytest.mark.parametrize(("point", "requests"), [("claim+", 0), ("call+", 1), ("record-", 1)])
def test_H60_a_worker_killed_around_a_refund_asks_the_provider_once(ground: Ground, point: str, requests: int):
    """Strong, at the card provider's sandbox: no request is repeated, and none is taken for done without a record."""
    desk = charged_desk()
    action = desk.propose(
        "refund_payment", payment_ref="PAY-0001", amount="350.00", reason="duplicate", note="paid twice"
    )
    ground.kills.once(point, action.pk)
    desk.confirm(action, **STRONG)
    wait_for(lambda: ground.kills.deaths(point) == 1, ground=ground)
    hurry(desk.cast, action)
    end = Status.EXECUTED if requests else Status.IN_DOUBT
    until(desk, action, statuses=(end,))
    redeliver(desk.cast, action)
    with desk.cast.scope():
        assert [row.requests for row in SandboxDelivery.objects.filter(port="cards")] == [1] * requests
        assert [row.status for row in Refund.objects.all()] == ["succeeded" if requests else "reserved"]
        payment = Payment.objects.get()
        held = (payment.refunded_cents, payment.pending_refund_cents)
    assert held == ((35_000, 0) if requests else (0, 35_000))
    assert_all_holds(desk.cast, ground.provider)


def test_a_worker_that_slept_through_its_lease_in_the_middle_of_the_call_writes_nothing(office: Office, ground: Ground):
    """Fault row 13: SIGSTOP in the provider's call, SIGCONT when another has taken the action over."""
    ground.provider.set_mode("stop")
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    wait_for(lambda: ground.provider.sends(str(action.pk)) == 1, ground=ground)
    ground.provider.set_mode("mute")  # a look-up would settle it before the late answer is seen
    hurry(office, action)
    assert until(office, action) == [Status.IN_DOUBT]
    ground.running("worker").signal(signal.SIGCONT)
    wait_for(lambda: "action.late_answer" in audited(office, action), ground=ground)
    assert office.fresh(action).status == Status.IN_DOUBT
    ground.provider.set_mode("ok")
    office.run_due("reconcile_action", action)
    assert (office.fresh(action).status, ground.provider.sends(str(action.pk))) == (Status.EXECUTED, 1)
    assert_all_holds(office, ground.provider)


def test_T10_two_workers_and_three_redeliveries_make_one_attempt(office: Office, ground: Ground):
    other, neighbour = ground.another("worker"), make_office()
    wait_for(lambda: "pushing tasks" in other.output, ground=ground)
    letter, rename = office.propose("post_letter", text="Hi"), neighbour.propose("rename_client", name="Joe")
    for where, action in ((office, letter), (neighbour, rename)):
        where.confirm(action)
        redeliver(where, action)
        assert until(where, action) == [Status.EXECUTED]
        with where.scope():
            assert Attempt.objects.count() == 1
        assert_all_holds(where, ground.provider)
    assert ground.provider.sends(str(letter.pk)) == 1
    other.kill()


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_worker_whose_clock_is_an_hour_off_takes_its_work_at_once(office: Office, ground: Ground, hours: int):
    """Fault row 25: it neither waits an hour for what was queued now nor takes what another is at work on."""
    ground.stop("worker")
    other = ground.another("worker", hours_off=hours)
    letter = office.propose("post_letter", text="Hi")
    office.confirm(letter)
    wait_for(lambda: office.fresh(letter).status == Status.EXECUTED, seconds=10, ground=ground)
    rename = office.propose("rename_client", name="Joe")
    office.confirm(rename)
    wait_for(lambda: office.fresh(rename).status == Status.EXECUTED, seconds=10, ground=ground)
    with office.scope():
        assert Attempt.objects.count() == 2
    assert_all_holds(office, ground.provider)
    other.kill()


def test_an_internal_tool_that_kills_its_worker_each_time_fails_and_others_flow(office: Office, ground: Ground):
    """Fault row 20: the crash loop ends, nothing was done, and the letter behind it goes out."""
    poison, letter = office.propose("rename_client", name="die"), office.propose("post_letter", text="Hi")
    for action in (poison, letter):
        office.confirm(action)
    for _ in range(5):
        again(office, poison)
    assert until(office, poison, letter, seconds=90) == [Status.FAILED, Status.EXECUTED]
    assert office.fresh(poison).failure["code"] == "GAVE_UP"
    assert_all_holds(office, ground.provider)


def test_an_external_tool_that_kills_its_worker_each_time_sends_once_and_is_in_doubt(office: Office, ground: Ground):
    """Twenty deliveries of an action whose call kills whoever makes it."""
    ground.provider.set_mode("kill_during")
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    wait_for(lambda: ground.provider.sends(str(action.pk)) == 1, ground=ground)
    redeliver(office, action, times=20)
    assert until(office, action) == [Status.IN_DOUBT]
    assert ground.provider.sends(str(action.pk)) == 1
    assert_all_holds(office, ground.provider)


def charged_desk() -> Desk:
    cast = lone_ridge()
    with cast.scope():
        invoice = issued(cast, "1240.00")
        charged(cast, invoice.total_cents, invoice)
    return desk_of(cast)


def redeliver(where: Office | Cast, action: PendingAction, times: int = 3) -> None:
    """Deliver the execution so many times more, and wait until the worker is through with them."""
    last = OrmQ.objects.aggregate(last=Max("id"))["last"] or 0
    for _ in range(times):
        again(where, action)
    wait_for(lambda: not any(about(row, action) for row in OrmQ.objects.filter(id__gt=last)))


def again(where: Office | Cast, action: PendingAction) -> None:
    with where.scope():
        jobs.later("execute_action", action.pk, again=True)


def about(row: OrmQ, action: PendingAction) -> bool:
    return str(action.pk) in row.task.get("args", ())


def audited(office: Office, action: PendingAction) -> list[str]:
    with office.scope():
        return list(AuditEvent.objects.filter(subject_id=action.pk).values_list("kind", flat=True))
