"""A ground for the tests of a module, an office for each test."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from tests.assistant.faults.ground import Ground, prepared
from tests.assistant.gate.conftest import Office, make_office


@pytest.fixture(scope="module")
def module_ground(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with prepared(database_url, tmp_path_factory.mktemp("ground")) as ground:
        yield ground


@pytest.fixture
def ground(module_ground: Ground, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    """The module's, calm; this process has the same lease and the same provider."""
    settings.AVAL_LEASE_SECONDS = 1
    monkeypatch.setenv("AVAL_TEST_PROVIDER", str(module_ground.provider.folder))
    module_ground.calm()
    yield module_ground
    module_ground.calm()


@pytest.fixture
def office() -> Office:
    return make_office()
