"""Jobs that every company has again and again, without anybody asking for them: one standing promise of each kind.

The promise is a row like every other (ledger/jobs.py), so that what fell due while the worker was down is made up for
when it is back. A job of these kinds promises its own next time, by the clock of its company.
"""

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import connection

from ledger import jobs
from ledger.jobs import Job

KINDS: list[str] = []
PROMISE_ALL = """
    INSERT INTO ledger_due (id, kind, object_id, tenant_id, run_at, tries)
    SELECT gen_random_uuid(), kinds.kind, tenant_id, tenant_id,
           statement_timestamp() + (1 + random()) * interval '1 hour', 0
      FROM (SELECT DISTINCT tenant_id FROM ledger_access) AS companies
     CROSS JOIN unnest(%s::text[]) AS kinds (kind)
     WHERE NOT EXISTS (SELECT FROM ledger_due due WHERE due.kind = kinds.kind AND due.object_id = companies.tenant_id)
        ON CONFLICT (kind, object_id) DO NOTHING
"""


def job(kind: str) -> Callable[[Job], Job]:
    """Declare a job that each company has: a function of (tenant id, company id), as ledger.jobs has them."""
    KINDS.append(kind)
    return jobs.job(kind)


def promise_all() -> None:
    """See to it that every company has its promise of each kind: the first time within two hours, not all at once."""
    with connection.cursor() as cursor:
        cursor.execute(PROMISE_ALL, [KINDS])


def next_time(company_id: uuid.UUID, zone: str, now: datetime, *, hour: int, weekday: int | None = None) -> datetime:
    """The next time, after `now`, at which a company's clocks show that hour, on that weekday (0: Monday) if one is
    given. The minute follows from the company's id, so that not all of them come at once.
    """
    local = now.astimezone(ZoneInfo(zone))
    found = local.replace(hour=hour, minute=company_id.int % 60, second=0, microsecond=0)
    while found <= now or (weekday is not None and found.weekday() != weekday):
        found += timedelta(days=1)
    return found
