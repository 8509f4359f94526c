"""Both languages say the same things, and no sentence before a decision claims a deed."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from assistant.agent.rehearsal.phrases import CAPABILITIES, ENGLISH
from assistant.agent.rehearsal.phrases_pt import PORTUGUESE

CLAIMS = re.compile(
    r"\b(sent|e-?mailed|texted|recorded|refunded|deleted|confirmed|enviei|enviad[oa]|mandei|registrei|devolvi|apaguei|gerei)\b",
    re.IGNORECASE,
)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_phrases_with_the_same_fields() -> None:
    assert {key: fields(text) for key, text in ENGLISH.items()} == {
        key: fields(text) for key, text in PORTUGUESE.items()
    }
    assert set(CAPABILITIES["en"]) == set(CAPABILITIES["pt"])


@pytest.mark.parametrize("phrases", [ENGLISH, PORTUGUESE], ids=["en", "pt"])
def test_no_phrase_about_a_card_claims_that_it_was_done(phrases: dict[str, str]) -> None:
    about_cards = {key: text for key, text in phrases.items() if key.startswith("card_")}
    assert len(about_cards) == 9
    assert {key: CLAIMS.findall(text) for key, text in about_cards.items()} == {key: [] for key in about_cards}
