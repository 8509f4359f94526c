"""manage.py load_demo: the demonstration companies, and how to sign in to them."""

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ledger import audit
from ledger.demo.loading import load
from ledger.models import Via

LIVE = ("EMAIL_URL",)
PASSWORD = "a-roof-over-your-head"  # noqa: S105  # the demonstration's, printed below


class Command(BaseCommand):
    help = "Load the demonstration companies. Running it again changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        live = [name for name in LIVE if getattr(settings, name)]
        if live:
            raise CommandError(f"{', '.join(live)} is set: the demonstration must not reach real people.")
        password = os.environ.get("AVAL_DEMO_PASSWORD") or PASSWORD
        with audit.entering(Via.IMPORT):
            logins = load(password)
        if options["verbosity"]:
            for login in logins:
                self.stdout.write(f"{login.email:34} {login.role:11} {login.name:20} {login.company}")
            self.stdout.write(f"Password of the demonstration: {password}")
