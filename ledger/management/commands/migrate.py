"""Django's migrate, with one rendering of the models' state for a run of additions (see ledger/migrating.py).

Where DATABASE_OWNER_URL is set it runs as that role, and gives the product's role what it needs (ledger/grants.py).
"""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.migration import Migration
from django.db.migrations.state import ProjectState

from ledger import grants
from ledger.migrating import together


class GroupingExecutor(MigrationExecutor):
    """Applies each migration with its additions grouped; which migrations there are and what they do stays the same."""

    def apply_migration(
        self, state: ProjectState, migration: Migration, fake: bool = False, fake_initial: bool = False
    ) -> ProjectState:
        migration.operations = together(list(migration.operations))  # type: ignore[misc]
        return super().apply_migration(state, migration, fake=fake, fake_initial=fake_initial)


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        migrate.MigrationExecutor = GroupingExecutor  # type: ignore[attr-defined]
        role: str = settings.DATABASE_RUNTIME_ROLE
        connection = connections[options["database"]]
        try:
            if role:
                grants.require_two_roles(connection, role)
            super().handle(*args, **options)
            if role and not (options["plan"] or options["check_unapplied"]):
                grants.apply(connection, role)
        except grants.WrongRoles as error:
            raise CommandError(str(error)) from None
