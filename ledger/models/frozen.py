"""Rows that stop changing at some point of their life, by the database's own hand."""

import pgtrigger
from django.db import models


class Frozen(pgtrigger.Condition):
    """True for an update that changes one of the columns while the old row is past `when` (SQL on OLD).

    Give the columns that may still change as `but`, or those that may not as `only`. With `but`, a new column
    is frozen by default.
    """

    def __init__(self, when: str, *, but: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> None:
        self.changed = pgtrigger.AnyChange(*only, exclude=list(but))
        super().__init__(when)

    def resolve(self, model: type[models.Model]) -> str:
        return f"(({self.sql}) AND ({self.changed.resolve(model)}))"
