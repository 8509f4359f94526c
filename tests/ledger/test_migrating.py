"""Grouping leaves out nothing, adds nothing and keeps the order."""

from django.db import models
from django.db.migrations.operations import AddConstraint, AddField, AddIndex, CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from ledger.migrating import Additions, together


def index(name: str) -> AddIndex:
    return AddIndex("thing", models.Index(fields=["size"], name=name))


def constraint(name: str) -> AddConstraint:
    return AddConstraint("thing", models.UniqueConstraint(fields=["size"], name=name))


def creation() -> CreateModel:
    return CreateModel("Thing", [("id", models.IntegerField(primary_key=True)), ("size", models.IntegerField())])


def flat(operations: list[Operation]) -> list[Operation]:
    return [part for whole in operations for part in (whole.operations if isinstance(whole, Additions) else [whole])]


def test_runs_of_additions_become_one_and_the_order_stays() -> None:
    field = AddField("thing", "note", models.TextField(default=""))
    operations: list[Operation] = [creation(), index("a"), constraint("b"), field, index("c")]
    grouped = together(operations)
    assert [type(operation) for operation in grouped] == [CreateModel, Additions, AddField, Additions]
    assert flat(grouped) == operations


def test_the_state_afterwards_is_the_one_of_the_single_steps() -> None:
    operations: list[Operation] = [creation(), index("a"), constraint("b")]
    states = []
    for steps in (operations, together(operations)):
        state = ProjectState()
        for step in steps:
            assert state.apps is not None  # rendered, as it is while a migration runs
            step.state_forwards("ledger", state)
        states.append(state)
    single, grouped = states
    assert single == grouped
    names = [part.name for part in grouped.apps.get_model("ledger", "thing")._meta.indexes]
    assert names == ["a"]
