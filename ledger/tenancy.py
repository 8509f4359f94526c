"""The company scope: which company's rows exist for the code that runs now.

Three walls, each enough by itself: the manager refuses to answer outside a scope and filters inside it;
PostgreSQL's row-level security hides every other row from the application's role; foreign keys between
business rows hold the company as well, so that a reference across companies cannot be stored.
"""

import contextlib
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeVar

import uuid_utils.compat
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, models, transaction
from django.db.models.base import ModelBase
from django.db.models.constraints import BaseConstraint

from ledger.storing import StoredModel

_current: ContextVar[uuid.UUID | None] = ContextVar("tenant", default=None)

SETTING = "app.tenant"
READ_SETTING = f"NULLIF(current_setting('{SETTING}', true), '')::uuid"


class TenantRequired(RuntimeError):
    """A company's rows were asked for outside a company's scope."""


class TenantConflict(RuntimeError):
    """A second company was entered inside the first."""


def new_id() -> uuid.UUID:
    """A UUID version 7 (RFC 9562): unique everywhere, ordered by time of making."""
    return uuid_utils.compat.uuid7()


def current_tenant() -> uuid.UUID:
    """The company in scope; raises TenantRequired where there is none."""
    tenant_id = _current.get()
    if tenant_id is None:
        raise TenantRequired("no company in scope: use `with tenancy.tenant(id):`")
    return tenant_id


def has_tenant() -> bool:
    return _current.get() is not None


def tenant_in_scope() -> uuid.UUID | None:
    """The company in scope or None: what a new row starts with. Saving it outside a scope is refused."""
    return _current.get()


@contextlib.contextmanager
def tenant(tenant_id: uuid.UUID) -> Iterator[None]:
    """Run a block as one transaction inside one company.

    The setting is local to the transaction (a connection that goes back to the pool carries nothing over),
    the previous scope is restored on leaving, and a different company inside a scope is refused.
    """
    previous = _current.get()
    if previous is not None and previous != tenant_id:
        raise TenantConflict("another company is in scope")
    with transaction.atomic():
        if previous is None:
            if connection.in_atomic_block and len(connection.savepoint_ids) > 0:
                raise TenantConflict("a company's scope must open its own transaction")
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config(%s, %s, true)", [SETTING, str(tenant_id)])
        token = _current.set(tenant_id)
        try:
            yield
        finally:
            _current.reset(token)


@contextlib.contextmanager
def assumed(tenant_id: uuid.UUID) -> Iterator[None]:
    """Make querysets as if in a company's scope, without opening one: the database is not told, nothing can be read."""
    token = _current.set(tenant_id)
    try:
        yield
    finally:
        _current.reset(token)


Row = TypeVar("Row", bound=models.Model, covariant=True)


class TenantManager(models.Manager[Row]):
    """Answers inside a company's scope only, and only with that company's rows."""

    def get_queryset(self) -> models.QuerySet[Row]:
        own = _rows_of(self.model, current_tenant())._chain()  # type: ignore[attr-defined]
        own._add_hints(**self._hints)  # type: ignore[attr-defined]
        return own.using(self._db) if self._db else own


@lru_cache(maxsize=4096)
def _rows_of(model: type[models.Model], tenant_id: uuid.UUID) -> models.QuerySet[Any]:
    """A query that is never run itself: to copy it takes a fraction of making it."""
    return models.QuerySet(model).filter(tenant_id=tenant_id)


class TenantPolicy(BaseConstraint):
    """Row-level security on the table, forced for its owner too (PostgreSQL manual, 5.9)."""

    def __init__(self, *, name: str, column: str = "tenant_id") -> None:
        self.column = column
        super().__init__(name=name)

    def constraint_sql(self, model: Any, schema_editor: Any) -> str:
        """Nothing inside CREATE TABLE: it is added when every table of the migration stands."""
        schema_editor.deferred_sql.append(self.create_sql(model, schema_editor))
        return ""

    def create_sql(self, model: Any, schema_editor: Any) -> str:
        table, name = schema_editor.quote_name(model._meta.db_table), schema_editor.quote_name(self.name)
        rule = f"{schema_editor.quote_name(self.column)} = {READ_SETTING}"
        return (
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; ALTER TABLE {table} FORCE ROW LEVEL SECURITY; "
            f"CREATE POLICY {name} ON {table} USING ({rule}) WITH CHECK ({rule})"
        )

    def remove_sql(self, model: Any, schema_editor: Any) -> str:
        table, name = schema_editor.quote_name(model._meta.db_table), schema_editor.quote_name(self.name)
        return (
            f"DROP POLICY {name} ON {table}; ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY; "
            f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"
        )

    def validate(self, *args: Any, **kwargs: Any) -> None:
        """The database alone decides."""

    def deconstruct(self) -> Any:
        path, args, kwargs = super().deconstruct()
        return path, args, {**kwargs, "column": self.column}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TenantPolicy) and (self.name, self.column) == (other.name, other.column)

    __hash__ = BaseConstraint.__hash__


class CompositeKey(BaseConstraint):
    """A foreign key on (tenant, row): a row of another company cannot be named.

    It is made at the end of its migration, when the unique constraint that it refers to is there for certain.
    """

    def __init__(self, *, name: str, field: str, to: str) -> None:
        self.field, self.to = field, to
        super().__init__(name=name)

    def constraint_sql(self, model: Any, schema_editor: Any) -> str:
        self.create_sql(model, schema_editor)
        return ""

    def create_sql(self, model: Any, schema_editor: Any) -> Any:
        """Nothing at once; the statement waits with the deferred ones."""
        quote = schema_editor.quote_name
        schema_editor.deferred_sql.append(
            f"ALTER TABLE {quote(model._meta.db_table)} ADD CONSTRAINT {quote(self.name)} FOREIGN KEY "
            f"(tenant_id, {quote(self.field + '_id')}) REFERENCES {quote(self.to)} (tenant_id, id)"
        )

    def remove_sql(self, model: Any, schema_editor: Any) -> str:
        quote = schema_editor.quote_name
        return f"ALTER TABLE {quote(model._meta.db_table)} DROP CONSTRAINT {quote(self.name)}"

    def validate(self, *args: Any, **kwargs: Any) -> None:
        """The database alone decides."""

    def deconstruct(self) -> Any:
        path, args, kwargs = super().deconstruct()
        return path, args, {**kwargs, "field": self.field, "to": self.to}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompositeKey):
            return NotImplemented
        return (self.name, self.field, self.to) == (other.name, other.field, other.to)

    __hash__ = BaseConstraint.__hash__


class TenantForeignKey(models.ForeignKey):
    """A reference from one business row to another of the same company.

    The plain database constraint is left out: the composite one, added by the model's metaclass, says more.
    """

    def __init__(self, to: Any, on_delete: Any = models.PROTECT, **kwargs: Any) -> None:
        kwargs["db_constraint"] = False
        super().__init__(to, on_delete, **kwargs)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, path, args, kwargs = super().deconstruct()
        kwargs.pop("db_constraint", None)
        return name, path, args, kwargs


def _table_of(to: Any, app_label: str) -> str:
    if not isinstance(to, str):
        return to._meta.db_table
    app, _, model = to.rpartition(".")
    return f"{app or app_label}_{model}".lower()


class _TenantBase(ModelBase):
    """Adds to each table by itself: the policy, the composite keys, a ref unique in its company."""

    def __new__(mcs, name: str, bases: tuple[type, ...], attrs: dict[str, Any], **kwargs: Any) -> Any:
        meta: Any = attrs.get("Meta")
        if getattr(meta, "abstract", False) or "__module__" not in attrs or name == "TenantModel":
            return super().__new__(mcs, name, bases, attrs, **kwargs)
        app_label = getattr(meta, "app_label", None) or attrs["__module__"].split(".")[0]
        label = name.lower()
        fields: dict[str, models.Field[Any, Any]] = {}
        for base in reversed([b for parent in bases for b in parent.__mro__]):
            if hasattr(base, "_meta") and base._meta.abstract:
                fields |= {f.name: f for f in base._meta.local_fields}
        fields |= {key: value for key, value in attrs.items() if isinstance(value, models.Field)}
        added: list[BaseConstraint] = [
            TenantPolicy(name=f"{label}_tenant"),
            models.UniqueConstraint(fields=["tenant", "id"], name=f"{label}_tenant_id"),
        ]
        for key, field in fields.items():
            if isinstance(field, TenantForeignKey):
                target: Any = field.remote_field.model
                to = f"{app_label}_{label}" if target == "self" else _table_of(target, app_label)
                added.append(CompositeKey(name=f"{label}_{key}_same_tenant", field=key, to=to))
        if "ref" in fields:
            added.append(models.UniqueConstraint(fields=["tenant", "ref"], name=f"{label}_ref"))
        parent_meta = (meta,) if meta else ()
        own = list(getattr(meta, "constraints", []))
        named = {constraint.name for constraint in own}
        constraints = [*own, *(constraint for constraint in added if constraint.name not in named)]
        attrs["Meta"] = type("Meta", parent_meta, {"constraints": constraints})
        return super().__new__(mcs, name, bases, attrs, **kwargs)


class TenantModel(StoredModel, metaclass=_TenantBase):
    """A row that belongs to one company."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(
        "ledger.Company", models.PROTECT, related_name="+", default=tenant_in_scope, editable=False
    )

    objects = TenantManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.tenant_id != current_tenant():
            raise TenantConflict("this row belongs to another company")
        super().save(*args, **kwargs)


def each_tenant(ids: "models.QuerySet[Any] | list[uuid.UUID]") -> Iterator[uuid.UUID]:
    """Enter each company in turn, for data migrations and sweeps (an update outside touches no row)."""
    if has_tenant():
        raise ImproperlyConfigured("walk the companies outside any scope")
    for tenant_id in list(ids):
        with tenant(tenant_id):
            yield tenant_id
