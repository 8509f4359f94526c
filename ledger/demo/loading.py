"""Load the demonstration, one company after the other; what is there stays as it is."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

from ledger import tenancy
from ledger.demo import clients, invoices, leads, messages, payments, pricebook, quotes
from ledger.demo.people import Login, ensure_company, ensure_operator
from ledger.demo.world import Seed, World

SEED = Path(__file__).parent / "seed.json"
LOADERS: tuple[Callable[[World, Seed], None], ...] = (
    clients.load,
    leads.load,
    pricebook.load,
    quotes.load,
    invoices.load,
    payments.load,
    messages.load,
)

# The company whose refs repeat those of the first one; the seed gives it no people.
NEIGHBOURS = [{"ref": "U-01", "name": "Mallory Reed", "role": "owner", "email": "mallory@otherco.example"}]


def load(password: str) -> list[Login]:
    """Load all companies and return who may sign in. Running it again changes nothing. Called outside any scope."""
    seed = json.loads(SEED.read_text())
    frozen = date.fromisoformat(seed["frozen_today"])
    logins: list[Login] = []
    for entry in seed["tenants"]:
        world, people = ensure_company({"members": NEIGHBOURS} | entry, frozen, password)
        with tenancy.tenant(world.company.pk):
            for load_kind in LOADERS:
                load_kind(world, entry)
        logins += people
    return [*logins, ensure_operator(password)]
