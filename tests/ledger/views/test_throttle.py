"""Knocks at public pages: all web processes count as one, and old counts go."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from ledger import tasks
from ledger.models import Knock
from ledger.views.throttle import limited


@limited(reads=5, writes=2)
def door(request: HttpRequest, token: str) -> HttpResponse:
    return HttpResponse("in")


def knock(token: str, method: str = "GET", address: str = "203.0.113.5") -> int:
    try:
        return door(RequestFactory().generic(method, "/", REMOTE_ADDR=address), token).status_code
    finally:
        connection.close()


def test_many_processes_let_in_exactly_as_many_as_one(database_url: str) -> None:
    """Each thread knocks over a connection of its own and shares nothing else, as another web process would."""
    with ThreadPoolExecutor(max_workers=8) as processes:
        answers = Counter(processes.map(knock, ["crowd"] * 24))
    assert answers == {200: 5, 429: 19}


def test_reads_writes_addresses_and_pages_are_counted_apart() -> None:
    assert [knock("apart", "POST") for _n in range(3)] == [200, 200, 429]
    assert knock("apart") == knock("apart", "POST", "203.0.113.6") == knock("another", "POST") == 200


def test_a_minute_later_the_count_begins_anew() -> None:
    assert [knock("later", "POST") for _n in range(3)] == [200, 200, 429]
    assert Knock.objects.update(since=F("since") - timedelta(seconds=61)) > 0
    assert [knock("later", "POST") for _n in range(3)] == [200, 200, 429]


def test_the_sweep_forgets_what_is_over_and_keeps_what_counts() -> None:
    knock("old")
    Knock.objects.update(since=F("since") - timedelta(minutes=6))
    knock("new")
    tasks.sweep()
    assert Knock.objects.count() == 1


def test_no_address_is_kept() -> None:
    knock("hashed", address="203.0.113.77")
    assert not Knock.objects.filter(key__contains="203").exclude(key__regex=r"^[0-9a-f]{64}$").exists()


def test_a_database_that_takes_no_writes_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger.views.waits.COUNT", "SET TRANSACTION READ WRITE; SELECT 1/0")
    assert [knock("away", "POST") for _n in range(4)] == [200] * 4
