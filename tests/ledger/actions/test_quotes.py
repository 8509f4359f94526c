"""Drafting quotes: totals come from the lines, by one function, and are stored as they are (H01 to H06, I3)."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from ledger import audit
from ledger.actions.quote_lines import AddLine, ChangeLine, LineDraft, MoveLine, RemoveLine, edit_quote_lines
from ledger.actions.quotes import create_quote, delete_quote, revise_quote
from ledger.actions.sites import add_site
from ledger.errors import DomainError, NotAllowed
from ledger.models import AuditEvent, Quote, QuoteLine, QuoteRevision
from ledger.money import Portion, totals
from tests.cast import Cast, joanne_smith, john_smith
from tests.offers import CEDAR_BEND_TOTAL, cedar_bend, lines_of, price_book, send


def percent(text: str) -> Portion:
    return Portion(percent=Decimal(text))


def draft(cast: Cast, lines: list[LineDraft], **given: Any) -> QuoteRevision:
    quote = create_quote(john_smith(cast), by=cast.owner, title="Roof", lines=lines, **given)
    return quote.revisions.get()


def test_the_roof_on_cedar_bend_comes_to_10157_64(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        revision = quote.revisions.get()
        assert quote.ref == "Q-0001"
        assert quote.status == Quote.Status.DRAFT
        assert revision.total_cents == CEDAR_BEND_TOTAL
        assert (revision.subtotal_total_cents, revision.discount_total_cents) == (1_032_550, 51_628)
        assert (revision.tax_total_cents, revision.deposit_total_cents) == (34_842, 304_729)
        assert revision.tax_lines == [
            {"rate": "0", "base": 558_600, "tax": 0},
            {"rate": "8.25", "base": 422_322, "tax": 34_842},
        ]
        assert [line.share_cents for line in revision.lines.all()] == [20_300, 29_400, 1_928]
    with lone_ridge.scope():
        assert audit.verify().whole


def test_h01_a_whole_line_discount_leaves_exactly_nothing(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        line = LineDraft(
            quantity=Decimal("3.5"), description="Patch", unit_price=Decimal("21.29"), discount=percent("100")
        )
        revision = draft(lone_ridge, [line])
        stored = revision.lines.get()
        assert (stored.gross_total_cents, stored.discount_total_cents, stored.net_total_cents) == (7_452, 7_452, 0)
        assert revision.total_cents == 0


def test_h02_tax_is_rounded_once_for_the_document(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = draft(lone_ridge, lines_of("45.50", "18.70", tax=Decimal("8.25")))
        assert (revision.subtotal_total_cents, revision.tax_total_cents, revision.total_cents) == (6_420, 530, 6_950)


def test_h03_a_fixed_discount_comes_off_before_tax(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        line = LineDraft(quantity=Decimal(5), description="Tile", unit_price=Decimal("36.00"), tax_rate=Decimal("8.25"))
        revision = draft(lone_ridge, [line], discount=Portion(cents=3_000))
        assert (revision.tax_total_cents, revision.total_cents) == (1_238, 16_238)


def test_h04_a_discount_split_in_three_adds_up_in_the_stored_fields(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = draft(lone_ridge, lines_of("50.00", "50.00", "50.00"), discount=Portion(cents=1_000))
        lines = list(revision.lines.all())
        assert [line.share_cents for line in lines] == [334, 333, 333]
        assert [line.taxable_cents for line in lines] == [4_666, 4_667, 4_667]
        assert revision.total_cents == 14_000


def test_h05_a_discount_over_a_taxed_and_an_exempt_line(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lines = [*lines_of("600.00"), *lines_of("400.00", tax=Decimal(7))]
        revision = draft(lone_ridge, lines, discount=percent("10"))
        assert (revision.tax_total_cents, revision.total_cents) == (2_520, 92_520)


def test_h06_deposit_and_balance_make_the_whole(aurora: Cast) -> None:
    with aurora.scope():
        revision = draft(aurora, lines_of("333.35"), deposit=percent("30"))
        assert (revision.total_cents, revision.deposit_total_cents) == (33_335, 10_001)
        assert revision.totals(list(revision.lines.all())).balance == 23_334


def test_the_stored_totals_are_those_of_the_one_function(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = cedar_bend(lone_ridge).revisions.get()
        again = totals([line.as_money() for line in revision.lines.all()], revision.money_settings)
        assert again.total == revision.total_cents


def test_totals_that_are_not_those_of_the_lines_are_refused_by_the_database(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        revision = cedar_bend(lone_ridge).revisions.get()
        for column in ("total_cents", "tax_total_cents", "discount_total_cents"):
            with pytest.raises(IntegrityError, match="quoterevision_total"), transaction.atomic():
                QuoteRevision.objects.filter(pk=revision.pk).update(**{column: 1})
        line = revision.lines.first()
        for column in ("net_total_cents", "share_cents", "gross_total_cents"):
            with pytest.raises(IntegrityError, match="quoteline_"), transaction.atomic():
                QuoteLine.objects.filter(pk=line.pk).update(**{column: 1})


def test_lines_are_edited_in_order_and_totals_follow(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        items = price_book(lone_ridge)
        quote = create_quote(
            john_smith(lone_ridge), by=lone_ridge.dana, title="Roof", lines=lines_of("10.00", "20.00", "30.00")
        )
        revision = edit_quote_lines(
            quote,
            by=lone_ridge.dana,
            expected_version=1,
            changes=[
                AddLine(LineDraft(quantity=Decimal(2), item=items["FLS-KIT"])),
                ChangeLine(1, LineDraft(quantity=Decimal(4))),
                RemoveLine(2),
                MoveLine(3, 1),
            ],
        )
        lines = list(revision.lines.all())
        assert [(line.position, line.description, line.net_total_cents) for line in lines] == [
            (1, "Chimney flashing kit", 77_100),
            (2, "Part 1", 4_000),
            (3, "Part 3", 3_000),
        ]
        assert revision.subtotal_total_cents == 84_100
        told = AuditEvent.objects.get(kind="quote.lines_edited")
        assert '"description":"Part 2"' in told.body  # what was removed is on record


def test_the_second_of_two_edits_of_one_version_is_stale(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        change = [ChangeLine(1, LineDraft(quantity=Decimal(27)))]
        edit_quote_lines(quote, by=lone_ridge.dana, expected_version=1, changes=change)
        with pytest.raises(DomainError) as refused:
            edit_quote_lines(quote, by=lone_ridge.dana, expected_version=1, changes=change)
        assert refused.value.code == "STALE_VERSION"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (LineDraft(quantity=Decimal(0), description="x", unit_price=Decimal(1)), "QUANTITY_NOT_POSITIVE"),
        (LineDraft(quantity=Decimal("NaN"), description="x", unit_price=Decimal(1)), "NOT_A_NUMBER"),
        (LineDraft(quantity=Decimal("Infinity"), description="x", unit_price=Decimal(1)), "NOT_A_NUMBER"),
        (LineDraft(quantity=Decimal("1e999999"), description="x", unit_price=Decimal(1)), "AMOUNT_TOO_LARGE"),
        (LineDraft(quantity=Decimal(1), description="x", unit_price=Decimal("1e-9")), "TOO_MANY_DECIMALS"),
        (LineDraft(quantity=Decimal(1), description="x", unit_price=Decimal(-1)), "NEGATIVE_AMOUNT"),
        (LineDraft(quantity=Decimal(1), description="x", unit_price=Decimal(10**30)), "AMOUNT_TOO_LARGE"),
        (LineDraft(quantity=Decimal(1), description="x"), "NO_PRICE"),
        (LineDraft(quantity=Decimal(1), description="\x00\u202e", unit_price=Decimal(1)), "BAD_TEXT"),
        (LineDraft(quantity=Decimal(1), description="x" * 301, unit_price=Decimal(1)), "BAD_TEXT"),
        (LineDraft(quantity=Decimal(1), description="x", unit_price=Decimal(1), tax_code="?"), "UNKNOWN_TAX_CODE"),
    ],
)
def test_a_line_that_no_column_holds_is_refused_in_words(lone_ridge: Cast, line: LineDraft, code: str) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        with pytest.raises(DomainError) as refused, transaction.atomic():
            create_quote(client, by=lone_ridge.dana, title="Roof", lines=[line])
        assert refused.value.code == code
        assert not Quote.objects.exists()


@pytest.mark.parametrize("count", [0, 101, 1_000_000])
def test_a_quote_has_from_one_to_a_hundred_lines(lone_ridge: Cast, count: int) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        with pytest.raises(DomainError) as refused, transaction.atomic():
            create_quote(client, by=lone_ridge.dana, title="Roof", lines=lines_of("1.00") * count)
        assert refused.value.code == "LINES"


def test_hidden_characters_never_reach_a_title_or_a_line(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        line = LineDraft(quantity=Decimal(1), description="Shin\u202egles\x00", unit_price=Decimal(1))
        quote = create_quote(
            john_smith(lone_ridge), by=lone_ridge.dana, title="Roof\r\nBcc: x@example.com", lines=[line]
        )
        assert quote.title == "Roof Bcc: x@example.com"
        assert quote.revisions.get().lines.get().description == "Shingles"


def test_a_quote_is_for_a_client_or_a_lead_and_the_database_holds_it(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge, joanne_smith(lone_ridge))
        assert (quote.client_id, quote.party.name) == (None, "Joanne Smith")
        for change in ({"lead": None}, {"client": john_smith(lone_ridge)}):
            with pytest.raises(IntegrityError, match="quote_one_party"), transaction.atomic():
                Quote.objects.filter(pk=quote.pk).update(**change)


def test_a_quote_in_another_currency_is_refused_by_the_database(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        with pytest.raises(DatabaseError, match="company's currency"), transaction.atomic():
            Quote.objects.filter(pk=quote.pk).update(currency="BRL")


def test_a_site_of_another_party_is_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        site = add_site(john_smith(lone_ridge), by=lone_ridge.dana, address={"line1": "5 Elm St"})
        other = john_smith(lone_ridge, name="Jon Smythe", email="jon@example.com", phone="+15125550199")
        with pytest.raises(DomainError) as refused:
            create_quote(other, by=lone_ridge.dana, title="Roof", lines=lines_of("1.00"), site=site)
        assert refused.value.code == "SITE_OF_ANOTHER"


def test_who_may_not_draft_is_refused_first(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        lone_ridge.alex.role = "crew"
        with pytest.raises(NotAllowed):
            create_quote(client, by=lone_ridge.alex, title="Roof", lines=lines_of("1.00"))


def test_another_companys_client_cannot_be_quoted(lone_ridge: Cast, strangers: Cast) -> None:
    with strangers.scope():
        theirs = john_smith(strangers)
    with pytest.raises(IntegrityError, match="same_tenant"), lone_ridge.scope():
        create_quote(theirs, by=lone_ridge.dana, title="Roof", lines=lines_of("1.00"))
    with lone_ridge.scope():
        assert not Quote.objects.exists()


def test_a_revision_copies_the_lines_and_leaves_what_was_sent(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        sent = send(lone_ridge, quote)
        revision = revise_quote(quote, by=lone_ridge.dana)
        assert (revision.n, revision.total_cents) == (2, CEDAR_BEND_TOTAL)
        assert Quote.objects.get().status == Quote.Status.DRAFT
        assert QuoteRevision.objects.get(pk=sent.pk).status == QuoteRevision.Status.SENT


def test_only_a_quote_that_binds_nobody_is_deleted(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        send(lone_ridge, quote)
        with pytest.raises(DomainError) as refused:
            delete_quote(quote, by=lone_ridge.dana)
        assert refused.value.code == "WRONG_STATUS"
        revise_quote(quote, by=lone_ridge.dana)
        with pytest.raises(DomainError):  # the client can still accept the first revision
            delete_quote(quote, by=lone_ridge.dana)
        other = create_quote(quote.client, by=lone_ridge.dana, title="Gutter", lines=lines_of("1.00"))
        assert delete_quote(other, by=lone_ridge.dana).in_trash
