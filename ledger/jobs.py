"""Work that happens later: a row that promises it, a queue that wakes it, a sweep that forgets nothing.

The queue delivers at least once (django-q2's ORM broker, measured), so every job must find by itself that there is
nothing left to do. The promise (`Due`) is written in the transaction that makes it; the queue's message too.
"""

import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Now
from django_q.tasks import async_task

from ledger.models.due import Due
from ledger.tenancy import current_tenant

log = logging.getLogger(__name__)

Job = Callable[[uuid.UUID, uuid.UUID], None]
JOBS: dict[str, Job] = {}
TASK = "ledger.tasks.run_due"


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


def later(kind: str, object_id: uuid.UUID, *, at: datetime | Combinable | None = None, again: bool = False) -> None:
    """Promise a job for one row of the company in scope: now, or not before `at` (UTC, or the database's own sum).

    "Now" is the database's: this machine's clock may be wrong. A promise made `again` keeps the count of its tries.
    """
    tenant_id, now = current_tenant(), Now()
    woken = None if at else now + lease()
    Due.objects.bulk_create(
        [Due(kind=kind, object_id=object_id, tenant_id=tenant_id, run_at=at or now, lease=woken)],
        update_conflicts=True,
        unique_fields=["kind", "object_id"],
        update_fields=["run_at", "lease"] if again else ["run_at", "lease", "tries"],
    )
    if at is None:
        _wake(kind, object_id, tenant_id)


def forget(kind: str, object_id: uuid.UUID) -> None:
    """Take a promise back: there is nothing left to do."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM ledger_due WHERE kind = %s AND object_id = %s", [kind, object_id])


def _wake(kind: str, object_id: uuid.UUID, tenant_id: uuid.UUID) -> None:
    async_task(TASK, kind, str(object_id), str(tenant_id), save=False)


def run(kind: str, object_id: uuid.UUID, tenant_id: uuid.UUID) -> None:
    """Keep one promise. Whatever the job raises leaves the promise standing for the sweep.

    A try counts when it begins, committed before the work: a job that kills its process is known by its tries.
    """
    promises = Due.objects.filter(kind=kind, object_id=object_id, tenant_id=tenant_id)
    promises.update(tries=F("tries") + 1)
    promise = promises.first()
    JOBS[kind](tenant_id, object_id)
    if promise is not None:
        Due.objects.filter(id=promise.id, run_at=promise.run_at).delete()


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
