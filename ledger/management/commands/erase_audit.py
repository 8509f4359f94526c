"""`manage.py erase_audit SLUG --before DATE --by E-MAIL --reason TEXT`: erase what the record said before a day.

For the end of the time for which the law asks to keep it. It is the deed of an owner of the company, named by e-mail;
it goes piece by piece, each piece with a deed of its own on record, and the chain stays whole.
"""

import uuid
from datetime import UTC, date, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger import audit, tenancy
from ledger.actions import erasing
from ledger.errors import DomainError
from ledger.models import Access, Company, Membership, Via


class Command(BaseCommand):
    help = "Erase what a company's record said before a day, by the deed of one of its owners."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the short name of the company")
        parser.add_argument("--before", type=date.fromisoformat, required=True, metavar="DATE", help="YYYY-MM-DD, UTC")
        parser.add_argument("--by", required=True, metavar="E-MAIL", help="the owner whose deed it is")
        parser.add_argument("--reason", required=True, help="stays on record")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant_id, owner = _owner(options["slug"], options["by"])
        day = options["before"]
        before, erased = datetime(day.year, day.month, day.day, tzinfo=UTC), 0
        while True:
            with tenancy.tenant(tenant_id), audit.entering(Via.SYSTEM, "erase_audit"):
                by = Membership.objects.get(pk=owner)
                try:
                    erased += erasing.erase_before(before, by=by, reason=options["reason"]).told["count"]
                except DomainError as error:
                    if error.code != "NOTHING_TO_ERASE":
                        raise CommandError(error.sentence) from None
                    break
        self.stdout.write(f"{erased} events from before {day} were erased")


def _owner(slug: str, email: str) -> tuple[uuid.UUID, uuid.UUID]:
    """The company and the membership; who may not erase is refused by the action itself."""
    ids: list[uuid.UUID] = list(Access.objects.filter(user__email__iexact=email).values_list("tenant_id", flat=True))
    for tenant_id in ids:
        with tenancy.tenant(tenant_id):
            found = Membership.objects.filter(user__email__iexact=email, active=True).first()
            if found is not None and Company.objects.filter(pk=tenant_id, slug=slug).exists():
                return tenant_id, found.pk
    raise CommandError(f"There is no {email} in a company called {slug}.")
