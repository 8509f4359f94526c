"""Django's migrate, with one rendering of the models' state for a run of additions (see ledger/migrating.py)."""

from typing import Any

from django.core.management.commands import migrate
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.migration import Migration
from django.db.migrations.state import ProjectState

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
        super().handle(*args, **options)
