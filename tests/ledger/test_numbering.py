"""Public numbers: in order, without gaps but for what never was, in the company's own format (H15)."""

import threading

import pytest
from django.db import connection

from ledger.actions.company import change_settings
from ledger.models import Sequence
from ledger.numbering import continue_from, next_number, take_number
from tests.cast import Cast


def test_each_kind_counts_for_itself_in_its_format(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        assert [take_number(kind) for kind in ("client", "client", "lead", "site", "note", "price_item")] == [
            "C-0001",
            "C-0002",
            "L-0001",
            "S-0001",
            "N-0001",
            "PI-01",
        ]
        assert take_number("invoice") == "INV-0001"
        with pytest.raises(KeyError):
            take_number("dragon")


def test_each_company_counts_for_itself(lone_ridge: Cast, aurora: Cast) -> None:
    with lone_ridge.scope():
        assert take_number("quote") == "Q-0001"
    with aurora.scope():
        assert take_number("quote") == "ORC-0001"


def test_a_number_that_was_rolled_back_is_given_again(lone_ridge: Cast) -> None:
    with pytest.raises(ZeroDivisionError), lone_ridge.scope():
        assert take_number("invoice") == "INV-0001"
        raise ZeroDivisionError
    with lone_ridge.scope():
        assert take_number("invoice") == "INV-0001"


def test_looking_takes_nothing(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        assert [next_number("invoice"), next_number("invoice"), take_number("invoice")] == ["INV-0001"] * 3
        assert next_number("invoice") == "INV-0002"


def test_a_series_goes_on_where_it_is_told_and_never_back(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        continue_from("quote", 1048)
        assert take_number("quote") == "Q-1048"
        continue_from("quote", 5)
        assert take_number("quote") == "Q-1049"


def test_a_format_with_the_year_starts_anew_each_year(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        change_settings(by=lone_ridge.owner, changes={"invoice_format": "INV-{YYYY}{seq:03d}"})
        Sequence.objects.create(kind="invoice", series="2025", next=77)
        first = take_number("invoice")
        assert first.startswith("INV-20")
        assert first.endswith("001")
        assert Sequence.objects.get(kind="invoice", series="2025").next == 77


def test_eight_at_once_get_eight_numbers_without_a_gap(lone_ridge: Cast) -> None:
    taken: list[str] = []
    start = threading.Barrier(8)

    def take() -> None:
        try:
            start.wait(10)
            for _ in range(5):
                with lone_ridge.scope():
                    taken.append(take_number("invoice"))
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(taken) == [f"INV-{number:04d}" for number in range(1, 41)]
