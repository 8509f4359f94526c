"""Search: every spelling finds the right one, and more than one party is said to be so (H28, H29, H30)."""

from typing import Any

import pytest

from ledger.actions.clients import archive_client, create_client, delete_client
from ledger.actions.conversions import convert_lead_to_client
from ledger.actions.leads import create_lead
from ledger.actions.quotes import create_quote
from ledger.actions.search import SearchResult, search_records
from ledger.actions.sites import add_site
from tests.cast import Cast, joanne_smith
from tests.offers import cedar_bend, lines_of
from tests.queries import counted


def refs(found: SearchResult) -> list[str]:
    return [hit.ref for hit in found.hits]


def named(cast: Cast, name: str, **given: Any) -> Any:
    return create_client(by=cast.owner, kind="person", name=name, on_duplicate="create", **given)


@pytest.fixture
def three_smiths(lone_ridge: Cast) -> Cast:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        add_site(quote.client, by=lone_ridge.owner, address=quote.client.address_parts)
        group = named(lone_ridge, "Smith Property Group LLC", email="ksmith@smithproperty.example")
        create_quote(group, by=lone_ridge.owner, title="Gutters, building B", lines=lines_of("4845.70"))
        joanne_smith(lone_ridge)
        named(lone_ridge, "Robert Chen", address={"line1": "309 Heatherwilde Blvd", "city": "Pflugerville"})
    return lone_ridge


@pytest.mark.parametrize("query", ["Smith", "smith", "SMITH quote", "the Smith quote", "Smith's", "Smith’s quote"])
def test_h30_three_smiths_are_candidates_and_none_is_chosen(three_smiths: Cast, query: str) -> None:
    with three_smiths.scope():
        found = search_records(query, by=three_smiths.owner)
    assert found.ambiguous
    assert {"C-0001", "C-0002", "L-0001"} <= set(refs(found))
    assert "C-0003" not in refs(found)
    by_ref = {hit.ref: hit for hit in found.hits}
    assert [(one["ref"], one["total"]) for one in by_ref["C-0001"].documents] == [("Q-0001", "10157.64")]
    assert [(one["ref"], one["total"]) for one in by_ref["C-0002"].documents] == [("Q-0002", "4845.70")]
    assert by_ref["C-0001"].details["city"] == "Austin"
    assert by_ref["C-0002"].details["email"] == "ksmith@smithproperty.example"


def test_h30_two_of_the_same_name_are_told_apart_by_city_and_address(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        for email, city in (("john.a@example.com", "Austin"), ("john.b@example.com", "Boise")):
            named(lone_ridge, "John Smith", email=email, address={"line1": "1 Main St", "city": city})
        found = search_records("John Smith", by=lone_ridge.owner)
        assert found.ambiguous
        assert [(hit.details["city"], hit.details["email"]) for hit in found.hits] == [
            ("Austin", "john.a@example.com"),
            ("Boise", "john.b@example.com"),
        ]
        boise = search_records("john smith boise", by=lone_ridge.owner)
        assert (refs(boise), boise.ambiguous) == (["C-0002"], False)


@pytest.mark.parametrize(
    "query", ["the house on Cedar Bend", "1418 cedar bend", "CEDAR BEND DR", "78758", "john.smith@example.com"]
)
def test_one_party_found_by_client_and_site_is_one_party(three_smiths: Cast, query: str) -> None:
    with three_smiths.scope():
        found = search_records(query, by=three_smiths.owner)
    assert refs(found)[0] == "C-0001"
    assert {hit.party for hit in found.hits} == {"C-0001"}
    assert not found.ambiguous


@pytest.mark.parametrize("query", ["(512) 555-0142", "512 555 0142", "5125550142", "+15125550142", "555-0142"])
def test_a_phone_is_found_however_it_is_written(three_smiths: Cast, query: str) -> None:
    with three_smiths.scope():
        found = search_records(query, by=three_smiths.owner, types=["client", "lead"])
    assert refs(found) == ["C-0001"]


@pytest.mark.parametrize("query", ["d'angelo", "D’ANGELO", "dangelo", "D´Angelo", "amy dangelo"])
def test_h29_every_spelling_of_an_apostrophe_finds_the_client(lone_ridge: Cast, query: str) -> None:
    with lone_ridge.scope():
        named(lone_ridge, "Amy D'Angelo")
        found = search_records(query, by=lone_ridge.owner)
    assert [(hit.ref, hit.name) for hit in found.hits] == [("C-0001", "Amy D'Angelo")]


@pytest.mark.parametrize("query", ["conceicao", "CONCEIÇÃO", "Conceiçao", "conceicao davila"])
def test_h29_every_spelling_of_an_accent_finds_the_client(aurora: Cast, query: str) -> None:
    with aurora.scope():
        named(aurora, "Conceição D'Ávila")
        found = search_records(query, by=aurora.owner)
    assert [hit.name for hit in found.hits] == ["Conceição D'Ávila"]


def test_a_ref_is_an_answer_by_itself(three_smiths: Cast) -> None:
    with three_smiths.scope():
        for query in ("C-0001", "c-0001", " C-0001 "):
            found = search_records(query, by=three_smiths.owner)
            assert (refs(found), found.ambiguous, found.hits[0].strength.name) == (["C-0001"], False, "REF")
        assert refs(search_records("Q-0002", by=three_smiths.owner)) == ["Q-0002"]
        assert search_records("C-9999", by=three_smiths.owner).hits == []


@pytest.mark.parametrize("query", ["$10,157.64", "10157.64", "10,157.64"])
def test_an_amount_finds_the_quote(three_smiths: Cast, query: str) -> None:
    with three_smiths.scope():
        found = search_records(query, by=three_smiths.owner)
    assert [(hit.ref, hit.party, hit.strength.name) for hit in found.hits] == [("Q-0001", "C-0001", "AMOUNT")]


def test_a_name_that_is_nearly_right_is_offered_and_marked(three_smiths: Cast) -> None:
    with three_smiths.scope():
        for query in ("Robert Chenn", "Jonh Smith"):
            found = search_records(query, by=three_smiths.owner)
            assert found.hits, query
            assert {hit.strength.name for hit in found.hits} == {"SIMILAR"}
        assert search_records("Zachary Quux", by=three_smiths.owner).hits == []


def test_a_word_of_a_name_must_be_there(three_smiths: Cast) -> None:
    with three_smiths.scope():
        assert refs(search_records("Joanne Smith", by=three_smiths.owner)) == ["L-0001"]
        found = search_records("smith gutters", by=three_smiths.owner)
        assert refs(found) == ["Q-0002"]


def test_types_narrow_and_a_limit_says_that_there_is_more(three_smiths: Cast) -> None:
    with three_smiths.scope():
        only_leads = search_records("smith", by=three_smiths.owner, types=["lead"])
        assert (refs(only_leads), only_leads.ambiguous) == (["L-0001"], False)
        quotes = search_records("smith", by=three_smiths.owner, types=["quote"])
        assert sorted(refs(quotes)) == ["Q-0001", "Q-0002"]
        one = search_records("smith", by=three_smiths.owner, limit=1)
        assert (len(one.hits), one.more, one.ambiguous) == (1, True, True)
        assert search_records("smith", by=three_smiths.owner, types=["vendor"]).hits == []


def test_a_converted_lead_and_its_client_are_one_party(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        convert_lead_to_client(joanne_smith(lone_ridge), by=lone_ridge.owner)
        found = search_records("joanne", by=lone_ridge.owner, types=["client", "lead"])
        assert (sorted(refs(found)), found.ambiguous) == (["C-0001", "L-0001"], False)


def test_the_trash_is_not_searched_and_the_archive_is(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        archive_client(named(lone_ridge, "Old Oak"), by=lone_ridge.owner)
        delete_client(named(lone_ridge, "Old Pine"), by=lone_ridge.owner)
        found = search_records("old", by=lone_ridge.owner)
        assert [(hit.ref, hit.details["archived"]) for hit in found.hits] == [("C-0001", True)]


def test_another_companys_records_are_never_hits(three_smiths: Cast, strangers: Cast) -> None:
    with strangers.scope():
        named(strangers, "Smith Secret")
    with three_smiths.scope():
        assert search_records("secret", by=three_smiths.owner).hits == []
        assert "Smith Secret" not in [hit.name for hit in search_records("smith", by=three_smiths.owner).hits]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "%",
        "_",
        "\\",
        "'; DROP TABLE ledger_client; --",
        "\x00",
        "a" * 500,
        "🏠",
        "$",
        "-",
        "{}",
        "the quote",
    ],
)
def test_odd_questions_are_answered(three_smiths: Cast, query: str) -> None:
    with three_smiths.scope():
        found = search_records(query, by=three_smiths.owner)
        assert len(found.hits) <= 10


def test_a_wildcard_is_an_ordinary_character(three_smiths: Cast) -> None:
    with three_smiths.scope():
        for query in ("%", "_", "sm%", "%smith%"):
            found = search_records(query, by=three_smiths.owner, types=["lead"])
            assert refs(found) == (["L-0001"] if "sm" in query else []), query


def test_thirty_hits_ask_no_more_queries_than_one(lone_ridge: Cast) -> None:
    def search(query: str) -> tuple[int, int]:
        with lone_ridge.scope():
            owner = lone_ridge.owner
            with counted() as asked:
                found = search_records(query, by=owner, limit=20)
            return len(found.hits), len(asked)

    with lone_ridge.scope():
        for number in range(30):
            client = named(lone_ridge, f"Meadow {number}", email=f"m{number}@example.com")
            add_site(client, by=lone_ridge.owner, address={"line1": f"{number} Meadow Ln", "city": "Hutto"})
            if number % 3 == 0:
                create_quote(client, by=lone_ridge.owner, title="Meadow roof", lines=lines_of("10.00"))
                create_lead(by=lone_ridge.owner, name=f"Meadow lead {number}")
        named(lone_ridge, "Solitary")
    one, many = search("solitary"), search("meadow")
    assert (one[0], many[0]) == (1, 20)
    assert many[1] <= one[1]
