"""Messages of the seed that came in. The vendors' stand without a party: the record has no vendors yet."""

from django.utils import timezone

from ledger.actions.receiving import receive_message
from ledger.demo.world import Seed, World, missing
from ledger.models import Channel, ClientMessage


def load(world: World, seed: Seed) -> None:
    for entry in missing(ClientMessage, seed.get("threads", [])):
        party = None if entry["party"].startswith("V-") else world.party(entry["party"])
        for number, said in enumerate(entry["messages"], start=1):
            receive_message(
                party,
                by=None,
                channel=Channel(entry["channel"]),
                sender=said["from"],
                body=said["body"],
                received_at=min(world.moment(said["at"]), timezone.now()),
                ref=entry["ref"] if number == 1 else f"{entry['ref']}-{number}",
            )
