"""Fixtures of the cast. Each test that asks for one gets a company of its own."""

import pytest

from tests import cast
from tests.cast import Cast


@pytest.fixture
def lone_ridge() -> Cast:
    """Lone Ridge Roofing with dana, alex and sam; no scope is open."""
    return cast.lone_ridge()


@pytest.fixture
def aurora() -> Cast:
    """Telhados Aurora with bia; no scope is open."""
    return cast.aurora()


@pytest.fixture
def strangers() -> Cast:
    """Another company with mallory; no scope is open."""
    return cast.strangers()
