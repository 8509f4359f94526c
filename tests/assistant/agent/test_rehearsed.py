"""The main story with the rehearsal model and the product's own tools, from the sentence to the receipt."""

from __future__ import annotations

import json

import pytest

from assistant.gate import approvals
from assistant.models import Status, Turn
from ledger.actions.clients import create_client
from ledger.actions.quotes import create_quote
from tests import cast as casts
from tests.assistant.agent.talk import Talk, talking
from tests.cast import Cast
from tests.offers import cedar_bend, lines_of


def another(cast: Cast, name: str, city: str, email: str, title: str) -> None:
    client = create_client(
        by=cast.owner, kind="company", name=name, email=email, address={"line1": "Main St 1", "city": city}
    )
    create_quote(client, by=cast.owner, title=title, lines=lines_of("480.00"))


@pytest.fixture
def smiths():
    """Two Smiths with a draft quote each, and nobody's script: the rehearsal model answers."""
    cast = casts.lone_ridge(undo_seconds={"send_quote": 0})
    with talking(cast=cast, after="rehearse", developer_role=True) as talk:
        with talk.scope():
            cedar_bend(talk.cast, talk.client)
            another(talk.cast, "Smith Property Group LLC", "Austin", "k@smith.example", "Gutter replacement")
        yield talk


def called(talk: Talk) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, json.loads(call.arguments)) for call in talk.calls()]


def quote_refs(talk: Talk) -> list[str]:
    with talk.scope():
        documents = talk.client.quotes.order_by("ref").values_list("ref", flat=True)
        return list(documents)


def test_two_smiths_the_house_on_cedar_bend_a_card_and_a_receipt(smiths: Talk):
    (ref,) = quote_refs(smiths)
    turn = smiths.say("send the Smith quote")
    asked = smiths.replies()[-1]
    assert (turn.status, smiths.cards()) == (Turn.Status.DONE, [])
    assert ref in asked
    assert "$10,157.64" in asked
    assert "Smith Property Group LLC" in asked

    turn = smiths.say("the house on Cedar Bend")
    (card,) = smiths.cards()
    assert (turn.status, card.tool, card.status) == (Turn.Status.WAITING, "send_quote", Status.PENDING)
    assert called(smiths)[-1] == ("send_quote", {"quote_ref": ref, "channel": "email"})
    assert "on a card" in smiths.replies()[-1]

    smiths.confirm_and_execute(card)
    turn = smiths.run()
    assert turn.status == Turn.Status.DONE
    assert smiths.cards()[0].status == Status.EXECUTED
    assert "Done: " in smiths.replies()[-1]
    assert "john.smith@example.com" in smiths.replies()[-1]

    smiths.say("did it go out?")
    assert called(smiths)[-1] == ("get_quote", {"quote_ref": ref})
    assert "john.smith@example.com" in smiths.replies()[-1]


def test_two_cards_in_one_turn_one_yes_and_one_no(smiths: Talk):
    smiths.say("send the Smith quote")
    smiths.say("both")
    first, second = smiths.cards()
    smiths.click(approvals.reject, second, reason="too expensive")
    smiths.confirm_and_execute(first)
    smiths.run()
    refused, done, _ = smiths.replies()[-1].split("\n\n")
    assert "Done: " in done
    assert "too expensive" in refused
    assert [card.status for card in smiths.cards()] == [Status.EXECUTED, Status.REJECTED]


def test_a_quote_is_written_from_the_price_book(smiths: Talk):
    smiths.say("quote for John Smith: 3 squares of shingles and 2 squares of labor, 10% off")
    name, arguments = called(smiths)[-1]
    assert (name, arguments["discount_pct"]) == ("create_quote", "10")
    assert [line["qty"] for line in arguments["lines"]] == ["3", "2"]
    assert smiths.calls()[-1].status == "done"
    assert len(quote_refs(smiths)) == 2


def test_o_orcamento_do_silva_em_portugues():
    with talking(cast=casts.aurora(), after="rehearse", developer_role=True) as talk:
        with talk.scope():
            another(talk.cast, "João Silva", "Campinas", "joao@example.com", "Troca de calhas")
            another(talk.cast, "Ana Silva", "Vinhedo", "ana@example.com", "Reparo de vazamento")
        talk.say("envia o orçamento do Silva")
        assert "R$ 480,00" in talk.replies()[-1]
        assert talk.replies()[-1].endswith("Qual deles?")
        talk.say("o das calhas")
        (card,) = talk.cards()
        assert card.tool == "send_quote"
        assert "João Silva" in talk.replies()[-1]
        talk.click(approvals.reject, card, reason="errei o valor")
        talk.run()
        assert "errei o valor" in talk.replies()[-1]
