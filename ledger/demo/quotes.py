"""Quotes of the seed, each as far as it got: drafts, sent, seen, asked to change, accepted, run out."""

from datetime import datetime, timedelta
from decimal import Decimal

from ledger.actions.quote_imports import History, import_quote_history
from ledger.actions.quote_lines import LineDraft
from ledger.actions.quotes import create_quote, revise_quote
from ledger.demo.world import Seed, World, missing, numbers_go_on
from ledger.models import PriceItem, Quote
from ledger.money import Portion

BEFORE_ACCEPTANCE = timedelta(days=5)
AFTER = ("sent", "viewed", "changes_requested", "accepted", "converted", "expired")


def load(world: World, seed: Seed) -> None:
    entries = seed.get("quotes", [])
    for entry in missing(Quote, entries):
        _load_one(world, entry)
    if entries:
        numbers_go_on("quote", entries, start=seed.get("next_quote", 1))


def _load_one(world: World, entry: Seed) -> None:
    items = {item.ref: item for item in PriceItem.objects.all()}
    party = world.party(entry["party"])
    quote = create_quote(
        party,
        by=world.owner,
        ref=entry["ref"],
        title=entry["title"],
        owner=world.member(entry.get("owner")),
        valid_days=entry.get("valid_days"),
        discount=_portion(entry.get("discount_pct")),
        deposit=_portion(entry.get("deposit_pct")),
        lines=[_line(line, items) for line in entry["lines"]],
    )
    sent_at = _sent_at(world, entry)
    if entry["status"] in AFTER and sent_at is not None:
        for _earlier in range(1, entry.get("revision", 1)):
            import_quote_history(quote, by=world.owner, history=History(sent_at - BEFORE_ACCEPTANCE))
            revise_quote(quote, by=world.owner)
            quote.refresh_from_db()
        import_quote_history(quote, by=world.owner, history=_history(world, entry, sent_at))
    created = world.moment(entry["created"]) if "created" in entry else sent_at and sent_at - timedelta(hours=20)
    if created:
        Quote.objects.filter(pk=quote.pk).update(created_at=created)


def _history(world: World, entry: Seed, sent_at: datetime) -> History:
    accepted = "accepted" in entry
    return History(
        sent_at=sent_at,
        views=entry.get("views", 0),
        request=entry.get("change_request", ""),
        accepted_at=world.moment(entry["accepted"], hour=16) if accepted else None,
        signer=_signer(world, entry) if accepted else "",
        converted=entry["status"] == "converted",
        expired=entry["status"] == "expired",
    )


def _signer(world: World, entry: Seed) -> str:
    """The contact of the client, or the client's own name."""
    party = world.party(entry["party"])
    contact = getattr(party, "main_contact", None)
    return contact.name if contact and contact.name else party.name


def _sent_at(world: World, entry: Seed) -> datetime | None:
    if "sent" in entry:
        return world.moment(entry["sent"], hour=10)
    return world.moment(entry["accepted"], hour=10) - BEFORE_ACCEPTANCE if "accepted" in entry else None


def _line(line: Seed, items: dict[str, PriceItem]) -> LineDraft:
    return LineDraft(
        quantity=Decimal(line["qty"]),
        item=items[line["price_item"]] if "price_item" in line else None,
        description=line["description"],
        unit=line["unit"],
        unit_price=Decimal(line["unit_price"]),
        tax_rate=Decimal(line["tax_rate"]),
    )


def _portion(percent: str | None) -> Portion | None:
    return None if percent is None else Portion(percent=Decimal(percent))
