"""Leads of the seed, on the stage of the board where they stand, as old as they were."""

from ledger.actions.leads import create_lead, move_lead_stage
from ledger.actions.notes import add_note
from ledger.actions.sites import add_site
from ledger.demo.addresses import parts_of
from ledger.demo.world import Seed, World, major, missing, numbers_go_on
from ledger.models import Lead, Stage


def load(world: World, seed: Seed) -> None:
    entries = seed.get("leads", [])
    for entry in missing(Lead, entries):
        _load_one(world, entry)
    numbers_go_on("lead", entries)


def _load_one(world: World, entry: Seed) -> None:
    address = parts_of(entry["address"], world.company.country) if entry.get("address") else {}
    lead = create_lead(
        by=world.owner,
        ref=entry["ref"],
        name=entry["name"],
        phone=entry.get("phone", ""),
        email=entry.get("email", ""),
        address=address,
        source=entry.get("source", ""),
        value_cents=major(entry.get("value", "")),
        owner=world.member(entry.get("owner")),
        on_duplicate="create",
    )
    if "site" in entry:
        add_site(lead, by=world.owner, address=address, ref=entry["site"])
    if "note" in entry:
        add_note(lead, by=world.owner, body=entry["note"])
    if entry["stage"] != Stage.NEW:
        move_lead_stage(lead, by=world.owner, stage=entry["stage"], lost_reason=entry.get("lost_reason", ""))
    Lead.objects.filter(pk=lead.pk).update(created_at=world.moment(entry["created"]))
