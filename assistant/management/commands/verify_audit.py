"""`manage.py verify_audit`: read the audit chain of every company, or of one; exit 1 where one is broken.

One line for each company: its short name, its id, and how long the chain is and where it stands, or the number of the
first bad link. The finding goes on record, and a broken chain raises an alert. Kept outside the installation, these
lines tell later whether a chain was cut short or made anew.
"""

import uuid
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from ledger import audit, nightly, tenancy
from ledger.models import Access, ChainHead, Company, Via


class Command(BaseCommand):
    help = "Verify the audit chain of every company, from its first link to its head."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--company", metavar="SLUG", help="only the company of this short name")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = options["company"]
        seen, broken = 0, []
        for tenant_id in _ids():
            with tenancy.tenant(tenant_id):
                company = Company.objects.get(pk=tenant_id)
                if wanted not in (None, company.slug):
                    continue
                seen += 1
                state = audit.verify()
                self.stdout.write(f"{company.slug} {company.pk} {_line(state)}")
            if not state.whole:
                broken.append(company.slug)
            self._record(company, state)
        if wanted is not None and not seen:
            raise CommandError(f"There is no company called {wanted}.")
        if broken:
            raise CommandError(f"Broken: {', '.join(broken)}.", returncode=1)

    def _record(self, company: Company, state: audit.ChainState) -> None:
        """Put the finding on record. A chain that takes no event any more hides no other company's."""
        try:
            with audit.entering(Via.SYSTEM, "verify_audit"), tenancy.tenant(company.pk):
                nightly.conclude(state)
        except DatabaseError as error:
            with tenancy.tenant(company.pk):
                nightly.alarm(state)
            self.stderr.write(f"{company.slug}: the finding cannot be put on record: {str(error).splitlines()[0]}")


def _ids() -> list[uuid.UUID]:
    """Every company: each has an owner, and so a way in."""
    return list(Access.objects.order_by("tenant_id").values_list("tenant_id", flat=True).distinct())


def _line(state: audit.ChainState) -> str:
    if not state.whole:
        return f"BROKEN at link {state.bad_seq} ({state.problem})"
    head = ChainHead.objects.first()
    return f"whole, {state.length} links, head {head.hash if head else audit.GENESIS}"
