"""`manage.py signing_key`: the public key with which exports of the record are signed; `--new` makes another one."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.record import signing


class Command(BaseCommand):
    help = "Print the public key that signs exports, and its fingerprint."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--new", action="store_true", help="print a new value for AVAL_SIGNING_KEY instead")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["new"]:
            self.stdout.write(signing.new_key())
            return
        self.stdout.write(f"fingerprint {signing.fingerprint()}")
        self.stdout.write(signing.public_pem().decode().strip())
