"""`manage.py verify_audit`: read the audit chain of every company, or of one; exit 1 where one is broken.

One line for each company: its short name, its id, and how long the chain is and where it stands, or the number of the
first bad link. The finding goes on record, and a broken chain raises an alert. Kept outside the installation, these
lines tell later whether a chain was cut short or made anew.
"""

import uuid
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger import audit, nightly, tenancy
from ledger.models import Access, ChainHead, Company, Via


class Command(BaseCommand):
    help = "Verify the audit chain of every company, from its first link to its head."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--company", metavar="SLUG", help="only the company of this short name")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = options["company"]
        seen, broken = 0, []
        for company in _companies():
            if wanted not in (None, company.slug):
                continue
            seen += 1
            state = audit.verify()
            with audit.entering(Via.SYSTEM, "verify_audit"):
                nightly.conclude(state)
            self.stdout.write(f"{company.slug} {company.pk} {_line(state)}")
            if not state.whole:
                broken.append(company.slug)
        if wanted is not None and not seen:
            raise CommandError(f"There is no company called {wanted}.")
        if broken:
            raise CommandError(f"Broken: {', '.join(broken)}.", returncode=1)


def _companies() -> Iterator[Company]:
    """Each company inside its own scope. Every company has an owner, and so a way in."""
    ids: list[uuid.UUID] = list(Access.objects.order_by("tenant_id").values_list("tenant_id", flat=True).distinct())
    for tenant_id in tenancy.each_tenant(ids):
        yield Company.objects.get(pk=tenant_id)


def _line(state: audit.ChainState) -> str:
    if not state.whole:
        return f"BROKEN at link {state.bad_seq} ({state.problem})"
    head = ChainHead.objects.first()
    return f"whole, {state.length} links, head {head.hash if head else audit.GENESIS}"
