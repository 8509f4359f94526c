"""Loaded by INSTALLED_APPS of a benchmark's processes."""

import os
from collections.abc import Callable
from typing import Any

from django.apps import AppConfig
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created


class CountingConfig(AppConfig):
    name = "bin.workshop.counting"

    def ready(self) -> None:
        file = os.open(os.environ["AVAL_COUNT_FILE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

        def count(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
            if "django_q_ormq" not in sql and "ledger_due" not in sql:
                os.write(file, b".")
            return execute(sql, params, many, context)

        def begin(connection: BaseDatabaseWrapper, **more: Any) -> None:
            if count not in connection.execute_wrappers:
                connection.execute_wrappers.append(count)

        connection_created.connect(begin, weak=False)
