"""Faster migrations: one rendering of the models' state for many indexes, constraints and triggers.

Django renders a model and all that relate to it anew after each of them, which for the first migration of some fifty
related tables takes longer than everything the database does.
"""

from collections.abc import Iterator
from typing import Any

from django.db.migrations.operations import AddConstraint, AddIndex
from django.db.migrations.operations.base import Operation
from pgtrigger.migrations import AddTrigger

ADDITIONS = (AddConstraint, AddIndex, AddTrigger)


class Additions(Operation):
    """Consecutive additions of indexes, constraints and triggers, which see the same tables and columns."""

    def __init__(self, operations: list[Operation]) -> None:
        self.operations = operations

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return self.__class__.__name__, [self.operations], {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.__dict__.pop("apps", None)  # the rendered models; rendered again on the next use
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return "; ".join(operation.describe() for operation in self.operations)


def together(operations: list[Operation]) -> list[Operation]:
    """The same operations in the same order, runs of additions made one."""
    return list(_grouped(operations))


def _grouped(operations: list[Operation]) -> Iterator[Operation]:
    run: list[Operation] = []
    for operation in operations:
        if isinstance(operation, ADDITIONS):
            run.append(operation)
            continue
        if run:
            yield Additions(run)
            run = []
        yield operation
    if run:
        yield Additions(run)
