"""Queries of the hot path, whose SQL is made once: Django's making of it takes several times as long as its running.

    FIND = Compiled(lambda: Turn.objects.filter(pk=an_id("turn")))
    turn = FIND.one(turn=turn_id)

What is cached is Django's own compiler for the queryset, so that models, managers and joins stay the only place where
tables and columns are named. The company in scope is filled in at each run, as the manager would.
"""

import copy
import uuid
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import BigIntegerField, CharField, Field, QuerySet, UUIDField, Value
from django.db.models.sql.compiler import SQLCompiler

from ledger import tenancy

Row = TypeVar("Row")
TENANT = uuid.UUID("7e4a47c0-0000-4000-8000-000000000000")
"""Stands for the company in scope while a query is made; no company has it."""


class Slot(Value):
    """A value that each run of a query gives, by its name."""

    def __init__(self, name: str, output_field: "Field[Any, Any]") -> None:
        super().__init__(name, output_field=output_field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]


class OneOf(Slot):
    """A list of values, for `column = any of them`."""

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "ANY(%s)", [self]


def an_id(name: str = "pk") -> Slot:
    return Slot(name, UUIDField())


def some_ids(name: str) -> OneOf:
    return OneOf(name, UUIDField())


def some_words(name: str) -> OneOf:
    return OneOf(name, CharField())


def a_number(name: str) -> Slot:
    return Slot(name, BigIntegerField())


class Compiled(Generic[Row]):
    """A queryset with slots. `build` is called once, at the first run, in a transaction if the query locks rows."""

    def __init__(self, build: Callable[[], "QuerySet[Any, Row]"]) -> None:
        self._build = build
        self._made: tuple[QuerySet[Any, Row], SQLCompiler, str, tuple[Any, ...], frozenset[str]] | None = None

    @property
    def slots(self) -> frozenset[str]:
        """The names of the values that a run gives."""
        return (self._made or self._make())[4]

    def all(self, **values: Any) -> list[Row]:
        """The rows, as the queryset would give them. Raises TypeError where a slot has no value, or a value no slot."""
        queryset, compiler, sql, params, slots = self._made or self._make()
        if slots != values.keys():
            raise TypeError(f"this query has the slots {sorted(slots)} and was given {sorted(values)}")
        filled = _Filled(queryset.query, compiler, sql, [_value(param, values) for param in params])
        origin: Any = queryset
        bare: Any = QuerySet(queryset.model, query=filled, using=DEFAULT_DB_ALIAS)  # type: ignore[arg-type]
        bare._fields = origin._fields
        return list(origin._iterable_class(bare))

    def first(self, **values: Any) -> Row | None:
        """The first row or None; a query that can have many says LIMIT by itself."""
        found = self.all(**values)
        return found[0] if found else None

    def one(self, **values: Any) -> Row:
        """The only row. Raises the model's DoesNotExist."""
        found = self.all(**values)
        if not found:
            made = self._made or self._make()
            raise made[0].model.DoesNotExist(f"no {made[0].model._meta.object_name} for {values}")
        return found[0]

    def _make(self) -> "tuple[QuerySet[Any, Row], SQLCompiler, str, tuple[Any, ...], frozenset[str]]":
        with tenancy.assumed(TENANT):
            queryset = self._build()
            compiler: SQLCompiler = queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
            sql, params = compiler.as_sql()
        given: tuple[Any, ...] = tuple(params)
        slots = frozenset(param.name for param in given if isinstance(param, Slot))
        self._made = (queryset, compiler, sql, given, slots)
        return self._made


class _Filled:
    """Takes the place of a queryset's Query: its compiler has made its SQL already."""

    def __init__(self, query: Any, compiler: SQLCompiler, sql: str, params: list[Any]) -> None:
        self._query, self._compiler, self._sql, self._params = query, compiler, sql, params

    def __getattr__(self, name: str) -> Any:
        return getattr(self._query, name)

    def get_compiler(self, using: str, *args: Any, **kwargs: Any) -> SQLCompiler:
        compiler: Any = copy.copy(self._compiler)
        compiler.connection = connections[using]
        compiler.as_sql = lambda *args, **kwargs: (self._sql, self._params)
        return compiler


def _value(param: Any, values: dict[str, Any]) -> Any:
    if isinstance(param, Slot):
        return values[param.name]
    return tenancy.current_tenant() if param == TENANT else param
