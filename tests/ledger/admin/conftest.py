"""A company with something to read."""

import pytest

from tests import operators
from tests.cast import Cast


@pytest.fixture
def stocked(lone_ridge: Cast) -> Cast:
    """Lone Ridge with one row at least for almost each list of the ledger; no scope is open."""
    return operators.fill(lone_ridge)
