"""Rows that store themselves by statements made once for each model: Django's making of them takes longer than they do.

What Django does for a row of its own table and nothing more: fields are prepared as it prepares them, nothing is
asked before an insert, an update of no row is an error. A model whose fields the database fills in, or that anyone
listens to by signals, is left to Django.
"""

from collections.abc import Collection
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, models, transaction
from django.db.models.fields import NOT_PROVIDED
from django.db.models.signals import post_save, pre_save

ORDINARY = {"force_insert", "using", "update_fields"}


class StoredModel(models.Model):
    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """As Model.save; `create` and `save(update_fields=…)` by statements that are made once."""
        given: Any = kwargs.get("update_fields")
        ordinary = not args and kwargs.keys() <= ORDINARY and kwargs.get("using", DEFAULT_DB_ALIAS) == DEFAULT_DB_ALIAS
        if ordinary and self._state.adding and given is None and _plain(type(self)):
            self._insert_row()
        elif ordinary and not self._state.adding and given and not kwargs.get("force_insert") and _plain(type(self)):
            self._update_row(given)
        else:
            super().save(*args, **kwargs)

    def _insert_row(self) -> None:
        values = self.prepared(self._meta.concrete_fields, add=True)
        if values is None:
            super().save(force_insert=True)
            return
        with transaction.mark_for_rollback_on_error(DEFAULT_DB_ALIAS), connection.cursor() as cursor:
            cursor.execute(_insert(type(self)), values)
        self._state.adding, self._state.db = False, DEFAULT_DB_ALIAS

    def _update_row(self, names: Collection[str]) -> None:
        values = self.prepared(fields_of(type(self), tuple(names)), add=False)
        if values is None:
            super().save(update_fields=names)
            return
        with transaction.mark_for_rollback_on_error(DEFAULT_DB_ALIAS), connection.cursor() as cursor:
            cursor.execute(_update(type(self), tuple(names)), [*values, self.pk])
            if cursor.rowcount != 1:
                raise DatabaseError("Save with update_fields did not affect any rows.")

    def prepared(self, fields: Collection[Any], *, add: bool) -> list[Any] | None:
        """The values of these fields as the database takes them; None where one is an expression, Django's to write."""
        self._prepare_related_fields_for_save(operation_name="save", fields=fields)  # type: ignore[attr-defined]
        values = [field.pre_save(self, add=add) for field in fields]
        if any(hasattr(value, "resolve_expression") for value in values):
            return None
        return [field.get_db_prep_save(value, connection) for field, value in zip(fields, values, strict=True)]


def _plain(model: type[models.Model]) -> bool:
    return _own_table(model) and not pre_save.has_listeners(model) and not post_save.has_listeners(model)


@cache
def _own_table(model: type[models.Model]) -> bool:
    fields = model._meta.concrete_fields
    filled = any(field.generated or field.db_default is not NOT_PROVIDED for field in fields)
    return not model._meta.parents and not filled and not any(f.db_returning for f in fields)


@cache
def _insert(model: type[models.Model]) -> str:
    quote = connection.ops.quote_name
    columns = ", ".join(quote(field.column or "") for field in model._meta.concrete_fields)
    holes = ", ".join("%s" for _ in model._meta.concrete_fields)
    return f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({holes})"  # noqa: S608 (our own names)


@cache
def _update(model: type[models.Model], names: tuple[str, ...]) -> str:
    quote = connection.ops.quote_name
    changes = ", ".join(f"{quote(field.column or '')} = %s" for field in fields_of(model, names))
    key = quote(model._meta.pk.column or "")
    return f"UPDATE {quote(model._meta.db_table)} SET {changes} WHERE {key} = %s"  # noqa: S608 (our own names)


@cache
def fields_of(model: type[models.Model], names: tuple[str, ...]) -> tuple[Any, ...]:
    """The model's fields by their names."""
    return tuple(model._meta.get_field(name) for name in names)
