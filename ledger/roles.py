"""The role that runs the product: row-level security has to bind it, or one company's rows are another's to read.

`migrate` checks it by a system check. The processes that run for months check it when they start, and on their first
connection, if the database was away at that moment: never again after that.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

UNBOUND = "SELECT current_user FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"
_ID = "ledger.roles"


class UnboundRole(ImproperlyConfigured):
    """The role of a connection is a superuser or has BYPASSRLS."""


def watch() -> None:
    """Check the first connection that this process opens; every one, while the answer is no."""
    connection_created.connect(_check_first, dispatch_uid=_ID)


def require_bound() -> None:
    """For the start of web, agent and worker: ends the process with one line if row-level security does not bind it.

    A database that is away is no reason to end: `watch` asks when it is back. May be called from an event loop.
    """
    with ThreadPoolExecutor(max_workers=1) as apart:
        problem = apart.submit(_problem).result()
    if problem:
        sys.exit(f"Aval does not start: {problem}")


def _problem() -> str:
    """Asked over a plain connection of its own, so that no pool is opened and nothing is left for a fork."""
    own: Any = connections.create_connection("default")
    options = {name: value for name, value in own.settings_dict["OPTIONS"].items() if name != "pool"}
    own.settings_dict = {**own.settings_dict, "OPTIONS": options}
    try:
        _check(own)
    except UnboundRole as error:
        return str(error)
    except OperationalError:
        return ""
    finally:
        own.close()
    return ""


def _check_first(connection: BaseDatabaseWrapper, **_kwargs: Any) -> None:
    try:
        _check(connection)
    except UnboundRole:
        connection.close()
        raise
    connection_created.disconnect(dispatch_uid=_ID)


def _check(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        cursor.execute(UNBOUND)
        found = cursor.fetchone()
    if found is not None:
        raise UnboundRole(
            f"row-level security does not bind the database's role {found[0]}: give DATABASE_URL one that is neither "
            "a superuser nor has BYPASSRLS."
        )
