"""Real workers, killed with SIGKILL at each point of an action's way; rows 13 to 20 of the fault matrix."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from assistant.insight.invariants import violations
from assistant.models import Alert, PendingAction, Status
from ledger import audit, jobs
from tests.assistant.gate.conftest import Office
from tests.processes import Processes, Running
from tests.support.provider import FileProvider

FAST = {"AVAL_LEASE_SECONDS": "1", "AVAL_QUEUE_TIMEOUT": "10", "AVAL_QUEUE_RETRY": "12", "AVAL_QUEUE_POLL": "0.02"}
SETTLED = (Status.EXECUTED, Status.FAILED, Status.IN_DOUBT)

EXTERNAL = {
    "claim-": Status.EXECUTED,
    "claim+": Status.IN_DOUBT,
    "record-": Status.EXECUTED,
    "record+": Status.EXECUTED,
    "ack": Status.EXECUTED,
}
INTERNAL = {"claim-": Status.EXECUTED, "record-": Status.EXECUTED, "ack": Status.EXECUTED}


@pytest.fixture
def worker(
    processes: Processes, provider: FileProvider, tmp_path: Path, settings: LazySettings
) -> Iterator[Callable[..., Running]]:
    settings.AVAL_LEASE_SECONDS = 1

    def start(point: str = "", mode: str = "once") -> Running:
        kill = {"AVAL_KILL_AT": point, "AVAL_KILL_MODE": mode, "AVAL_KILL_FILE": str(tmp_path / "killed")}
        return processes.worker(**FAST, **kill)

    yield start
    for running in processes.started:
        running.kill()


def until(office: Office, *actions: PendingAction, statuses=SETTLED, seconds: float = 40) -> list[str]:
    """Play the product's clock until every action has settled; their statuses."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        jobs.dispatch_due()
        found = [office.fresh(action).status for action in actions]
        if all(status in statuses for status in found):
            return found
        time.sleep(0.05)
    pytest.fail(f"still {[office.fresh(action).status for action in actions]}")


def assert_all_holds(office: Office, provider: FileProvider) -> None:
    assert all(count <= 1 for count in provider.all_sends().values()), "J1"
    with office.scope():
        assert violations() == []
        assert audit.verify().whole


@pytest.mark.parametrize("point", EXTERNAL)
def test_a_worker_killed_once_around_an_external_tool_sends_at_most_once(office, provider, worker, tmp_path, point):
    worker(point)
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    [first] = until(office, action)
    if first == Status.IN_DOUBT and provider.find(str(action.pk)):
        [first] = until(office, action, statuses=(Status.EXECUTED,))
    assert (tmp_path / "killed").exists(), "nothing was killed: the test proves nothing"
    assert first == EXTERNAL[point]
    assert_all_holds(office, provider)


@pytest.mark.parametrize(
    ("mode", "sends", "end"),
    [("kill_before", 0, Status.IN_DOUBT), ("kill_during", 1, Status.IN_DOUBT), ("kill_after", 1, Status.EXECUTED)],
)
def test_T06_a_worker_killed_around_the_providers_call_never_sends_again(office, provider, worker, mode, sends, end):
    provider.set_mode(mode)
    worker()
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    assert until(office, action)[0] in (Status.IN_DOUBT, end)
    if end == Status.EXECUTED:
        until(office, action, statuses=(end,))
    assert (office.fresh(action).status, provider.sends(str(action.pk))) == (end, sends)
    if end == Status.IN_DOUBT:
        with office.scope():
            assert Alert.objects.filter(action=action, handled_at=None).count() == 1
    assert_all_holds(office, provider)


@pytest.mark.parametrize("point", INTERNAL)
def test_a_worker_killed_once_around_an_internal_tool_ends_executed_once(office, provider, worker, tmp_path, point):
    worker(point)
    action = office.propose("rename_client", name="Joe")
    office.confirm(action)
    assert until(office, action) == [INTERNAL[point]]
    assert (tmp_path / "killed").exists(), "nothing was killed: the test proves nothing"
    with office.scope():
        office.client.refresh_from_db()
        assert (office.client.name, office.client.version) == ("Joe", 2)
    assert_all_holds(office, provider)


def test_an_internal_tool_that_kills_its_worker_each_time_fails_and_others_flow(office, provider, worker):
    """Fault row 20: the crash loop ends, nothing was done, and the letters behind it go out."""
    worker()
    poison = office.propose("rename_client", name="die")
    letter = office.propose("post_letter", text="Hi")
    for action in (poison, letter):
        office.confirm(action)
    assert until(office, poison, letter, seconds=90) == [Status.FAILED, Status.EXECUTED]
    assert office.fresh(poison).failure["code"] == "GAVE_UP"
    assert_all_holds(office, provider)


def test_an_external_tool_that_kills_its_worker_each_time_sends_once_and_is_in_doubt(office, provider, worker):
    provider.set_mode("kill_during")
    worker(mode="loop")
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    until(office, action)
    for _ in range(20):
        redeliver(office, action)
    time.sleep(2)
    assert (office.fresh(action).status, provider.sends(str(action.pk))) == (Status.IN_DOUBT, 1)
    assert_all_holds(office, provider)


def redeliver(office: Office, action: PendingAction) -> None:
    with office.scope():
        jobs.later("execute_action", action.pk)
