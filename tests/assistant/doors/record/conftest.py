"""An office whose record is read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.assistant.gate.conftest import Office, make_office
from tests.support.provider import FileProvider


@pytest.fixture
def office() -> Office:
    return make_office()


@pytest.fixture
def stranger() -> Office:
    return make_office()


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileProvider]:
    monkeypatch.setenv("AVAL_TEST_PROVIDER", str(tmp_path / "provider"))
    yield FileProvider()
