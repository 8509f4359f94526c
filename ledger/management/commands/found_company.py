"""`manage.py found_company`: a company with its first owner, who signs in with the password that is asked for.

The password is asked at the terminal, or read from the first line of standard input. A person who has one keeps it.
"""

import getpass
import sys
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger import audit
from ledger.actions.company import create_company
from ledger.actions.members import user_for
from ledger.errors import DomainError
from ledger.locales import LOCALES, language_of
from ledger.models import Company, User, Via


class Command(BaseCommand):
    help = "Make a company and its first owner."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="its short name: letters, digits and hyphens")
        parser.add_argument("name", help="its name, as documents show it")
        parser.add_argument("--country", choices=Company.Country.values, required=True)
        parser.add_argument("--timezone", required=True, help="such as America/Chicago")
        parser.add_argument("--locale", choices=LOCALES, help="of its documents; by default its country's")
        parser.add_argument("--owner-email", required=True)
        parser.add_argument("--owner-name", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        locale = options["locale"] or ("pt-BR" if options["country"] == Company.Country.BR else "en-US")
        try:
            with audit.entering(Via.SYSTEM, "found_company"):
                owner = user_for(options["owner_email"], language=language_of(locale))
                password = "" if owner.has_usable_password() else _password(owner)
                founded = create_company(
                    slug=options["slug"],
                    name=options["name"],
                    country=options["country"],
                    timezone=options["timezone"],
                    locale=locale,
                    owner=owner,
                    owner_name=options["owner_name"],
                )
        except DomainError as error:
            raise CommandError(error.sentence) from None
        if password:
            owner.set_password(password)
            owner.save(update_fields=["password"])
        self.stdout.write(f"{founded.company.name} ({founded.company.pk}) is there; {owner.email} signs in to it.")


def _password(owner: User) -> str:
    """A password that the rules accept. Raises CommandError."""
    if sys.stdin.isatty():
        password = getpass.getpass(f"Password for {owner.email}: ")
        if getpass.getpass("Once more: ") != password:
            raise CommandError("The two passwords differ.")
    else:
        password = sys.stdin.readline().rstrip("\n")
    try:
        validate_password(password, owner)
    except ValidationError as weak:
        raise CommandError(" ".join(weak.messages)) from None
    return password
