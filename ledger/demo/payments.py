"""Payments of the seed: by card and Pix through a provider, by check as a person recorded it."""

from typing import Any

from ledger.actions.payments import receive_payment, record_payment
from ledger.demo.world import Seed, World, missing, numbers_go_on
from ledger.models import Client, Invoice, Payment

PROVIDERS = {"card": Payment.Provider.CARDS, "ach": Payment.Provider.CARDS, "pix": Payment.Provider.PIX}


def load(world: World, seed: Seed) -> None:
    entries = seed.get("payments", [])
    for entry in missing(Payment, entries):
        _load_one(world, entry)
    if entries:
        numbers_go_on("payment", entries)


def _load_one(world: World, entry: Seed) -> None:
    client, invoice = Client.objects.get(ref=entry["client"]), Invoice.objects.get(ref=entry["invoice"])
    common: dict[str, Any] = {
        "by": world.owner,
        "ref": entry["ref"],
        "method": entry["method"],
        "amount_cents": entry["amount"],
        "received_on": world.day(entry["received"]),
        "allocations": [(invoice, entry["amount"])],
    }
    provider = PROVIDERS.get(entry["method"])
    if provider is None:
        record_payment(client, reference=entry.get("reference", ""), **common)
        return
    own_id = entry.get("provider_id") or entry.get("e2e") or f"demo-{entry['ref']}"
    receive_payment(client, provider=provider, provider_id=own_id, last4=entry.get("last4", ""), **common)
