"""A transaction that stands still is ended by the server, so that what it has locked is free again."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper
from psycopg.errors import IdleInTransactionSessionTimeout

from ledger import environment
from ledger.environment import database
from ledger.models import Due
from ledger.tenancy import new_id


def connect(url: str) -> psycopg.Connection:
    """A new connection as the product makes it."""
    settings = connection.settings_dict | database("DATABASE_URL", url, pool=0, behind_bouncer=False)
    return psycopg.connect(**DatabaseWrapper(settings).get_connection_params(), autocommit=True)


def shown(one: psycopg.Connection, name: str) -> str:
    row = one.execute(f"SHOW {name}").fetchone()
    assert row is not None
    return str(row[0])


FAR = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
def promise() -> Iterator[Due]:
    row = Due.objects.create(kind="stands_still", object_id=new_id(), tenant_id=new_id(), run_at=FAR)
    yield row
    row.delete()


def test_the_products_connections_say_how_long_a_transaction_may_stand_still(database_url: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == ("2min",)
    with connect(database_url) as own:
        assert shown(own, "idle_in_transaction_session_timeout") == "2min"


def test_what_the_operators_address_says_is_kept_and_wins(database_url: str) -> None:
    joint = "&" if "?" in database_url else "?"
    given = "options=-c%20idle_in_transaction_session_timeout%3D300s%20-c%20lock_timeout%3D7s"
    with connect(f"{database_url}{joint}{given}") as own:
        assert shown(own, "idle_in_transaction_session_timeout") == "5min"
        assert shown(own, "lock_timeout") == "7s"


def test_a_transaction_that_hangs_loses_its_locks_and_its_work(
    database_url: str, promise: Due, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "IDLE_IN_TRANSACTION_SECONDS", 1)
    hangs = connect(database_url)
    hangs.execute("BEGIN")
    hangs.execute("UPDATE ledger_due SET tries = 9 WHERE id = %s", [promise.pk])
    began = time.monotonic()
    assert Due.objects.filter(pk=promise.pk).update(tries=1) == 1  # waits for the lock of the one that hangs
    waited = time.monotonic() - began
    assert 0.5 < waited < 10
    with pytest.raises(IdleInTransactionSessionTimeout):
        hangs.execute("SELECT 1")
    hangs.close()
    promise.refresh_from_db()
    assert promise.tries == 1


def test_a_connection_that_rests_outside_a_transaction_stays(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listeners and pools rest for hours."""
    monkeypatch.setattr(environment, "IDLE_IN_TRANSACTION_SECONDS", 1)
    with connect(database_url) as rests:
        assert rests.execute("SELECT 1").fetchone() == (1,)
        time.sleep(1.6)
        assert rests.execute("SELECT 1").fetchone() == (1,)
