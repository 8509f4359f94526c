"""One ground for all fault tests of a run; no process of it outlives the tests of a module."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from tests.assistant.agent.talk import Stage
from tests.assistant.faults.ground import Ground, prepared
from tests.assistant.gate.conftest import Office, make_office
from tests.processes import forget_what_waits


@pytest.fixture(scope="session")
def prepared_ground(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with prepared(database_url, tmp_path_factory.mktemp("ground")) as ground:
        yield ground


@pytest.fixture(scope="module")
def module_ground(prepared_ground: Ground) -> Iterator[Ground]:
    """Its agent and worker would take the turns and actions of other tests; what those left is not for it either."""
    forget_what_waits()
    yield prepared_ground
    prepared_ground.empty()


@pytest.fixture
def ground(module_ground: Ground, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    """Calm at the start and at the end; this process has the same lease and the same provider."""
    settings.AVAL_LEASE_SECONDS = 1
    monkeypatch.setenv("AVAL_TEST_PROVIDER", str(module_ground.provider.folder))
    module_ground.calm()
    yield module_ground
    module_ground.calm()


@pytest.fixture
def stage(ground: Ground) -> Stage:
    return ground.stage


@pytest.fixture
def office() -> Office:
    return make_office()
