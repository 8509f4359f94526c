"""Sending a quote from a sentence to a receipt: what the card shows is what the provider gets (T18, T23, T24, H32)."""

import json
import re
from decimal import Decimal
from email import message_from_string

import pytest

from assistant.tools import registry
from ledger import jobs, links
from ledger.actions.clients import update_client
from ledger.actions.contacts import update_contact
from ledger.actions.quote_lines import ChangeLine, LineDraft, edit_quote_lines
from ledger.actions.quotes import create_quote
from ledger.errors import DomainError
from ledger.models import Client, ClientMessage, PublicLink, Quote, SandboxDelivery, StoredDocument
from ledger.money import Portion
from ledger.providers import sandbox
from tests.cast import Cast, john_smith, lone_ridge
from tests.desks import Desk, desk_of, fact, marks, warned
from tests.offers import CEDAR_BEND_TOTAL, cedar_bend, lines_of


def smiths(cast: Cast) -> Desk:
    with cast.scope():
        cedar_bend(cast)
    return desk_of(cast)


def test_the_card_shows_the_facts_of_the_record(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    action = desk.propose("send_quote", quote_ref="Q-0001", channel="email")
    assert (action.level, action.operation, action.undo_seconds) == (2, "external", 10)
    assert fact(action, "client") == "John Smith, Austin"
    assert fact(action, "recipient") == "john.smith@example.com"
    assert fact(action, "total") == {"cents": CEDAR_BEND_TOTAL, "currency": "USD"}
    assert fact(action, "deposit") == {"cents": 304_729, "currency": "USD"}
    assert fact(action, "discount") == {"cents": 51_628, "currency": "USD"}
    assert fact(action, "attachment") == "Q-0001.pdf"
    assert "$10,157.64" in fact(action, "message")
    assert marks(action, "recipient") == ["new_address"]
    assert action.preview["document"]["sha256"] == fact(action, "sha256") == action.payload["document_sha256"]
    assert [target["kind"] for target in action.targets] == ["quote", "client"]
    assert action.summary == (
        "Send quote Q-0001, revision 1, “Full roof replacement, 28 squares”, for $10,157.64 "
        "to John Smith (john.smith@example.com)."
    )
    with lone_ridge.scope():
        assert Quote.objects.get().status == "draft"
        assert not ClientMessage.objects.exists()


def test_what_was_shown_is_what_the_provider_gets(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    action = desk.run(desk.propose("send_quote", quote_ref="Q-0001", channel="email", message="As agreed by phone."))
    assert action.status == "executed"
    with lone_ridge.scope():
        delivery, message = SandboxDelivery.objects.get(), ClientMessage.objects.get()
        link = PublicLink.objects.get(tenant_id=lone_ridge.tenant_id)
        assert (delivery.key, delivery.requests, message.key) == (str(action.pk), 1, action.pk)
        sent = delivery.payload
        assert sent["to"] == [fact(action, "recipient")]
        assert sent["subject"] == fact(action, "subject")
        assert sent["text"] == action.payload["body"].replace(ClientMessage.LINK, links.address_of(link))
        assert sent["attachments"][0]["sha256"] == fact(action, "sha256")
        assert (message.status, Quote.objects.get().status) == ("sent", "sent")
        assert links.token_of(link) not in json.dumps(action.payload) + json.dumps(action.preview)
        parts = {part.get_content_type(): part for part in message_from_string(delivery.raw).walk()}
        assert parts["application/pdf"].get_payload(decode=True) == bytes(StoredDocument.objects.get().content)
        assert parts["application/pdf"].get_filename() == "Q-0001.pdf"
    assert action.receipt["provider_ref"] == message.provider_id


def test_the_same_in_portuguese(aurora: Cast) -> None:
    with aurora.scope():
        client = john_smith(aurora, name="João Silva", phone="+5519991230101", language="pt-BR")
        create_quote(client, by=aurora.bia, title="Troca de calhas", lines=lines_of("3588.00", tax=Decimal(5)))
    desk = desk_of(aurora, "pt-br")
    action = desk.propose("send_quote", quote_ref="ORC-0001", channel="email")
    assert fact(action, "total") == {"cents": 358_800, "currency": "BRL"}
    assert action.summary.startswith("Enviar o orçamento ORC-0001, revisão 1, “Troca de calhas”, de R$\u00a03.588,00,")
    assert "R$ 3.588,00" in fact(action, "message")
    assert action.payload["language"] == "pt-br"


def test_an_address_that_is_not_on_record_raises_a_flag_and_the_effect(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    action = desk.propose("send_quote", quote_ref="Q-0001", channel="email", to="other@example.com")
    assert "stranger" in action.effects
    assert marks(action, "recipient") == ["not_on_record", "new_address"]
    assert warned(action) == {"address_not_on_record"}


def test_an_address_changed_in_the_last_72_hours_is_marked(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    with lone_ridge.scope():
        contact = Client.objects.get().contacts.get()
        update_contact(contact, by=lone_ridge.dana, changes={"email": "new@example.com"})
    action = desk.propose("send_quote", quote_ref="Q-0001", channel="email")
    assert marks(action, "recipient") == ["changed_recently", "new_address"]
    assert "address_changed" in warned(action)


def test_figures_that_the_record_does_not_have_are_named(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    words = "The total is $9,999.00 with 12% off until March 3, 2031; the deposit of 30% is $3,047.29."
    action = desk.propose("send_quote", quote_ref="Q-0001", channel="email", message=words)
    (phrase,) = [one for one in action.preview["warnings"] if one["code"] == "figures_not_on_record"]
    assert phrase["params"]["figures"] == "$9,999.00, 12%, March 3, 2031"
    assert words in fact(action, "message")  # shown whole all the same


def test_t23_hidden_characters_in_the_words_are_taken_out_and_said(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    action = desk.propose("send_quote", quote_ref="Q-0001", channel="email", message="Pay\u202e to\u200b me\U000e0041")
    assert "hidden_characters_removed" in warned(action)
    assert "Pay to me" in action.payload["body"]
    assert not re.search("[\u202e\u200b\U000e0041]", action.payload_text + action.preview_text)


@pytest.mark.parametrize("address", ["john\u202e@example.com", "jo\u200bhn@example.com", "john@exаmple\x00.com"])
def test_t23_a_recipient_with_hidden_characters_is_refused(lone_ridge: Cast, address: str) -> None:
    desk = smiths(lone_ridge)
    with pytest.raises(DomainError) as refused:
        desk.propose("send_quote", quote_ref="Q-0001", channel="email", to=address)
    assert refused.value.code == "EMAIL_INVALID"


def test_a_look_alike_domain_is_marked(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    action = desk.propose("send_quote", quote_ref="Q-0001", channel="email", to="john@exаmple.com")  # Cyrillic а
    assert "lookalike" in marks(action, "recipient")
    assert "address_lookalike" in warned(action)


def test_t24_a_quote_that_changed_after_the_card_is_not_sent(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    action = desk.propose("send_quote", quote_ref="Q-0001", channel="email")
    with lone_ridge.scope():
        edit_quote_lines(
            Quote.objects.get(),
            by=lone_ridge.dana,
            expected_version=1,
            changes=[ChangeLine(1, LineDraft(quantity=Decimal(1)))],
        )
    desk.confirm(action)
    assert desk.fresh(action).status == "superseded"
    with lone_ridge.scope():
        assert not SandboxDelivery.objects.exists()


def test_t24_a_client_renamed_between_click_and_run_stops_it(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    action = desk.propose("send_quote", quote_ref="Q-0001", channel="email")
    desk.confirm(action)
    with lone_ridge.scope():
        client = Client.objects.get()
        update_client(client, by=lone_ridge.dana, expected_version=client.version, changes={"name": "Jane Smith"})
    assert desk.run(action).status == "failed"
    with lone_ridge.scope():
        assert (Quote.objects.get().status, SandboxDelivery.objects.count()) == ("draft", 0)


def test_a_refusal_by_the_provider_leaves_the_quote_a_draft(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    sandbox.set_knob(lone_ridge.tenant_id, "mail", sandbox.Mode.REFUSE)
    action = desk.run(desk.propose("send_quote", quote_ref="Q-0001", channel="email"))
    assert action.status == "failed"
    with lone_ridge.scope():
        assert (Quote.objects.get().status, ClientMessage.objects.get().status) == ("draft", "failed")
        assert Quote.objects.get().revisions.get().frozen_at is None


def test_no_answer_from_the_provider_is_in_doubt_and_looked_up_never_sent_again(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    sandbox.set_knob(lone_ridge.tenant_id, "mail", sandbox.Mode.TIMEOUT_AFTER_ACCEPT, remaining=1)
    action = desk.run(desk.propose("send_quote", quote_ref="Q-0001", channel="email"))
    assert action.status == "in_doubt"
    with lone_ridge.scope():
        assert (Quote.objects.get().status, ClientMessage.objects.get().status) == ("draft", "unknown")
    jobs.run("reconcile_action", action.pk, lone_ridge.tenant_id)
    assert desk.fresh(action).status == "executed"
    with lone_ridge.scope():
        assert (Quote.objects.get().status, ClientMessage.objects.get().status) == ("sent", "sent")
        assert SandboxDelivery.objects.get().requests == 1


@pytest.mark.parametrize(
    ("hint", "clear"),
    [
        ("the Smith quote", False),
        ("John Smith", True),
        ("john.smith@example.com", True),
        ("house on Cedar Bend", True),
        ("Q-0001", True),
        ("the roof", True),
        ("Smith Property", False),
        ("the gutter", False),
        ("Gonzalez", False),
        ("\x00\u202e", True),
    ],
)
def test_h30_the_owners_words_must_fit_the_record(lone_ridge: Cast, hint: str, clear: bool) -> None:
    desk = smiths(lone_ridge)
    with lone_ridge.scope():
        address = {"line1": "500 Congress Ave", "city": "Austin", "region": "TX", "postal_code": "78701"}
        named = {"kind": "company", "name": "Smith Property Group LLC", "email": "k@example.com"}
        other = john_smith(lone_ridge, address=address, **named)
        create_quote(other, by=lone_ridge.dana, title="Gutter replacement", lines=lines_of("4512.60"))
    if clear:
        desk.propose("send_quote", quote_ref="Q-0001", channel="email", subject_hint=hint)
        return
    with pytest.raises(DomainError) as refused:
        desk.propose("send_quote", quote_ref="Q-0001", channel="email", subject_hint=hint)
    assert refused.value.code == "SUBJECT_UNCLEAR"
    assert "Q-0001" in [one["ref"] for one in refused.value.data["candidates"]]


def test_over_the_role_limit_nothing_is_put_forward(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        cedar_bend(lone_ridge, discount=Portion(percent=Decimal(14)))
    desk = desk_of(lone_ridge)
    with pytest.raises(DomainError) as refused:
        desk.propose("send_quote", by=lone_ridge.alex, quote_ref="Q-0001", channel="email")
    assert refused.value.code == "OVER_ROLE_LIMIT"
    assert desk.propose("send_quote", quote_ref="Q-0001", channel="email").level == 2


def test_a_quote_of_another_company_does_not_exist(lone_ridge: Cast, strangers: Cast) -> None:
    with strangers.scope():
        cedar_bend(strangers)
    desk = desk_of(lone_ridge)
    with pytest.raises(DomainError) as refused:
        desk.propose("send_quote", quote_ref="Q-0001", channel="email")
    assert refused.value.code == "NOT_FOUND"


@pytest.mark.parametrize("channel", ["sms", "whatsapp"])
def test_a_channel_that_is_not_there_is_refused(lone_ridge: Cast, channel: str) -> None:
    with pytest.raises(DomainError) as refused:
        smiths(lone_ridge).propose("send_quote", quote_ref="Q-0001", channel=channel)
    assert refused.value.code == "CHANNEL_UNAVAILABLE"


def test_the_card_asks_nothing_for_the_same_thing_twice(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    first = desk.propose("send_quote", quote_ref="Q-0001", channel="email")
    assert desk.propose("send_quote", quote_ref="Q-0001", channel="email").pk == first.pk


def test_deleting_a_draft_takes_a_card_and_words_that_fit(lone_ridge: Cast) -> None:
    desk = smiths(lone_ridge)
    with pytest.raises(DomainError):
        desk.propose("delete_quote", quote_ref="Q-0001", subject_hint="the Gonzalez quote")
    action = desk.propose("delete_quote", quote_ref="Q-0001", subject_hint="the Smith quote")
    assert (action.level, action.operation) == (2, "internal")
    assert desk.run(action).status == "executed"
    with lone_ridge.scope():
        assert Quote.objects.get().in_trash


def test_h32_the_mail_goes_out_once_to_the_people_of_the_card() -> None:
    cast = lone_ridge(email_copy_to="bcc@example.com")
    with cast.scope():
        cedar_bend(cast, john_smith(cast, email="a@example.com"))
    desk = desk_of(cast)
    action = desk.run(
        desk.propose(
            "send_quote",
            quote_ref="Q-0001",
            channel="email",
            to="a@example.com, b@example.com, A@Example.com",
            cc=["accounts@example.com"],
        )
    )
    assert action.status == "executed"
    with cast.scope():
        sent = SandboxDelivery.objects.get()
        assert sent.payload["to"] == ["a@example.com", "b@example.com"]
        assert (sent.payload["cc"], sent.payload["bcc"]) == (["accounts@example.com"], ["bcc@example.com"])
        assert "bcc@example.com" not in sent.raw


def test_the_tools_are_declared_as_the_catalogue_has_them() -> None:
    levels = {
        "search_price_book": 0,
        "list_quotes": 0,
        "get_quote": 0,
        "preview_quote_pdf": 0,
        "create_quote": 0,
        "edit_quote_lines": 0,
        "set_quote_terms": 0,
        "send_quote": 2,
        "delete_quote": 2,
        "draft_message": 0,
        "send_email": 1,
    }
    assert {name: int(registry.TOOLS[name].level) for name in levels} == levels
    assert registry.TOOLS["send_quote"].namespace == "quote_actions"


@pytest.mark.parametrize(("title", "warnings"), [("屋根 repair", {"document_incomplete"}), ("Łódź roof repair", set())])
def test_a_document_that_cannot_print_a_character_is_warned_about(
    lone_ridge: Cast, title: str, warnings: set[str]
) -> None:
    """A character that is in none of the fonts prints as an empty box; nobody should find that out from the client."""
    with lone_ridge.scope():
        create_quote(john_smith(lone_ridge), by=lone_ridge.dana, title=title, lines=lines_of("100.00"))
    action = desk_of(lone_ridge).propose("send_quote", quote_ref="Q-0001", channel="email")
    assert warned(action) == warnings


@pytest.mark.parametrize(
    "to", ["john.smith@example.com", "John.Smith@EXAMPLE.com", " JOHN.SMITH@example.com , john.smith@example.com"]
)
def test_t87_the_same_send_in_other_letters_is_the_card_that_waits(lone_ridge: Cast, to: str) -> None:
    desk = smiths(lone_ridge)
    first = desk.propose("send_quote", quote_ref="Q-0001", channel="email")
    again = desk.propose("send_quote", quote_ref="Q-0001", channel="email", to=to, cc=[], message="  ")
    assert (again.pk, desk.fresh(first).status) == (first.pk, "pending")
    assert again.payload["to"] == ["john.smith@example.com"]
