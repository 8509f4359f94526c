"""The price book: a price holds from its day on, and what was quoted keeps what it copied."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, transaction

from ledger import dates
from ledger.actions.pricebook import Price, archive_price_item, change_price, create_price_item
from ledger.actions.quote_lines import LineDraft
from ledger.actions.quotes import create_quote
from ledger.errors import DomainError, NotAllowed
from ledger.models import PriceItem, PriceVersion, Quote
from tests.cast import Cast, john_smith
from tests.offers import price_book


def shingles(cast: Cast, **given: object) -> PriceItem:
    values = {"code": "SHG", "name": "Shingles", "unit": "sq", "price": Price(Decimal("145.00"))}
    return create_price_item(by=cast.owner, **(values | given))


def test_the_price_of_a_day_is_the_last_one_made_up_to_it(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        today = dates.today("America/Chicago")
        item = shingles(lone_ridge, valid_from=today - timedelta(days=30))
        change_price(item, by=lone_ridge.dana, price=Price(Decimal("150")), valid_from=today)
        change_price(item, by=lone_ridge.dana, price=Price(Decimal("151")), valid_from=today)
        change_price(item, by=lone_ridge.dana, price=Price(Decimal("160")), valid_from=today + timedelta(days=9))

        def price_on(day: date) -> Decimal | None:
            found = PriceVersion.objects.standing([item], day).get(item.pk)
            return found and found.unit_price

        assert price_on(today - timedelta(days=31)) is None
        assert price_on(today - timedelta(days=1)) == Decimal("145")
        assert price_on(today) == Decimal("151")
        assert price_on(today + timedelta(days=9)) == Decimal("160")


def test_a_quote_keeps_the_price_it_copied(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        item = price_book(lone_ridge)["SHG-ARCH"]
        draft = [LineDraft(quantity=Decimal(1), item=item)]
        quote = create_quote(john_smith(lone_ridge), by=lone_ridge.dana, title="Roof", lines=draft)
        change_price(item, by=lone_ridge.dana, price=Price(Decimal("999")))
        line = quote.revisions.get().lines.select_related("price").get()
        assert (line.unit_price, line.is_overridden) == (Decimal("145"), False)


def test_an_archived_item_is_not_quoted_any_more(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client, item = john_smith(lone_ridge), shingles(lone_ridge)
        archived = archive_price_item(item, by=lone_ridge.dana)
        with pytest.raises(DomainError) as refused, transaction.atomic():
            create_quote(client, by=lone_ridge.dana, title="R", lines=[LineDraft(quantity=Decimal(1), item=archived)])
        assert refused.value.code == "ITEM_ARCHIVED"
        assert not Quote.objects.exists()


def test_a_code_is_given_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        shingles(lone_ridge)
        with pytest.raises(DomainError) as refused:
            shingles(lone_ridge, name="Others")
        assert refused.value.code == "CODE_TAKEN"


@pytest.mark.parametrize(
    "price",
    [
        Price(Decimal(-1)),
        Price(Decimal("NaN")),
        Price(Decimal("1e20")),
        Price(Decimal("0.00001")),
        Price(Decimal(1), unit_cost=Decimal("-0.01")),
        Price(Decimal(1), tax_rate=Decimal(101)),
        Price(Decimal(1), tax_rate=Decimal("Infinity")),
    ],
)
def test_a_price_that_no_column_holds_is_refused_in_words(lone_ridge: Cast, price: Price) -> None:
    with lone_ridge.scope():
        with pytest.raises(DomainError) as refused, transaction.atomic():
            shingles(lone_ridge, price=price)
        assert refused.value.sentence
        assert not PriceItem.objects.exists()


def test_a_price_that_was_made_never_changes(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        shingles(lone_ridge)
        for change in (lambda: PriceVersion.objects.update(unit_price=1), lambda: PriceVersion.objects.all().delete()):
            with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic():
                change()


def test_the_staff_keeps_the_price_book(lone_ridge: Cast) -> None:
    with lone_ridge.scope(), pytest.raises(NotAllowed):
        create_price_item(by=lone_ridge.alex, code="A", name="A", unit="ea", price=Price(Decimal(1)))
