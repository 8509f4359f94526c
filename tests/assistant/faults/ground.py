"""Where faults are put in: real processes that share one provider and one folder of kills, and what must hold after."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest

from assistant.gate.outcome import Clock
from assistant.insight.invariants import violations
from assistant.models import Attempt, Conversation, PendingAction, Status
from ledger import jobs
from ledger.models import Due, SandboxDelivery
from tests.assistant.agent.talk import Stage
from tests.assistant.faults.nursery import Nursery
from tests.assistant.faults.stories import STORIES
from tests.processes import Running
from tests.support import validator
from tests.support.kills import Kills
from tests.support.provider import FileProvider

POOL = 4
FAST = {
    "AVAL_LEASE_SECONDS": "1",
    "AVAL_QUEUE_TIMEOUT": "10",
    "AVAL_QUEUE_RETRY": "12",
    "AVAL_DATABASE_POOL": str(POOL),
    "AVAL_LOG_LEVEL": "INFO",
}
SETTLED = (Status.EXECUTED, Status.FAILED, Status.IN_DOUBT)


class Scoped(Protocol):
    """A company of a test's own."""

    def scope(self) -> AbstractContextManager[Any]: ...


class Holder(Protocol):
    """Whoever reads an action anew: an office, a desk."""

    def fresh(self, action: PendingAction) -> PendingAction: ...


@dataclass
class Ground:
    """Agents, workers and webs are started when a test asks for one; a killed one is started anew by the next ask."""

    database_url: str
    folder: Path
    provider: FileProvider
    kills: Kills
    stage: Stage
    settings: dict[str, str]
    nurseries: dict[str, Nursery] = field(default_factory=dict)
    now: dict[str, Running] = field(default_factory=dict)

    def nursery(self, kind: str) -> Nursery:
        if kind not in self.nurseries:
            self.nurseries[kind] = Nursery(kind, self.database_url, self.folder, **self.settings)
        return self.nurseries[kind]

    def running(self, kind: str) -> Running:
        """The one process of this kind, alive."""
        if kind not in self.now or not self.now[kind].alive():
            self.now[kind] = self.nursery(kind).start()
        return self.now[kind]

    def another(self, kind: str, *, hours_off: int = 0) -> Running:
        """One more beside it; ended with the ground, or by the test."""
        return self.nursery(kind).start(hours_off=hours_off)

    def stop(self, *kinds: str) -> None:
        for kind in kinds:
            if kind in self.now:
                self.now.pop(kind).kill()

    def empty(self) -> None:
        """No process is left; the next ask starts one."""
        for nursery in self.nurseries.values():
            nursery.empty()
        self.now.clear()

    def calm(self) -> None:
        """As at the start: nothing kills, the provider is well."""
        self.kills.calm()
        self.provider.set_mode("ok")

    def words(self) -> str:
        """What every process said: for the message of a failure."""
        logs = (child for nursery in self.nurseries.values() for child in nursery.children)
        return "\n".join(f"-- {child.log.name}\n{child.output[-3000:]}" for child in logs)


@contextmanager
def prepared(database_url: str, folder: Path) -> Iterator[Ground]:
    """A ground with a model of its own; nothing runs yet but that."""
    provider, kills = FileProvider(folder / "provider"), Kills(folder / "kills")
    stage = Stage(*STORIES, idle_seconds=30.0, developer_role=True)
    model = {"OPENAI_BASE_URL": stage.endpoint.model.settings.base_url, "OPENAI_MODEL": "scripted"}
    own = {**FAST, **model, "AVAL_TEST_PROVIDER": str(provider.folder), **kills.environment}
    ground = Ground(database_url, folder, provider, kills, stage, own)
    try:
        yield ground
    finally:
        for nursery in ground.nurseries.values():
            nursery.close()
        stage.close()


def wait_for(condition: Callable[[], bool], seconds: float = 20, *, ground: Ground | None = None) -> None:
    """Until it holds; with what the processes said where it does not."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds} s\n{ground.words() if ground else ''}")
        time.sleep(0.02)


def until(
    office: Holder, *actions: PendingAction, statuses: tuple[str, ...] = SETTLED, seconds: float = 40
) -> list[str]:
    """Play the product's clock until every action has settled; their statuses."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        jobs.dispatch_due()
        found = [office.fresh(action).status for action in actions]
        if all(status in statuses for status in found):
            return found
        time.sleep(0.05)
    pytest.fail(f"still {[office.fresh(action).status for action in actions]}")


def hurry(scoped: Scoped, action: PendingAction) -> None:
    """As if the lease of the action's worker were over already."""
    with scoped.scope():
        Attempt.objects.filter(action=action).update(lease_until=Clock())
        Due.objects.filter(kind="watch_action", object_id=action.pk).update(run_at=Clock())


def assert_all_holds(office: Scoped, provider: FileProvider) -> None:
    """J1 at the provider, J2 to J9 in the rows, J4 by the strict reader of histories as well."""
    assert all(count <= 1 for count in provider.all_sends().values()), "J1"
    with office.scope():
        assert violations() == []
        assert not SandboxDelivery.objects.filter(requests__gt=1).exists(), "J1"
        for conversation_id in Conversation.objects.values_list("pk", flat=True):
            validator.check(conversation_id)
