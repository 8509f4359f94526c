"""`manage.py export_audit SLUG FILE`: a company's record as a zip that verifies itself (docs/operating.md)."""

import uuid
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger import audit, tenancy
from ledger.models import Access, Company, Via
from ledger.record import export, signing


class Command(BaseCommand):
    help = "Write a company's whole record, its chain and a signed manifest into a zip file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the short name of the company")
        parser.add_argument("file", type=Path, help="where to write it; must not exist")

    def handle(self, *args: Any, **options: Any) -> None:
        begun = _begin(options["slug"])
        if begun is None:
            raise CommandError(f"There is no company called {options['slug']}.")
        size = 0
        try:
            with options["file"].open("xb") as file:
                for piece in export.pieces(begun):
                    size += file.write(piece)
        except FileExistsError:
            raise CommandError(f"{options['file']} exists already.") from None
        self.stdout.write(f"{options['file']} {size} bytes, key {signing.fingerprint()}")


def _begin(slug: str) -> export.Begun | None:
    ids: list[uuid.UUID] = list(Access.objects.order_by("tenant_id").values_list("tenant_id", flat=True).distinct())
    for tenant_id in ids:
        with tenancy.tenant(tenant_id), audit.entering(Via.SYSTEM, "export_audit"):
            company = Company.objects.filter(pk=tenant_id, slug=slug).first()
            if company is not None:
                return export.begin(company, by=None)
    return None
