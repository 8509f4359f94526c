"""Work that happens later: a row that promises it, a queue that wakes it, a sweep that forgets nothing.

The queue delivers at least once (django-q2's ORM broker, measured), so every job must find by itself that there is
nothing left to do. The promise (`Due`) is written in the transaction that makes it; the queue's message too.
"""

import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django_q.tasks import async_task

from ledger.models.due import Due
from ledger.tenancy import current_tenant

log = logging.getLogger(__name__)

Job = Callable[[uuid.UUID, uuid.UUID], None]
JOBS: dict[str, Job] = {}
TASK = "ledger.tasks.run_due"
PROMISE = """
    INSERT INTO ledger_due AS due (id, kind, object_id, tenant_id, run_at, lease, tries)
         VALUES (%s, %s, %s, %s, coalesce(%s::timestamptz, statement_timestamp()) + %s::interval,
                 CASE WHEN %s::boolean THEN statement_timestamp() + %s::interval END, 0)
    ON CONFLICT (kind, object_id) DO UPDATE
            SET run_at = EXCLUDED.run_at, lease = EXCLUDED.lease,
                tries = CASE WHEN %s::boolean THEN due.tries ELSE 0 END
"""
FORGET = "DELETE FROM ledger_due WHERE kind = %s AND object_id = %s"
TRY = """
    UPDATE ledger_due SET tries = tries + 1 WHERE kind = %s AND object_id = %s AND tenant_id = %s RETURNING id, run_at
"""


def job(kind: str) -> Callable[[Job], Job]:
    """Declare what runs for `kind`: a function of (tenant id, object id) that enters its own scopes."""

    def add(function: Job) -> Job:
        if kind in JOBS:
            raise RuntimeError(f"two jobs are called {kind}")
        JOBS[kind] = function
        return function

    return add


def lease() -> timedelta:
    """How long a woken job may take before the sweep wakes it again."""
    return timedelta(seconds=2 * settings.AVAL_LEASE_SECONDS)


def later(
    kind: str, object_id: uuid.UUID, *, at: datetime | None = None, after: timedelta | None = None, again: bool = False
) -> None:
    """Promise a job for one row of the company in scope: now, not before `at` (UTC), or `after` so long from now.

    "Now" is the database's: this machine's clock may be wrong. A promise made `again` keeps the count of its tries.
    """
    tenant_id, woken = current_tenant(), at is None and after is None
    with connection.cursor() as cursor:
        given: list[Any] = [uuid.uuid4(), kind, object_id, tenant_id, at, after or timedelta(), woken, lease(), again]
        cursor.execute(PROMISE, given)
    if woken:
        _wake(kind, object_id, tenant_id)


def forget(kind: str, object_id: uuid.UUID) -> None:
    """Take a promise back: there is nothing left to do."""
    with connection.cursor() as cursor:
        cursor.execute(FORGET, [kind, object_id])


def _wake(kind: str, object_id: uuid.UUID, tenant_id: uuid.UUID) -> None:
    async_task(TASK, kind, str(object_id), str(tenant_id), save=False)


def run(kind: str, object_id: uuid.UUID, tenant_id: uuid.UUID) -> None:
    """Keep one promise. Whatever the job raises leaves the promise standing for the sweep.

    A try counts when it begins, committed before the work: a job that kills its process is known by its tries.
    """
    with connection.cursor() as cursor:
        cursor.execute(TRY, [kind, object_id, tenant_id])
        promise = cursor.fetchone()
    JOBS[kind](tenant_id, object_id)
    if promise is not None:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM ledger_due WHERE id = %s AND run_at = %s", promise)


def dispatch_due(limit: int = 200) -> int:
    """Wake the jobs whose time has come; each at most once for a lease. Returns how many."""
    with transaction.atomic():
        ripe = Due.objects.select_for_update(skip_locked=True).filter(
            Q(lease=None) | Q(lease__lt=Now()), run_at__lte=Now(), kind__in=list(JOBS)
        )
        promises = list(ripe.order_by("run_at")[:limit])
        Due.objects.filter(id__in=[p.id for p in promises]).update(lease=Now() + lease())
        for promise in promises:
            _wake(promise.kind, promise.object_id, promise.tenant_id)
    return len(promises)


def after_commit(function: Callable[..., None], *args: object) -> None:
    """Run when the transaction has been committed; an error there is logged and changes nothing."""
    transaction.on_commit(partial(function, *args), robust=True)
