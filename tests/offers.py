"""Quotes of the cast: the roof on Cedar Bend, 10,157.64 in all, and the way it goes out, without a provider."""

import uuid
from decimal import Decimal
from typing import Any

from ledger.actions.messages import Mailing
from ledger.actions.pricebook import Price, create_price_item
from ledger.actions.quote_lines import LineDraft
from ledger.actions.quote_sending import Frozen, QuoteSend, plan_quote_send, record_quote_sent, reserve_quote_send
from ledger.actions.quotes import create_quote
from ledger.models import Client, ClientMessage, Lead, PriceItem, Quote, QuoteRevision
from ledger.money import Portion
from tests.cast import Cast, john_smith

TAX = Decimal("8.25")
BOOK = {
    "SHG-ARCH": ("Architectural shingles", "sq", "145.00", "92.00", TAX),
    "LAB-ROOF": ("Tear-off and install labor", "sq", "210.00", "140.00", Decimal(0)),
    "FLS-KIT": ("Chimney flashing kit", "ea", "385.50", "210.00", TAX),
}
CEDAR_BEND_TOTAL = 1_015_764


def price_book(cast: Cast) -> dict[str, PriceItem]:
    """The items of the roof, by code."""
    return {
        code: create_price_item(
            by=cast.owner,
            code=code,
            name=name,
            unit=unit,
            price=Price(Decimal(price), unit_cost=Decimal(cost), tax_rate=tax),
        )
        for code, (name, unit, price, cost, tax) in BOOK.items()
    }


def lines_of(*amounts: str, tax: Decimal = Decimal(0), **given: Any) -> list[LineDraft]:
    """One line of one piece for each unit price."""
    return [
        LineDraft(quantity=Decimal(1), description=f"Part {n}", unit_price=Decimal(amount), tax_rate=tax, **given)
        for n, amount in enumerate(amounts, start=1)
    ]


def cedar_bend(cast: Cast, party: Client | Lead | None = None, **given: Any) -> Quote:
    """28 squares with 5 % off and 30 % deposit, in the scope that the caller holds."""
    items = price_book(cast)
    values: dict[str, Any] = {
        "by": cast.owner,
        "title": "Full roof replacement, 28 squares",
        "lines": [
            LineDraft(quantity=Decimal(28), item=items["SHG-ARCH"]),
            LineDraft(quantity=Decimal(28), item=items["LAB-ROOF"]),
            LineDraft(quantity=Decimal(1), item=items["FLS-KIT"]),
        ],
        "discount": Portion(percent=Decimal(5)),
        "deposit": Portion(percent=Decimal(30)),
    }
    return create_quote(party or john_smith(cast), **(values | given))


def frozen(plan: QuoteSend) -> Frozen:
    """What a card would freeze of a plan."""
    people = plan.recipients
    return Frozen(
        mailing=Mailing(
            plan.letter,
            to=tuple(r.address for r in people.to),
            cc=tuple(r.address for r in people.cc),
            bcc=tuple(r.address for r in people.bcc),
        ),
        days=plan.days,
        document_sha256=plan.document.sha256,
        content_hash=plan.content_hash,
        version=plan.quote.version,
    )


def reserve(cast: Cast, quote: Quote, **given: Any) -> ClientMessage:
    """Plan and hold a send of the quote as it is now."""
    quote = Quote.objects.get(pk=quote.pk)
    plan = plan_quote_send(quote, by=cast.owner, **given)
    return reserve_quote_send(quote, by=cast.owner, key=uuid.uuid4(), frozen=frozen(plan))


def send(cast: Cast, quote: Quote, **given: Any) -> QuoteRevision:
    """The quote goes out and the provider accepts; gives the revision as it then is."""
    message = reserve(cast, quote, **given)
    record_quote_sent(message, by=cast.owner, provider="test", provider_id="p-1")
    return QuoteRevision.objects.select_related("quote", "document").get(pk=message.revision_id)
