"""`manage.py verify_passkeys`: check every signature that decisions keep of passkeys again; exit 1 where one fails.

One line for each company: its short name, its id, how many signatures hold; one more for each that does not. Only the
rows are read (assistant/gate/passkeys.py); `verify_audit` says whether the record that they are held against is whole.
"""

import uuid
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from assistant.gate import passkeys
from assistant.models import Decision
from ledger import tenancy
from ledger.models import Access, Company


class Command(BaseCommand):
    help = "Check again what passkeys signed, in every company."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--company", metavar="SLUG", help="only the company of this short name")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = options["company"]
        seen, failed = 0, 0
        for company in _companies():
            if wanted not in (None, company.slug):
                continue
            seen += 1
            failed += self._verify(company)
        if wanted is not None and not seen:
            raise CommandError(f"There is no company called {wanted}.")
        if failed:
            raise CommandError(f"{failed} signatures do not hold.", returncode=1)

    def _verify(self, company: Company) -> int:
        """The number of signatures in the company in scope that do not hold."""
        held, failed = 0, []
        signed = Decision.objects.exclude(assertion=None).select_related("action").order_by("at")
        for decision in signed.iterator(chunk_size=500):
            problem = passkeys.problem_of(decision)
            if problem:
                failed.append(f"{company.slug} action {decision.action_id} slot {decision.slot}: {problem}")
            else:
                held += 1
        self.stdout.write(f"{company.slug} {company.pk} {held} signatures hold, {len(failed)} do not")
        for line in failed:
            self.stdout.write(line)
        return len(failed)


def _companies() -> Iterator[Company]:
    """Each company inside its own scope. Every company has an owner, and so a way in."""
    ids: list[uuid.UUID] = list(Access.objects.order_by("tenant_id").values_list("tenant_id", flat=True).distinct())
    for tenant_id in tenancy.each_tenant(ids):
        yield Company.objects.get(pk=tenant_id)
