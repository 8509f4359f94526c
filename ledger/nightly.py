"""Each company's chain is read from its first link to its head once a night, and what was found goes on record.

The promise is a row like every other (ledger/jobs.py): a worker that was down at that hour reads when it is back. A
long chain is read in pieces, each in a transaction of its own, so that no task runs into its time limit. A broken
chain is told to whoever asked to be told (`when_broken`) and is never mended.
"""

import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from ledger import audit, chain, jobs, regular, tenancy
from ledger.chain import ChainState, Place
from ledger.models import ChainCheck, Company, Via

log = logging.getLogger(__name__)

KIND = "verify_chain"
HOUR = 3
"""In the company's own time zone; its minute follows from the company's id."""
PIECE = 50_000
SECONDS = 20.0
"""After so long a task leaves the rest to the next one."""
PROMISE_ALL = """
    INSERT INTO ledger_due (id, kind, object_id, tenant_id, run_at, tries)
    SELECT gen_random_uuid(), %s, tenant_id, tenant_id,
           (date_trunc('day', statement_timestamp() AT TIME ZONE 'UTC') + %s) AT TIME ZONE 'UTC', 0
      FROM (SELECT DISTINCT tenant_id FROM ledger_access) AS companies
     WHERE NOT EXISTS (SELECT FROM ledger_due WHERE kind = %s AND object_id = companies.tenant_id)
        ON CONFLICT (kind, object_id) DO NOTHING
"""

Alarm = Callable[[ChainState], None]
_alarms: list[Alarm] = []


def when_broken(alarm: Alarm) -> Alarm:
    """Declare what else happens where a chain is found broken: in the company's scope, in the finding's transaction."""
    _alarms.append(alarm)
    return alarm


def promise_all() -> None:
    """See to it that every company's chain will be read: the first time in the coming night (UTC)."""
    values: list[Any] = [KIND, timedelta(days=1, hours=HOUR), KIND]
    with connection.cursor() as cursor:
        cursor.execute(PROMISE_ALL, values)


@jobs.job(KIND)
def verify_chain(tenant_id: uuid.UUID, company_id: uuid.UUID) -> None:
    """Read on from where the last piece ended; at the end conclude, and promise the next night."""
    began, finding = monotonic(), None
    with audit.entering(Via.SYSTEM, "nightly"):
        while finding is None and monotonic() - began < SECONDS:
            with tenancy.tenant(tenant_id):
                finding = _read_on()
        if finding is not None:
            _conclude(tenant_id, finding)
        with tenancy.tenant(tenant_id):
            if finding is None:
                jobs.later(KIND, company_id)
            else:
                jobs.later(KIND, company_id, at=next_night(Company.objects.get(pk=company_id), timezone.now()))


def _conclude(tenant_id: uuid.UUID, finding: ChainState) -> None:
    """Conclude; a chain that takes no event any more has its alarm all the same."""
    try:
        with tenancy.tenant(tenant_id):
            conclude(finding)
    except DatabaseError:
        log.exception("The finding about the chain of %s cannot be put on record", tenant_id)
        with tenancy.tenant(tenant_id):
            alarm(finding)


def _read_on() -> ChainState | None:
    """One piece; the finding once the reading has come to the head or to a bad link."""
    check = _check()
    top = chain.head()
    reached = chain.walk(Place(check.seq, check.hash), min(check.seq + PIECE, top.seq))
    if isinstance(reached, ChainState):
        return reached
    if reached.seq >= top.seq:
        return chain.end(reached, top)
    check.seq, check.hash = reached.seq, reached.hash
    check.save(update_fields=["seq", "hash"])
    return None


@transaction.atomic
def conclude(finding: ChainState, **by: Any) -> ChainCheck:
    """Put what a whole reading found on record and raise the alarm where the chain is broken; the next begins anew.

    `by` says who had it read, where that was a person or a command, as the audit event tells it.
    """
    check = _check()
    check.seq, check.hash = 0, chain.GENESIS
    check.length, check.bad_seq, check.problem = finding.length, finding.bad_seq, finding.problem
    check.checked_at = timezone.now()
    check.save(update_fields=["seq", "hash", "length", "bad_seq", "problem", "checked_at"])
    told: dict[str, Any] = {"length": finding.length, "bad_seq": finding.bad_seq, "problem": finding.problem}
    audit.record("audit.verified", by=None, **told, **by)
    alarm(finding)
    return check


def alarm(finding: ChainState) -> None:
    """Raise the alarm where the chain is broken; also where it takes no event any more and nothing goes on record."""
    if not finding.whole:
        for raise_it in _alarms:
            raise_it(finding)


def _check() -> ChainCheck:
    """The company's row, locked: one reading concludes after another."""
    ChainCheck.objects.bulk_create([ChainCheck()], ignore_conflicts=True)
    return ChainCheck.objects.select_for_update().get()


def next_night(company: Company, now: datetime) -> datetime:
    """The next time at which this company's chain is read, at least an hour from now."""
    return regular.next_time(company.pk, company.timezone, now + timedelta(hours=1), hour=HOUR)
