"""What the client does on the page, once and only while the quote is open (H34)."""

import threading
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine
from django.db import DatabaseError, connection, transaction

from ledger import tenancy
from ledger.actions.quote_answers import (
    Signature,
    accept_quote,
    decline_quote,
    mark_viewed,
    request_quote_changes,
)
from ledger.actions.quotes import create_quote, revise_quote, withdraw_quote
from ledger.errors import DomainError
from ledger.models import Acceptance, AuditEvent, Lead, Quote, QuoteRevision
from tests.cast import Cast, joanne_smith, john_smith
from tests.offers import CEDAR_BEND_TOTAL, cedar_bend, lines_of, send


def signature(revision: QuoteRevision, **given: object) -> Signature:
    whole = Signature(
        name="John Smith",
        document_sha256=revision.document.sha256,
        options=frozenset(),
        total_cents=revision.total_cents,
        address="203.0.113.9",
        user_agent="Test",
    )
    return replace(whole, **given)


def test_h34_an_acceptance_is_recorded_once_with_who_when_where_and_what(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = send(lone_ridge, cedar_bend(lone_ridge))
        first = accept_quote(revision, signature=signature(revision))
        second = accept_quote(revision, signature=signature(revision, name="Somebody Else"))
        assert (first.new, second.new, second.acceptance.pk) == (True, False, first.acceptance.pk)
    with lone_ridge.scope():
        stored = Acceptance.objects.get()
        assert (stored.signer_name, stored.address, stored.user_agent) == ("John Smith", "203.0.113.9", "Test")
        assert (stored.total_cents, stored.document_sha256) == (CEDAR_BEND_TOTAL, revision.document.sha256)
        assert stored.agreement.startswith("I accept quote Q-0001, revision 1, for $10,157.64")
        assert Quote.objects.get().status == Quote.Status.ACCEPTED
        assert AuditEvent.objects.filter(kind="quote.accepted").count() == 1


def test_ten_presses_at_once_make_one_acceptance(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = send(lone_ridge, cedar_bend(lone_ridge))
    told: list[bool] = []
    gate = threading.Barrier(10)

    def press() -> None:
        gate.wait()
        with tenancy.tenant(lone_ridge.tenant_id):
            told.append(accept_quote(revision, signature=signature(revision)).new)
        connection.close()

    people = [threading.Thread(target=press) for _ in range(10)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert sorted(told) == [False] * 9 + [True]
    with lone_ridge.scope():
        assert Acceptance.objects.count() == 1


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"name": ""}, "NAME_REQUIRED"),
        ({"name": "\x00\u202e \n"}, "NAME_REQUIRED"),
        ({"name": "x" * 121}, "NAME_REQUIRED"),
        ({"document_sha256": "0" * 64}, "DOCUMENT_CHANGED"),
        ({"document_sha256": ""}, "DOCUMENT_CHANGED"),
        ({"total_cents": 1}, "DOCUMENT_CHANGED"),
        ({"total_cents": 10**40}, "DOCUMENT_CHANGED"),
    ],
)
def test_an_acceptance_of_something_else_is_refused(lone_ridge: Cast, given: dict[str, object], code: str) -> None:
    with lone_ridge.scope():
        revision = send(lone_ridge, cedar_bend(lone_ridge))
        with pytest.raises(DomainError) as refused, transaction.atomic():
            accept_quote(revision, signature=signature(revision, **given))
        assert refused.value.code == code
        assert not Acceptance.objects.exists()
        assert Quote.objects.get().status == Quote.Status.SENT


def test_options_taken_are_part_of_what_is_accepted(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lines = [*lines_of("1000.00"), *lines_of("250.00", "80.00", optional=True)]
        revision = send(lone_ridge, create_quote(john_smith(lone_ridge), by=lone_ridge.dana, title="R", lines=lines))
        assert revision.total_cents == 100_000
        option = revision.lines.get(unit_price=Decimal(250))
        with pytest.raises(DomainError):  # the total shown was that without the option
            accept_quote(revision, signature=signature(revision, options=frozenset({option.pk})))
        accept_quote(revision, signature=signature(revision, options=frozenset({option.pk}), total_cents=125_000))
        stored = Acceptance.objects.get()
        assert (stored.selected, stored.total_cents, stored.totals["total"]) == ([str(option.pk)], 125_000, 125_000)


def test_a_quote_that_is_not_open_cannot_be_accepted(lone_ridge: Cast) -> None:
    def withdraw(quote: Quote, revision: QuoteRevision) -> None:
        withdraw_quote(quote, by=lone_ridge.dana, reason="x")

    def decline(quote: Quote, revision: QuoteRevision) -> None:
        decline_quote(revision, reason="too dear")

    def supersede(quote: Quote, revision: QuoteRevision) -> None:
        revise_quote(quote, by=lone_ridge.dana)
        send(lone_ridge, quote)

    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        for end, code in ((withdraw, "WITHDRAWN"), (decline, "DECLINED"), (supersede, "SUPERSEDED")):
            quote = create_quote(client, by=lone_ridge.dana, title="Roof", lines=lines_of("1.00"))
            revision = send(lone_ridge, quote)
            end(quote, revision)
            for deed in (
                lambda held=revision: accept_quote(held, signature=signature(held)),
                lambda held=revision: request_quote_changes(held, wish="x"),
            ):
                with pytest.raises(DomainError) as refused, transaction.atomic():
                    deed()
                assert refused.value.code == code
            assert not mark_viewed(revision)


def test_an_expired_quote_cannot_be_accepted_whatever_a_job_has_done(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = send(lone_ridge, cedar_bend(lone_ridge, valid_days=1))
    with time_machine.travel(revision.sent_at + timedelta(days=3)), lone_ridge.scope():
        assert Quote.objects.get().status == Quote.Status.SENT
        with pytest.raises(DomainError) as refused, transaction.atomic():
            accept_quote(revision, signature=signature(revision))
        assert refused.value.code == "EXPIRED"


def test_the_company_does_not_accept_for_the_client_behind_the_rules(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        revision = send(lone_ridge, quote)
    with pytest.raises(DatabaseError, match="accepted without an acceptance"), lone_ridge.scope():
        Quote.objects.filter(pk=quote.pk).update(status="accepted")
    with lone_ridge.scope():
        forged = Acceptance(
            revision=revision, document_sha256="0" * 64, signer_name="X", totals={}, total_cents=1, agreement="x"
        )
        with pytest.raises(DatabaseError, match="document of a sent revision"), transaction.atomic():
            Acceptance.objects.bulk_create([forged])
        accept_quote(revision, signature=signature(revision))
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            Acceptance.objects.update(signer_name="X")


def test_the_client_may_accept_what_was_sent_while_a_revision_is_drafted(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        revision = send(lone_ridge, quote)
        revise_quote(quote, by=lone_ridge.dana)
        accept_quote(revision, signature=signature(revision))
    with lone_ridge.scope():
        quote = Quote.objects.get()
        assert (quote.status, quote.revision) == ("accepted", 1)
        assert [r.status for r in quote.revisions.order_by("n")] == ["sent", "dropped"]


def test_viewing_is_counted_and_told_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = send(lone_ridge, cedar_bend(lone_ridge))
        assert mark_viewed(revision)
        assert mark_viewed(revision)
        assert QuoteRevision.objects.get().views == 2
        assert Quote.objects.get().status == Quote.Status.VIEWED
        assert AuditEvent.objects.filter(kind="quote.viewed").count() == 1


def test_a_wish_for_changes_leaves_the_quote_open(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = send(lone_ridge, cedar_bend(lone_ridge))
        request_quote_changes(revision, wish="Please add a ridge vent.\x00")
        assert QuoteRevision.objects.get().request == "Please add a ridge vent."
        assert Quote.objects.get().status == Quote.Status.CHANGES_REQUESTED
        assert accept_quote(revision, signature=signature(revision)).new


def test_a_lead_whose_quote_is_accepted_is_won(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge, email="joanne@example.com")
        revision = send(lone_ridge, create_quote(lead, by=lone_ridge.dana, title="R", lines=lines_of("1.00")))
        accept_quote(revision, signature=signature(revision))
        assert Lead.objects.get().stage == "won"
