"""What must hold before a process starts; Django runs these with every command, and the marked ones with --deploy."""

import sys
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

OLDEST_POSTGRESQL = 150000


@register("aval")
def check_worker_has_no_pool(**_kwargs: Any) -> list[CheckMessage]:
    """The worker forks, and a pool of connections does not survive a fork: one process would read another's answers."""
    is_worker = settings.AVAL_PROCESS == "worker" or "qcluster" in sys.argv[1:2]
    pooled = [name for name, options in settings.DATABASES.items() if options.get("OPTIONS", {}).get("pool")]
    if is_worker and pooled:
        hint = "Start it with AVAL_PROCESS=worker, or leave AVAL_PROCESS unset."
        return [Error(f"The worker would use a connection pool ({', '.join(pooled)}).", hint=hint, id="aval.E001")]
    return []


@register("aval")
def check_queue_waits_for_its_tasks(**_kwargs: Any) -> list[CheckMessage]:
    """A task that is delivered again while it still runs would run twice at once (case H51)."""
    timeout, retry = settings.Q_CLUSTER["timeout"], settings.Q_CLUSTER["retry"]
    if retry > timeout:
        return []
    message = f"The queue delivers a task again after {retry} s, but a task may take {timeout} s."
    return [Error(message, hint="Set AVAL_QUEUE_RETRY above AVAL_QUEUE_TIMEOUT.", id="aval.E002")]


@register("aval", deploy=True)
def check_translations_are_compiled(**_kwargs: Any) -> list[CheckMessage]:
    """Django reads .mo files, which are made from the .po files and not kept in the repository."""
    missing = [
        str(source.relative_to(folder))
        for folder in settings.LOCALE_PATHS
        for source in folder.glob("*/LC_MESSAGES/*.po")
        if not source.with_suffix(".mo").exists()
    ]
    return [Error(f"{name} is not compiled.", hint="Run bin/messages compile.", id="aval.E003") for name in missing]


@register("aval", deploy=True)
def check_static_files_are_collected(**_kwargs: Any) -> list[CheckMessage]:
    """In production pages name files by the manifest that collectstatic writes; without it each page would fail."""
    if settings.STATIC_ROOT is None or (settings.STATIC_ROOT / "staticfiles.json").exists():
        return []
    return [Error("Static files are not collected.", hint="Run manage.py collectstatic --no-input.", id="aval.E004")]


@register(Tags.database)
def check_database_guards(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Row-level security must bind our role, and the server must know what the schema uses. Runs with migrate."""
    found: list[CheckMessage] = []
    for name in databases or ():
        with connections[name].cursor() as cursor:
            cursor.execute(
                "SELECT rolname, rolsuper OR rolbypassrls, current_setting('server_version_num')::int "
                "FROM pg_roles WHERE rolname = current_user"
            )
            role, unbound, version = cursor.fetchone()
        if unbound:
            hint = (
                "CREATE ROLE aval LOGIN NOSUPERUSER NOBYPASSRLS, make it the database's owner, use it in DATABASE_URL."
            )
            found.append(Error(f"Row-level security does not bind the role {role}.", hint=hint, id="aval.E005"))
        if version < OLDEST_POSTGRESQL:
            found.append(Error("PostgreSQL 15 or newer is needed.", id="aval.E006"))
    return found
