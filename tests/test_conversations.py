"""Conversations that people have, from the first sentence to the last row; docs/cases.md says which wait for a tool."""

import pytest

from tests.assistant.agent.talk import talking
from tests.bills import draft
from tests.cast import aurora, john_smith, lone_ridge
from tests.conversing import STORIES, Play, Story


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["id"])
def test_a_conversation_goes_as_it_should(story: Story) -> None:
    Play(story).play()


@pytest.mark.parametrize("story", [one for one in STORIES if one.get("rehearsed")], ids=lambda story: story["id"])
def test_the_rehearsal_model_holds_the_same_conversation(story: Story) -> None:
    Play(story, rehearsed=True).play()


NAMESAKES = {
    "en": ("John Smith", ("Austin", "Boise"), "send the last invoice to John Smith", "the one in Boise"),
    "pt": ("João Silva", ("Campinas", "Valinhos"), "manda a última fatura pro João Silva", "o de Valinhos"),
}


@pytest.mark.parametrize("language", NAMESAKES)
def test_h30_which_of_two_namesakes_is_asked_with_place_ref_and_amount(language: str) -> None:
    name, cities, wish, answer = NAMESAKES[language]
    cast = lone_ridge() if language == "en" else aurora()
    with talking(cast=cast, after="rehearse") as talk:
        with talk.scope():
            for letter, city in zip("ab", cities, strict=True):
                address = {"line1": "1 Main St", "city": city}
                client = john_smith(cast, name=name, email=f"{letter}@example.com", phone="", address=address)
                draft(cast, "150.00" if letter == "a" else "275.50", client=client)
        talk.say(wish)
        asked = talk.replies()[-1].replace("\xa0", " ")
        amounts = ("$150.00", "$275.50") if language == "en" else ("R$ 150,00", "R$ 275,50")
        assert [word for word in ("D-0001", "D-0002", *cities, *amounts) if word not in asked] == []
        assert (asked.endswith("?"), talk.cards()) == (True, [])
        talk.say(answer)
        (card,) = talk.cards()
        assert (card.status, card.payload["to"], card.payload["ref"]) == ("pending", ["b@example.com"], "D-0002")
