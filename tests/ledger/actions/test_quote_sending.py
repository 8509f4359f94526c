"""A quote goes out in two actions around the provider's call; what was sent never changes again (I4, H32, H33)."""

import uuid
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from ledger import links
from ledger.actions.clients import update_client
from ledger.actions.contacts import add_contact
from ledger.actions.messages import text_of
from ledger.actions.quote_lines import ChangeLine, LineDraft, edit_quote_lines
from ledger.actions.quote_sending import (
    plan_quote_send,
    record_quote_send_failed,
    record_quote_sent,
    reserve_quote_send,
)
from ledger.actions.quotes import create_quote, expire_quote, revise_quote, withdraw_quote
from ledger.errors import DomainError
from ledger.models import (
    ClientMessage,
    Contact,
    Due,
    PublicLink,
    Quote,
    QuoteLine,
    QuoteRevision,
    Stage,
    StoredDocument,
    Suppression,
)
from ledger.money import Portion
from tests.cast import Cast, aurora, joanne_smith, john_smith, lone_ridge
from tests.offers import cedar_bend, frozen, lines_of, reserve, send

TENTH = Portion(percent=Decimal(10))


def test_planning_changes_nothing_but_keeps_the_document_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        plans = [plan_quote_send(quote, by=lone_ridge.dana) for _ in range(3)]
        assert {plan.document.sha256 for plan in plans} == {StoredDocument.objects.get().sha256}
        assert StoredDocument.objects.get().content[:5] == b"%PDF-"
        assert not ClientMessage.objects.exists()
        assert not PublicLink.objects.filter(tenant_id=lone_ridge.tenant_id).exists()
        assert quote.revisions.get().frozen_at is None


def test_the_letter_says_what_the_record_says_in_the_clients_language(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        plan = plan_quote_send(cedar_bend(lone_ridge), by=lone_ridge.dana)
        assert plan.letter.subject == "Quote Q-0001 for John Smith: Full roof replacement, 28 squares"
        assert "$10,157.64" in plan.letter.body
        assert plan.letter.language == "en"
        client = john_smith(lone_ridge, language="pt-BR", email="j2@example.com", phone="+15125550177")
        other = plan_quote_send(
            create_quote(client, by=lone_ridge.dana, title="Roof", lines=lines_of("1.00")), by=lone_ridge.dana
        )
        assert other.letter.language == "pt-br"
        assert other.letter.subject == "Orçamento Q-0002 para John Smith: Roof"
        assert other.letter.body.startswith("Olá, John Smith,")


def test_reserving_freezes_and_recording_sends(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        message = reserve(lone_ridge, quote)
        held = Quote.objects.get()
        revision = held.revisions.get()
        assert (message.status, held.status, held.version) == ("sending", "draft", 2)
        assert revision.frozen_at is not None
        assert revision.sent_at is None
        record_quote_sent(message, by=lone_ridge.dana, provider="test", provider_id="p-1")
    with lone_ridge.scope():
        held, message = Quote.objects.get(), ClientMessage.objects.get()
        assert (held.status, message.status, message.provider_id) == ("sent", "sent", "p-1")
        assert message.to == ["john.smith@example.com"]
        assert [a.name for a in message.attachments.all()] == ["Q-0001.pdf"]
        assert Due.objects.filter(kind="expire_quote", object_id=held.pk).exists()


def test_the_message_holds_no_token_and_shows_the_working_link(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        send(lone_ridge, cedar_bend(lone_ridge))
        message, link = ClientMessage.objects.get(), PublicLink.objects.get(tenant_id=lone_ridge.tenant_id)
        token = links.token_of(link)
        assert len(token) == 43
        assert token not in message.body
        assert f"http://testserver/q/{token}/" in text_of(message)
        assert links.find_link(PublicLink.Kind.QUOTE, token) == link


@pytest.mark.parametrize("token", ["", "x", "a" * 43, "é" * 43, "\x00" * 43, "a" * 10_000])
def test_a_token_that_was_never_made_finds_nothing(token: str) -> None:
    assert links.find_link(PublicLink.Kind.QUOTE, token) is None


def test_a_failed_send_puts_the_quote_back_and_closes_the_link(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        message = reserve(lone_ridge, quote)
        record_quote_send_failed(message, by=lone_ridge.dana, problem="REFUSED")
        revision = quote.revisions.get()
        assert ClientMessage.objects.get().status == "failed"
        assert (revision.frozen_at, revision.document_id, revision.valid_until) == (None, None, None)
        assert not PublicLink.objects.filter(tenant_id=lone_ridge.tenant_id, closed_at=None).exists()
        edit_quote_lines(
            quote, by=lone_ridge.dana, expected_version=3, changes=[ChangeLine(1, LineDraft(quantity=Decimal(1)))]
        )
        again = send(lone_ridge, quote)
        assert again.quote.status == "sent"


def test_an_answer_that_comes_twice_is_recorded_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        message = reserve(lone_ridge, cedar_bend(lone_ridge))
        for provider_id in ("p-1", "p-2"):
            record_quote_sent(message, by=lone_ridge.dana, provider="test", provider_id=provider_id)
            message.refresh_from_db()
        record_quote_send_failed(message, by=lone_ridge.dana, problem="LATE")
        assert (ClientMessage.objects.get().provider_id, Quote.objects.get().status) == ("p-1", "sent")


def test_i4_the_database_lets_nothing_of_a_sent_revision_change(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = send(lone_ridge, cedar_bend(lone_ridge))
        rows, lines = QuoteRevision.objects.filter(pk=revision.pk), QuoteLine.objects.filter(revision=revision)
        changes = [
            lambda: rows.update(terms="other"),
            lambda: rows.update(total_cents=1),
            lambda: rows.update(valid_until=date(2030, 1, 1)),
            lambda: rows.update(frozen_at=None),
            lambda: rows.update(sent_at=timezone.now()),
            lambda: rows.update(document=None),
            lambda: rows.update(n=9),
            lambda: rows.delete(),
            lambda: lines.update(description="other"),
            lambda: lines.update(quantity=Decimal(1)),
            lambda: lines.filter(position=1).delete(),
            lambda: QuoteLine.objects.bulk_create([_copy_of(lines[0])]),
        ]
        for change in changes:
            with pytest.raises(DatabaseError, match=r"never change|Cannot|protected"), transaction.atomic():
                change()
        assert rows.update(views=3) == 1  # what became of it may still be told


def _copy_of(line: QuoteLine) -> QuoteLine:
    line.pk, line.position, line._state.adding = uuid.uuid4(), 99, True
    return line


def test_a_message_that_was_handed_over_never_changes(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        reserve(lone_ridge, cedar_bend(lone_ridge))
        rows = ClientMessage.objects.all()
        for change in ({"to": ["x@example.com"]}, {"body": "x"}, {"subject": "x"}, {"key": uuid.uuid4()}):
            with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
                rows.update(**change)
        with pytest.raises(DatabaseError, match="Invalid transition"), transaction.atomic():
            rows.update(status="draft")


def test_one_key_makes_one_message(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        key = uuid.uuid4()
        plan = plan_quote_send(quote, by=lone_ridge.dana)
        message = reserve_quote_send(quote, by=lone_ridge.dana, key=key, frozen=frozen(plan))
        record_quote_sent(message, by=lone_ridge.dana, provider="test", provider_id="p-1")
        quote.refresh_from_db()
        again = frozen(plan_quote_send(quote, by=lone_ridge.dana))
        with pytest.raises(IntegrityError, match="clientmessage_key_once"), transaction.atomic():
            reserve_quote_send(quote, by=lone_ridge.dana, key=key, frozen=again)


def test_while_it_is_being_sent_nobody_edits_or_sends_it(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        reserve(lone_ridge, quote)
        quote.refresh_from_db()
        with pytest.raises(DomainError) as sending:
            plan_quote_send(quote, by=lone_ridge.dana)
        with pytest.raises(DomainError) as editing:
            edit_quote_lines(
                quote, by=lone_ridge.dana, expected_version=2, changes=[ChangeLine(1, LineDraft(quantity=Decimal(1)))]
            )
        assert (sending.value.code, editing.value.code) == ("BEING_SENT", "WRONG_STATUS")


def test_a_quote_that_changed_since_the_card_is_not_sent(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        shown = frozen(plan_quote_send(quote, by=lone_ridge.dana))
        edit_quote_lines(
            quote, by=lone_ridge.dana, expected_version=1, changes=[ChangeLine(1, LineDraft(quantity=Decimal(1)))]
        )
        for stale in (shown, replace(shown, version=2)):  # the second pretends to have seen the edit
            with pytest.raises(DomainError) as refused, transaction.atomic():
                reserve_quote_send(quote, by=lone_ridge.dana, key=uuid.uuid4(), frozen=stale)
            assert refused.value.code in ("STALE_VERSION", "DOCUMENT_CHANGED")
        assert not ClientMessage.objects.exists()


def test_a_client_renamed_since_the_card_makes_another_document(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        shown = frozen(plan_quote_send(quote, by=lone_ridge.dana))
        client = quote.client
        update_client(client, by=lone_ridge.dana, expected_version=client.version, changes={"name": "Jane Smith"})
        with pytest.raises(DomainError) as refused, transaction.atomic():
            reserve_quote_send(Quote.objects.get(pk=quote.pk), by=lone_ridge.dana, key=uuid.uuid4(), frozen=shown)
        assert refused.value.code == "DOCUMENT_CHANGED"


def test_h32_the_mail_goes_to_exactly_the_people_on_the_card() -> None:
    cast = lone_ridge(email_copy_to="bcc@example.com")
    with cast.scope():
        client = john_smith(cast, email="a@example.com")
        add_contact(client, by=cast.dana, name="B", email="b@example.com", role=Contact.Copies.TO)
        add_contact(client, by=cast.dana, name="Books", email="accounts@example.com", role=Contact.Copies.CC)
        quote = create_quote(client, by=cast.dana, title="Roof", lines=lines_of("1.00"))
        both = "a@example.com, b@example.com, A@Example.com"
        plan = plan_quote_send(quote, by=cast.dana, to=both, cc=["accounts@example.com"])
        people = plan.recipients
        assert [r.address for r in people.to] == ["a@example.com", "b@example.com"]
        assert [r.address for r in people.cc] == ["accounts@example.com"]
        assert [r.address for r in people.bcc] == ["bcc@example.com"]
        assert people.strangers == ()
        unasked = plan_quote_send(quote, by=cast.dana).recipients
        assert [r.address for r in (*unasked.to, *unasked.cc, *unasked.bcc)] == [
            "a@example.com",
            "b@example.com",
            "accounts@example.com",
            "bcc@example.com",
        ]


def test_h33_a_line_break_in_a_name_stays_inside_the_subject(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, name="Smith\r\nBcc: other@example.com")
        quote = create_quote(client, by=lone_ridge.dana, title="Roof\nX: y", lines=lines_of("1.00"))
        plan = plan_quote_send(quote, by=lone_ridge.dana)
        assert plan.letter.subject == "Quote Q-0001 for Smith Bcc: other@example.com: Roof X: y"
        message = reserve(lone_ridge, quote)
        with pytest.raises(DatabaseError), transaction.atomic():
            ClientMessage.objects.bulk_create([_with_subject(message, "a\nBcc: b@example.com")])


def _with_subject(message: ClientMessage, subject: str) -> ClientMessage:
    message.pk, message.ref, message.key, message.subject = uuid.uuid4(), "M-9999", uuid.uuid4(), subject
    return message


@pytest.mark.parametrize("address", ["", "nobody", "a@b@c", "a@example.com\x00", "a\u202e@example.com", "x" * 300])
def test_an_address_that_is_none_is_refused_in_words(lone_ridge: Cast, address: str) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, email="")
        quote = create_quote(client, by=lone_ridge.dana, title="Roof", lines=lines_of("1.00"))
        with pytest.raises(DomainError) as refused:
            plan_quote_send(quote, by=lone_ridge.dana, to=address)
        assert refused.value.code == ("EMAIL_INVALID" if address else "NO_RECIPIENT")


def test_a_suppressed_address_is_refused_when_planned_and_again_when_reserved(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        shown = frozen(plan_quote_send(quote, by=lone_ridge.dana))
        Suppression.objects.create(channel="email", address="john.smith@example.com", cause="bounced")
        for attempt in (
            lambda: plan_quote_send(quote, by=lone_ridge.dana, to="John.Smith@Example.com"),
            lambda: reserve_quote_send(quote, by=lone_ridge.dana, key=uuid.uuid4(), frozen=shown),
        ):
            with pytest.raises(DomainError) as refused, transaction.atomic():
                attempt()
            assert refused.value.code == "RECIPIENT_SUPPRESSED"


def test_i14_a_discount_over_the_senders_limit_is_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge, discount=Portion(percent=Decimal(14)))
        with pytest.raises(DomainError) as refused:
            plan_quote_send(quote, by=lone_ridge.alex)
        assert (refused.value.code, refused.value.data["limit"]) == ("OVER_ROLE_LIMIT", "10")
        assert plan_quote_send(quote, by=lone_ridge.dana).discount == Decimal("14.00")


@pytest.mark.parametrize(("of_document", "of_line"), [(TENTH, None), (None, TENTH)])
def test_i14_exactly_the_limit_is_not_over_it_for_the_sake_of_half_a_cent(
    lone_ridge: Cast, of_document: Portion | None, of_line: Portion | None
) -> None:
    """10 % of 10.05 are 100.5 cents, so 101 are taken off."""
    with lone_ridge.scope():
        quote = create_quote(
            john_smith(lone_ridge),
            by=lone_ridge.alex,
            title="Roof",
            lines=lines_of("10.05", discount=of_line),
            discount=of_document,
        )
        assert quote.revisions.get(n=1).total_cents == 904
        assert plan_quote_send(quote, by=lone_ridge.alex).discount == Decimal("10.00")


def test_i14_a_price_below_the_books_counts_as_a_discount(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge, discount=None)
        cheaper = [ChangeLine(2, LineDraft(quantity=Decimal(28), unit_price=Decimal("150.00")))]
        edit_quote_lines(quote, by=lone_ridge.alex, expected_version=1, changes=cheaper)
        with pytest.raises(DomainError) as refused:
            plan_quote_send(Quote.objects.get(pk=quote.pk), by=lone_ridge.alex)
        assert refused.value.code == "OVER_ROLE_LIMIT"


def test_i14_an_option_given_away_counts_although_it_is_not_selected(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        gift = lines_of("500.00", optional=True, discount=Portion(percent=Decimal(100)))
        quote = create_quote(
            john_smith(lone_ridge), by=lone_ridge.alex, title="Roof", lines=[*lines_of("1000.00"), *gift]
        )
        with pytest.raises(DomainError) as refused:
            plan_quote_send(quote, by=lone_ridge.alex)
        assert refused.value.code == "OVER_ROLE_LIMIT"


def test_a_new_revision_replaces_the_one_before_only_when_it_is_sent(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        first = send(lone_ridge, quote)
        revise_quote(quote, by=lone_ridge.dana)
        message = reserve(lone_ridge, quote)
        assert QuoteRevision.objects.get(pk=first.pk).status == "sent"
        record_quote_sent(message, by=lone_ridge.dana, provider="test", provider_id="p-2")
        assert [(r.n, r.status) for r in quote.revisions.order_by("n")] == [(1, "superseded"), (2, "sent")]


def test_sending_again_sends_the_same_document_under_the_same_link(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        send(lone_ridge, quote)
        send(lone_ridge, quote)
        messages = list(ClientMessage.objects.order_by("ref"))
        assert messages[0].link_id == messages[1].link_id
        assert StoredDocument.objects.count() == 1
        assert plan_quote_send(Quote.objects.get(pk=quote.pk), by=lone_ridge.dana).recipients.to[0].used_before


def test_a_lead_with_a_quote_stands_under_quoted(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge, email="joanne@example.com")
        send(lone_ridge, create_quote(lead, by=lone_ridge.dana, title="Roof", lines=lines_of("1.00")))
        lead.refresh_from_db()
        assert lead.stage == Stage.QUOTED


def test_a_quote_runs_out_at_the_end_of_its_last_day_in_the_companys_zone() -> None:
    cast = aurora()
    with cast.scope():
        quote = create_quote(
            john_smith(cast, phone="+5519991230101"), by=cast.bia, title="Calha", lines=lines_of("1.00"), valid_days=1
        )
        revision = send(cast, quote)
        promise = Due.objects.get(kind="expire_quote", object_id=quote.pk)
        midnight = revision.valid_until + timedelta(days=1)
        assert promise.run_at.isoformat() == f"{midnight}T03:00:00+00:00"  # São Paulo is three hours behind
        last_second = promise.run_at - timedelta(seconds=1)
        assert not expire_quote(quote, now=last_second)
        assert expire_quote(quote, now=promise.run_at)
        assert Quote.objects.get().status == "expired"


def test_a_withdrawn_quote_cannot_be_sent_but_revised(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        send(lone_ridge, quote)
        withdraw_quote(quote, by=lone_ridge.dana, reason="wrong roof")
        quote.refresh_from_db()
        with pytest.raises(DomainError) as refused:
            plan_quote_send(quote, by=lone_ridge.dana)
        assert refused.value.code == "WRONG_STATUS"
        revise_quote(quote, by=lone_ridge.dana)
        assert send(lone_ridge, quote).n == 2
