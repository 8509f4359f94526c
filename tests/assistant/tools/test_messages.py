"""E-mails in somebody's own words: level by where they go, whole on the card, once at the provider (H32, H33, T23)."""

import pytest

from ledger.actions.contacts import add_contact
from ledger.actions.quotes import create_quote
from ledger.errors import DomainError
from ledger.models import Client, ClientMessage, SandboxDelivery, Suppression
from tests.cast import Cast, joanne_smith, john_smith
from tests.desks import Desk, desk_of, fact, marks, warned
from tests.offers import cedar_bend, lines_of, send

WORDS = {"subject": "About the roof", "body": "We come on Tuesday.\n\nDana"}


def office(cast: Cast) -> Desk:
    with cast.scope():
        john_smith(cast)
    return desk_of(cast)


def test_to_an_address_on_record_it_takes_one_click_and_shows_every_word(lone_ridge: Cast) -> None:
    desk = office(lone_ridge)
    action = desk.propose("send_email", party_ref="C-0001", **WORDS)
    assert (action.level, action.effects) == (1, ["notice"])
    assert fact(action, "recipient") == "john.smith@example.com"
    assert fact(action, "message") == WORDS["body"]
    ended = desk.run(action)
    assert ended.status == "executed"
    with lone_ridge.scope():
        sent = SandboxDelivery.objects.get()
        assert (sent.payload["text"], sent.payload["subject"]) == (WORDS["body"], WORDS["subject"])
        assert (sent.requests, ClientMessage.objects.get().status) == (1, "sent")


def test_a_copy_to_an_address_that_is_not_on_record_makes_it_level_2(lone_ridge: Cast) -> None:
    desk = office(lone_ridge)
    action = desk.propose("send_email", party_ref="C-0001", cc=["stranger@example.com"], **WORDS)
    assert action.level == 2
    assert marks(action, "cc") == ["not_on_record", "new_address"]
    assert warned(action) == {"address_not_on_record"}


def test_a_copy_to_a_contact_on_record_stays_level_1(lone_ridge: Cast) -> None:
    desk = office(lone_ridge)
    with lone_ridge.scope():
        add_contact(Client.objects.get(), by=lone_ridge.dana, name="Books", email="books@example.com", role="cc")
    action = desk.propose("send_email", party_ref="C-0001", cc=["Books@Example.com"], **WORDS)
    assert (action.level, marks(action, "cc")) == (1, ["new_address"])


def test_a_letter_goes_to_the_main_contact_alone(lone_ridge: Cast) -> None:
    desk = office(lone_ridge)
    with lone_ridge.scope():
        add_contact(Client.objects.get(), by=lone_ridge.dana, name="Jane", email="jane@example.com")
    action = desk.propose("send_email", party_ref="C-0001", **WORDS)
    assert action.payload["to"] == ["john.smith@example.com"]


def test_a_sent_quote_may_go_along_and_makes_it_level_2(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = send(lone_ridge, cedar_bend(lone_ridge))
        sha256 = revision.document.sha256
        other = create_quote(revision.quote.client, by=lone_ridge.dana, title="Draft", lines=lines_of("1.00"))
    desk = desk_of(lone_ridge)
    action = desk.propose("send_email", party_ref="C-0001", attach_refs=["Q-0001"], **WORDS)
    assert (action.level, fact(action, "sha256")) == (2, sha256)
    desk.run(action)
    with lone_ridge.scope():
        assert SandboxDelivery.objects.get().payload["attachments"][0]["sha256"] == sha256
    with pytest.raises(DomainError) as refused:  # a draft leaves the company only by send_quote
        desk.propose("send_email", party_ref="C-0001", attach_refs=[other.ref], **WORDS)
    assert refused.value.code == "NOT_ATTACHABLE"


def test_another_clients_quote_does_not_go_along(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        send(lone_ridge, cedar_bend(lone_ridge))
        lead = joanne_smith(lone_ridge, email="joanne@example.com")
    with pytest.raises(DomainError) as refused:
        desk_of(lone_ridge).propose("send_email", party_ref=lead.ref, attach_refs=["Q-0001"], **WORDS)
    assert refused.value.code == "NOT_ATTACHABLE"


def test_links_and_strange_figures_in_the_text_are_named(lone_ridge: Cast) -> None:
    desk = office(lone_ridge)
    body = "Pay $9,999.00 at https://pay.example/now or www.other.example"
    action = desk.propose("send_email", party_ref="C-0001", subject="Pay", body=body)
    assert fact(action, "links") == ["https://pay.example/now", "www.other.example"]
    assert "figures_not_on_record" in warned(action)


def test_t23_what_cannot_be_seen_is_taken_out_and_said(lone_ridge: Cast) -> None:
    desk = office(lone_ridge)
    action = desk.propose(
        "send_email", party_ref="C-0001", subject="Ro\u202eof\r\nBcc: x@y.example", body="Hi\u200b there"
    )
    assert (action.payload["subject"], action.payload["body"]) == ("Roof Bcc: x@y.example", "Hi there")
    assert "hidden_characters_removed" in warned(action)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"subject": "\u202e"}, "BAD_TEXT"),
        ({"body": "\u200b \n"}, "BAD_TEXT"),
        ({"body": "x" * 4001}, "INVALID_ARGUMENTS"),
        ({"cc": ["nobody"]}, "EMAIL_INVALID"),
        ({"cc": ["a@example.com"] * 4}, "INVALID_ARGUMENTS"),
        ({"cc": ["a@example.com\x00"]}, "EMAIL_INVALID"),
        ({"party_ref": "C-9999"}, "NOT_FOUND"),
        ({"attach_refs": ["Q-9999"]}, "NOT_FOUND"),
        ({"to": "x@example.com"}, "INVALID_ARGUMENTS"),
        ({"subject_hint": "the Gonzalez family"}, "SUBJECT_UNCLEAR"),
    ],
)
def test_bad_arguments_put_no_card_up(lone_ridge: Cast, given: dict[str, object], code: str) -> None:
    desk = office(lone_ridge)
    with pytest.raises(DomainError) as refused:
        desk.propose("send_email", **({"party_ref": "C-0001"} | WORDS | given))
    assert refused.value.code == code
    assert refused.value.sentence


def test_i11_whoever_asked_to_be_left_alone_gets_nothing(lone_ridge: Cast) -> None:
    desk = office(lone_ridge)
    action = desk.propose("send_email", party_ref="C-0001", **WORDS)
    with lone_ridge.scope():
        Suppression.objects.create(channel="email", address="john.smith@example.com", cause="stopped")
    assert desk.run(action).status == "failed"  # asked while the card was up
    with pytest.raises(DomainError) as refused:
        desk.propose("send_email", party_ref="C-0001", **WORDS)
    assert refused.value.code == "RECIPIENT_SUPPRESSED"
    with lone_ridge.scope():
        assert not SandboxDelivery.objects.exists()


def test_a_rejected_e_mail_stays_as_a_draft(lone_ridge: Cast) -> None:
    desk = office(lone_ridge)
    action = desk.propose("send_email", party_ref="C-0001", **WORDS)
    assert desk.reject(action).kind == "decided"
    with lone_ridge.scope():
        draft = ClientMessage.objects.get()
        assert (draft.status, draft.subject, draft.body) == ("draft", WORDS["subject"], WORDS["body"])
        assert not SandboxDelivery.objects.exists()


def test_a_draft_is_kept_for_the_party_and_the_quote(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        cedar_bend(lone_ridge)
    told = desk_of(lone_ridge).read(
        "draft_message", party_ref="C-0001", channel="sms", body="Hello", related_ref="Q-0001"
    )
    assert (told["ref"], told["status"]) == ("M-0001", "draft")
    with lone_ridge.scope():
        assert ClientMessage.objects.get().revision.quote.ref == "Q-0001"
