"""`manage.py check_invariants`: read every company's rows and say what is wrong; exit 1 if anything is."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assistant.insight.invariants import violations
from ledger import tenancy
from ledger.models import Access


class Command(BaseCommand):
    help = "Check the gate's invariants and the audit chain of every company."

    def handle(self, *args: Any, **options: Any) -> None:
        wrong = 0
        companies = Access.objects.order_by("tenant_id").values_list("tenant_id", flat=True).distinct()
        for tenant_id in companies:
            with tenancy.tenant(tenant_id):
                for violation in violations():
                    self.stdout.write(f"{tenant_id} {violation}")
                    wrong += 1
        if wrong:
            raise CommandError(f"{wrong} violations")
        self.stdout.write(f"{len(companies)} companies, no violations")
