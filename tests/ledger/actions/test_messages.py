"""Messages in somebody's own words: drafts, and e-mails that are handed over once (H32, H33, I11)."""

import uuid

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from ledger.actions.letters import free_letter
from ledger.actions.messages import (
    Mailing,
    discard_message,
    draft_message,
    record_email_failed,
    record_email_sent,
    record_email_unknown,
    reserve_email,
    sender_of,
    text_of,
)
from ledger.errors import DomainError, NotAllowed
from ledger.models import ClientMessage, Company, DeliveryEvent, Suppression
from tests.cast import Cast, joanne_smith, john_smith


def mailing(cast: Cast, client: object, *, to: tuple[str, ...] = ("john.smith@example.com",), **given: str) -> Mailing:
    words = {"subject": "About the roof", "body": "We come on Tuesday."} | given
    return Mailing(free_letter(client, cast.company, **words), to=to)


def test_a_draft_is_kept_and_goes_to_nobody(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        message = draft_message(joanne_smith(lone_ridge), by=lone_ridge.alex, channel="sms", body="Hi\r\nthere\x00")
        assert (message.ref, message.status, message.to, message.key) == ("M-0001", "draft", [], None)
        assert message.body == "Hi\nthere"
        assert message.party.name == "Joanne Smith"
        assert discard_message(message, by=lone_ridge.alex).status == "discarded"


def test_handing_over_and_the_answer_are_two_steps(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        message = reserve_email(client, by=lone_ridge.dana, key=uuid.uuid4(), mailing=mailing(lone_ridge, client))
        assert (message.status, message.sender) == ("sending", "office@lone-ridge.example")
        record_email_sent(message, by=lone_ridge.dana, provider="test", provider_id="p-1")
        kinds = list(DeliveryEvent.objects.order_by("at").values_list("kind", flat=True))
        assert kinds == ["sending", "sent"]


def test_what_is_unknown_becomes_sent_or_failed_and_never_sending_again(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        for ending in (record_email_sent, record_email_failed):
            message = reserve_email(client, by=lone_ridge.dana, key=uuid.uuid4(), mailing=mailing(lone_ridge, client))
            assert record_email_unknown(message).status == "unknown"
            assert record_email_unknown(message).status == "unknown"
            more = {"problem": "X"} if ending is record_email_failed else {"provider": "t", "provider_id": "p"}
            ended = ending(message, by=None, **more)
            assert ended.status == ("failed" if ending is record_email_failed else "sent")
            with pytest.raises(DatabaseError, match="Invalid transition"), transaction.atomic():
                ClientMessage.objects.filter(pk=message.pk).update(status="sending")


def test_one_key_is_handed_over_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client, key = john_smith(lone_ridge), uuid.uuid4()
        reserve_email(client, by=lone_ridge.dana, key=key, mailing=mailing(lone_ridge, client))
        with pytest.raises(IntegrityError, match="clientmessage_key_once"), transaction.atomic():
            reserve_email(client, by=lone_ridge.dana, key=key, mailing=mailing(lone_ridge, client))


@pytest.mark.parametrize(
    "given",
    [{"subject": ""}, {"subject": "\x00\u202e"}, {"body": ""}, {"body": " \n\u200b"}, {"body": "x" * 4001}],
)
def test_a_message_without_words_or_with_too_many_is_refused(lone_ridge: Cast, given: dict[str, str]) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        with pytest.raises(DomainError) as refused, transaction.atomic():
            reserve_email(client, by=lone_ridge.dana, key=uuid.uuid4(), mailing=mailing(lone_ridge, client, **given))
        assert refused.value.code == "BAD_TEXT"


def test_i11_a_suppressed_address_and_nobody_at_all_are_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        Suppression.objects.create(channel="email", address="john.smith@example.com", cause="stopped")
        for to, code in ((("John.Smith@Example.com",), "RECIPIENT_SUPPRESSED"), ((), "NO_RECIPIENT")):
            with pytest.raises(DomainError) as refused, transaction.atomic():
                reserve_email(client, by=lone_ridge.dana, key=uuid.uuid4(), mailing=mailing(lone_ridge, client, to=to))
            assert refused.value.code == code


def test_h33_a_line_break_never_reaches_a_subject(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        letter = free_letter(client, lone_ridge.company, subject="Roof\r\nBcc: x@example.com", body="y")
        assert letter.subject == "Roof Bcc: x@example.com"
        with pytest.raises(IntegrityError, match="clientmessage_subject_one_line"), transaction.atomic():
            ClientMessage.objects.create(ref="M-9", client=client, subject="a\nb")


def test_nobodys_words_stand_in_the_place_of_the_link(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        message = draft_message(
            john_smith(lone_ridge), by=lone_ridge.dana, channel="email", body=f"Click {ClientMessage.LINK} now"
        )
        assert text_of(message) == "Click  now"


def test_a_company_without_an_address_cannot_write(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        Company.objects.filter(pk=lone_ridge.tenant_id).update(email="")
        company = Company.objects.get(pk=lone_ridge.tenant_id)
        with pytest.raises(DomainError) as refused:
            sender_of(company)
        assert refused.value.code == "NO_SENDER"


def test_with_a_mail_server_the_installation_writes_and_answers_go_to_the_company(
    lone_ridge: Cast, settings: object
) -> None:
    settings.EMAIL_URL, settings.DEFAULT_FROM_EMAIL = "smtp://mail.example", "aval@mail.example"
    assert sender_of(lone_ridge.company) == ("aval@mail.example", "office@lone-ridge.example")


def test_who_may_not_write_is_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        lone_ridge.alex.role = "viewer"
        with pytest.raises(NotAllowed):
            draft_message(client, by=lone_ridge.alex, channel="email", body="x")
        with pytest.raises(NotAllowed):
            reserve_email(client, by=lone_ridge.alex, key=uuid.uuid4(), mailing=mailing(lone_ridge, client))
