"""Clients of the seed, with their contact, their site and what is written about them."""

from ledger.actions.clients import create_client
from ledger.actions.notes import add_note
from ledger.actions.sites import add_site
from ledger.demo.addresses import parts_of
from ledger.demo.world import Seed, World, missing, numbers_go_on
from ledger.models import Client


def load(world: World, seed: Seed) -> None:
    entries = seed.get("clients", [])
    for entry in missing(Client, entries):
        _load_one(world, entry)
    numbers_go_on("client", entries)
    numbers_go_on("site", [{"ref": e["site"]} for e in [*entries, *seed.get("leads", [])] if "site" in e])


def _load_one(world: World, entry: Seed) -> None:
    address = parts_of(entry["address"], world.company.country) if entry.get("address") else {}
    client = create_client(
        by=world.owner,
        ref=entry["ref"],
        kind=entry.get("kind", "person"),
        name=entry["name"],
        contact_name=entry.get("contact", ""),
        email=entry.get("email", ""),
        phone=entry.get("phone", ""),
        tax_id=entry.get("tax_id", ""),
        address=address,
        on_duplicate="create",
    )
    if "site" in entry:
        add_site(client, by=world.owner, address=address, ref=entry["site"])
    if "note" in entry:
        add_note(client, by=world.owner, body=entry["note"])
