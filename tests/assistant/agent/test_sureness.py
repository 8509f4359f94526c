"""How sure a match was, by what the person said and what searches in the conversation returned."""

import json
from typing import Any

import pytest

from assistant.agent import sureness
from assistant.models import ToolCall
from tests.assistant.agent.desk import Desk, a_desk
from tests.cast import joanne_smith
from tests.queries import counted

JOHN, JOANNE, QUOTE = "C-0001", "L-0001", "Q-0001"
Call = tuple[str, dict[str, Any]]


@pytest.fixture
def desk() -> Desk:
    """John Smith of Austin is a client, Joanne Smith of Austin a lead."""
    made = a_desk()
    with made.scope():
        assert (made.client.ref, joanne_smith(made.cast).ref) == (JOHN, JOANNE)
    return made


def search(query: str, **more: Any) -> Call:
    return "search_records", {"query": query} | more


def said(desk: Desk, words: str, *calls: Call) -> None:
    """One turn: the person's words, what the model looked up, a last word."""
    desk.post(words)
    claimed = desk.claim()
    if calls:
        desk.run_calls(claimed, desk.reply(claimed, "", *calls))
    desk.end(claimed)


def found(desk: Desk, **arguments: Any) -> str:
    with desk.scope(), counted() as asked:
        match = sureness.match_of(desk.conversation.pk, json.dumps(arguments or {"client_ref": JOHN}))
    assert len([one for one in asked.statements if "assistant_toolcall" in one]) == 1
    return match


@pytest.mark.parametrize("words", [f"delete {JOHN}", "delete c-0001, please", f"({JOHN})", f"/clients/{JOHN}/"])
def test_a_ref_that_the_person_wrote_is_exact(desk: Desk, words: str):
    said(desk, words, search("Smith"))
    assert found(desk) == "exact"


@pytest.mark.parametrize("words", [f"delete {JOHN}0", f"delete X{JOHN}", "delete C-1"])
def test_a_longer_ref_is_another(desk: Desk, words: str):
    said(desk, words)
    assert found(desk) == "fuzzy"


@pytest.mark.parametrize(
    ("query", "match"),
    [
        (JOHN, "exact"),
        ("John Smith", "single"),
        ("john.smith@example.com", "single"),
        ("Joh", "fuzzy"),
        ("Jonh Smith", "fuzzy"),
        ("Smith", "fuzzy"),
    ],
)
def test_by_what_the_search_said(desk: Desk, query: str, match: str):
    said(desk, "delete him", search(query))
    assert found(desk) == match


def test_the_newest_search_that_returned_it_counts(desk: Desk):
    said(desk, "delete him", search("Smith"))
    said(desk, "well?", search("John Smith"), search("Joanne Smith"))
    assert found(desk) == "single"
    said(desk, "well?", search("Smith"))
    assert found(desk) == "fuzzy"


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        ("John", "single"),
        ("the client", "single"),
        ("Joanne", "fuzzy"),
        ("Smith", "fuzzy"),
        ("John or Joanne", "fuzzy"),
    ],
)
def test_a_person_who_says_which_one_has_told_them_apart(desk: Desk, answer: str, match: str):
    """H30: two are called Smith, and the person was asked."""
    said(desk, "delete Smith", search("Smith"))
    said(desk, answer)
    assert found(desk) == match


def test_words_from_before_the_search_tell_nobody_apart(desk: Desk):
    said(desk, "John called. Delete the Smith lead", search("Smith"))
    assert found(desk) == "fuzzy"


def test_what_was_read_by_way_of_a_record_is_as_sure_as_that_record(desk: Desk):
    said(desk, "send it", search("Smith"), ("get_client", {"client_ref": JOHN}))
    with desk.scope():
        read = ToolCall.objects.get(name="get_client")
        ToolCall.objects.filter(pk=read.pk).update(result=json.dumps({"ref": JOHN, "open": [{"ref": QUOTE}]}))
    assert found(desk, quote_ref=QUOTE) == "fuzzy"
    said(desk, "John")
    assert found(desk, quote_ref=QUOTE) == "single"


def test_the_least_sure_of_several_counts_and_a_list_is_no_search(desk: Desk):
    said(desk, f"for {JOHN}", ("list_clients", {}), search("Smith"))
    assert found(desk) == "exact"
    assert found(desk, client_ref=JOHN, invoices=[{"ref": JOANNE}]) == "fuzzy"
    said(desk, "another", ("list_leads", {}))
    with desk.scope():
        ToolCall.objects.filter(name="search_records").update(result='{"beginning": "L-0001')
    assert found(desk, lead_ref=JOANNE) == "single"


def test_a_ref_that_nothing_returned_is_not_sure_and_no_ref_is_nothing_to_find(desk: Desk):
    said(desk, "delete him")
    assert found(desk) == "fuzzy"
    with desk.scope():
        assert sureness.match_of(desk.conversation.pk, '{"to": "john@example.com"}') == "exact"
        assert sureness.match_of(desk.conversation.pk, "not JSON") == "exact"


def test_the_card_says_so(desk: Desk):
    said(desk, "write to Smith", search("Smith"))
    desk.post("well?")
    claimed = desk.claim()
    desk.run_calls(claimed, desk.reply(claimed, "", ("rename_client", {"client_ref": JOHN, "name": "Joe"})))
    (card,) = desk.cards()
    assert card.match == "fuzzy"
    assert "found_among_several" in [warning["code"] for warning in card.preview["warnings"]]
