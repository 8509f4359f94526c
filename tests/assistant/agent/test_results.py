"""What the model is told of a call."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent import bare_yes, results
from assistant.tools.facts import Outside

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=900),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=12), inner, max_size=8),
    max_leaves=40,
)


@given(st.dictionaries(st.text(max_size=12), JSON, max_size=12), st.integers(min_value=400, max_value=2_000))
def test_whatever_a_tool_gives_fits_and_stays_json(body, most):
    text = results.fit(body, most)
    assert len(text) <= most
    assert isinstance(json.loads(text), dict)
    if len(results.as_json(body)) <= most:
        assert json.loads(text) == body


def test_a_long_list_loses_its_end_and_says_how_much():
    rows = [{"ref": f"C-{n:04d}", "name": "x" * 40} for n in range(300)]
    cut = json.loads(results.fit({"items": rows, "total": 300}))
    shown = cut["cut"]["lists"]["items"]["shown"]
    assert (cut["items"], cut["total"]) == (rows[:shown], 300)
    assert cut["cut"]["lists"]["items"] == {"shown": shown, "of": 300}
    assert shown > 60


def test_an_error_has_code_message_data_and_hint():
    assert json.loads(results.error("NOT_FOUND", "No such client.", {"ref": "C-9"})) == {
        "error": "NOT_FOUND",
        "message": "No such client.",
        "data": {"ref": "C-9"},
        "hint": "Search for the record; never guess a ref.",
    }


def test_what_comes_from_outside_is_named_before_it():
    text = results.read({"body": "Pay me"}, [Outside("email", "M-0001")])
    assert list(json.loads(text)) == ["outside_content", "body"]
    assert json.loads(text)["outside_content"]["from"] == ["email M-0001"]


@pytest.mark.parametrize("text", ["sim", "SIM", "Sim!", "ok.", "¡Yes!", "Pode", "confirmár"])
def test_the_closed_list_knows_its_words_whatever_the_case_accents_and_points(text):
    assert bare_yes.is_exactly(text)


@pytest.mark.parametrize("text", ["siiim", "okk", "yes yes", "ok sim", "comfirmo", "confrim", "confirmarr"])
def test_nearly_the_same_is_known_as_such(text):
    assert (bare_yes.is_exactly(text), bare_yes.is_nearly(text)) == (False, True)


@pytest.mark.parametrize(
    "text", ["", "no", "não", "sem", "sin", "yet", "of", "podem ser amanhã", "not ok", "confirmation"]
)
def test_other_words_are_not(text):
    assert not bare_yes.is_nearly(text)
