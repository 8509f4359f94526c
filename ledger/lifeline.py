"""Whether the rows are still those of this database's own life, or were put back from a back-up (fault row 32).

A back-up knows nothing of what was sent after it. The row `Lifeline` goes into every back-up with the identity of the
database it was written in: the server's system identifier (another cluster), its timeline (a restore to a moment, or
a standby that took over), the database's own id (a dump that was loaded). Where that is not the identity of the
database at hand, life has begun anew at an earlier moment, and what waits from before must not simply run.
"""

import contextlib
import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from django.db import connection, connections
from django.utils import timezone

from ledger.models.lifelines import Lifeline

log = logging.getLogger(__name__)

IDENTITY = """
    (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
"""
BOTH = f"SELECT (SELECT identity FROM ledger_lifeline), {IDENTITY}"  # noqa: S608 (a constant)
ALONE = 7_240_032
"""The advisory lock of whoever deals with a restore."""

Closer = Callable[[datetime], None]
_closers: list[Closer] = []


def after_restore(closer: Closer) -> Closer:
    """Declare what has to be done with all that was made before a moment, where the rows come from a back-up."""
    _closers.append(closer)
    return closer


def moved() -> bool:
    """Whether the rows come from another life than this database's; the first to ask in a new database names it."""
    with connection.cursor() as cursor:
        cursor.execute(BOTH)
        written, own = cursor.fetchone()
    if written is None:
        Lifeline.objects.bulk_create([Lifeline(identity=own)], ignore_conflicts=True)
        return False
    return bool(written != own)


def mend(*, forced: bool = False) -> bool:
    """Where the rows come from another life, close what is from before, and only then call this life ours.

    `forced` does so in any case: for a copy that no identity gives away, such as a disk's snapshot. Whoever comes
    meanwhile waits for the first to be through. A crash on the way leaves it all to be done again, which changes
    nothing more. Called outside any scope; True if it had something to do.
    """
    with _alone():
        if not (moved() or forced):
            return False
        before = timezone.now()
        log.warning("The database comes from a back-up: what waits from before %s is closed", before)
        for closer in _closers:
            closer(before)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {IDENTITY}")
            (own,) = cursor.fetchone()
        Lifeline.objects.update_or_create(id=1, defaults={"identity": own, "since": before})
    return True


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock in a transaction of a connection of its own: each company's work needs transactions of its own."""
    own: Any = connections.create_connection("default")
    own.set_autocommit(False)
    try:
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ALONE])
        yield
    finally:
        own.rollback()
        own.close()
