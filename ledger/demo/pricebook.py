"""What the companies sell."""

from decimal import Decimal

from ledger.actions.pricebook import Price, create_price_item
from ledger.demo.world import Seed, World, missing, numbers_go_on
from ledger.models import PriceItem

SINCE = "2026-01-05"


def load(world: World, seed: Seed) -> None:
    entries = seed.get("price_book", [])
    for entry in missing(PriceItem, entries):
        price = Price(
            unit_price=Decimal(entry["unit_price"]),
            unit_cost=Decimal(entry["unit_cost"]),
            tax_rate=Decimal(entry["tax_rate"]),
        )
        create_price_item(
            by=world.owner,
            ref=entry["ref"],
            code=entry["code"],
            name=entry["name"],
            unit=entry["unit"],
            kind=_kind(entry),
            price=price,
            valid_from=world.day(SINCE),
        )
    numbers_go_on("price_item", entries)


def _kind(entry: Seed) -> str:
    """Labour and fees by their unit or code; what is taxed per measure is material."""
    if entry["code"].startswith(("LAB", "MO-")):
        return PriceItem.Kind.LABOR
    if entry["code"] in ("PERMIT", "DUMP"):
        return PriceItem.Kind.FEE
    return PriceItem.Kind.SERVICE if entry["unit"] in ("ea", "un", "dia") else PriceItem.Kind.MATERIAL
