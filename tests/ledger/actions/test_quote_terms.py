"""What a draft says beside its lines: changed under a version, counted anew, told to the audit."""

import json
from decimal import Decimal

import pytest

from ledger.actions.quote_terms import QuoteTerms, set_quote_terms
from ledger.actions.quotes import create_quote
from ledger.errors import DomainError, NotAllowed
from ledger.models import AuditEvent, Membership, Quote
from ledger.money import MoneyError, Portion
from tests.cast import Cast, john_smith
from tests.offers import CEDAR_BEND_TOTAL, cedar_bend, lines_of, send


def hundred(cast: Cast) -> Quote:
    return create_quote(john_smith(cast), by=cast.dana, title="Leak", lines=lines_of("100.00", tax=Decimal("8.25")))


def test_a_discount_and_a_deposit_are_counted_anew(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = hundred(lone_ridge)
        changes = QuoteTerms(discount=Portion(cents=1000), deposit=Portion(percent=Decimal(50)))
        revision = set_quote_terms(quote, by=lone_ridge.dana, expected_version=1, changes=changes)
        assert (revision.discount_total_cents, revision.tax_total_cents, revision.total_cents) == (1000, 743, 9743)
        assert revision.deposit_total_cents == 4872
        told = json.loads(AuditEvent.objects.get(kind="quote.terms_set").body)["detail"]
        assert (told["before"]["discount_cents"], told["after"]["discount_cents"]) == (None, 1000)
        assert Quote.objects.get().version == 2


def test_what_is_left_out_stays_and_nothing_takes_away(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        changes = QuoteTerms(title="  The whole roof ", valid_days=10, terms="Cash.\r\nOr check.")
        revision = set_quote_terms(quote, by=lone_ridge.dana, expected_version=1, changes=changes)
        quote.refresh_from_db()
        assert (quote.title, quote.valid_days, revision.terms) == ("The whole roof", 10, "Cash.\nOr check.")
        assert "whole roof" in quote.search
        assert (revision.total_cents, revision.discount_percent) == (CEDAR_BEND_TOTAL, Decimal(5))
        nothing = QuoteTerms(discount=Portion(percent=Decimal(0)), deposit=Portion(cents=0))
        revision = set_quote_terms(quote, by=lone_ridge.dana, expected_version=2, changes=nothing)
        assert (revision.discount_percent, revision.discount_cents, revision.discount_total_cents) == (None, None, 0)
        assert (revision.deposit_percent, revision.deposit_cents, revision.deposit_total_cents) == (None, None, 0)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (QuoteTerms(title=" "), "BAD_TEXT"),
        (QuoteTerms(title="x" * 161), "BAD_TEXT"),
        (QuoteTerms(valid_days=0), "BAD_NUMBER"),
        (QuoteTerms(valid_days=181), "BAD_NUMBER"),
        (QuoteTerms(terms="x" * 4001), "BAD_TEXT"),
    ],
)
def test_what_a_quote_cannot_hold_changes_nothing(lone_ridge: Cast, changes: QuoteTerms, error: str) -> None:
    with lone_ridge.scope():
        quote = hundred(lone_ridge)
        with pytest.raises(DomainError) as refused:
            set_quote_terms(quote, by=lone_ridge.dana, expected_version=1, changes=changes)
        assert refused.value.code == error
        assert Quote.objects.get().version == 1


def test_a_discount_of_more_than_the_whole_is_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = hundred(lone_ridge)
        with pytest.raises(MoneyError) as refused:
            changes = QuoteTerms(discount=Portion(cents=10_001))
            set_quote_terms(quote, by=lone_ridge.dana, expected_version=1, changes=changes)
        assert (refused.value.code, refused.value.data["field"]) == ("MORE_THAN_THE_WHOLE", "discount")


def test_i10_another_version_a_sent_quote_and_a_crew_member_are_refused(lone_ridge: Cast) -> None:
    shorter = QuoteTerms(valid_days=5)
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        with pytest.raises(DomainError, match="changed in the meantime"):
            set_quote_terms(quote, by=lone_ridge.dana, expected_version=7, changes=shorter)
        Membership.objects.filter(pk=lone_ridge.alex.pk).update(role="crew")
        with pytest.raises(NotAllowed):
            crew = Membership.objects.get(pk=lone_ridge.alex.pk)
            set_quote_terms(quote, by=crew, expected_version=1, changes=shorter)
        send(lone_ridge, quote)
        quote.refresh_from_db()
        with pytest.raises(DomainError, match="make a new revision"):
            set_quote_terms(quote, by=lone_ridge.dana, expected_version=quote.version, changes=shorter)
