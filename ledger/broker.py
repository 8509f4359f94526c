"""The queue's broker: django-q2's own table, by the database's clock, with a bell.

The package compares rows with this machine's clock: a web server an hour ahead would queue work that no worker sees
for an hour, and a worker an hour behind would see nothing at all (fault rows 21 and 25). And it looks at the table
again and again; here a task rings when it is committed, and the look is for what no ring was heard of.
"""

import logging
from time import sleep
from typing import Any

import psycopg
from django.conf import settings
from django.db import Error, connections
from django_q.brokers.orm import ORM
from django_q.conf import Conf

log = logging.getLogger(__name__)

BELL = "aval_queue"
PUT = """
    WITH put AS (
        INSERT INTO django_q_ormq (key, payload, lock) VALUES (%s, %s, statement_timestamp()) RETURNING id)
  SELECT id, pg_notify(%s, '') FROM put
"""
TAKE = """
    UPDATE django_q_ormq SET lock = statement_timestamp() + %s * interval '1 second'
     WHERE id IN (SELECT id FROM django_q_ormq WHERE key = %s AND lock < statement_timestamp()
               ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED)
 RETURNING id, payload
"""
AWAY_SECONDS = 0.5
"""How long to wait before asking a database again that did not answer; the package's own way waits ten."""


class DatabaseClockBroker(ORM):
    """Takes a task in one statement; two workers never get the same row while its time has not come again."""

    _bell: psycopg.Connection | None = None

    def enqueue(self, task: str) -> Any:
        """Add a task, in the transaction that is open; its id."""
        with connections[Conf.ORM].cursor() as cursor:
            cursor.execute(PUT, [self.list_key or Conf.CLUSTER_NAME, task, BELL])
            return cursor.fetchone()[0]

    def dequeue(self) -> list[tuple[Any, str]] | None:
        """The next tasks as (id, payload), oldest first; None where no bell rang and nothing was there."""
        connection = connections[Conf.ORM]
        try:
            self._listen()
            connection.close_if_unusable_or_obsolete()
            with connection.cursor() as cursor:
                cursor.execute(TAKE, [Conf.RETRY, self.list_key, Conf.BULK])
                tasks = sorted(cursor.fetchall())
            if not tasks:
                self._wait()
        except (Error, psycopg.Error, OSError) as error:
            log.warning("The queue cannot be read for now: %s", error)
            connection.close()
            self._hang_up()
            sleep(AWAY_SECONDS)
            return None
        return tasks or None

    def _listen(self) -> None:
        """Heard from before the first look on: nothing is committed unheard between a look and the wait after it."""
        if self._bell is None:
            self._bell = psycopg.connect(settings.DATABASE_DIRECT_URL, autocommit=True, connect_timeout=10)
            self._bell.execute(f"LISTEN {BELL}")

    def _wait(self) -> None:
        """Until the bell rings, for one look's time at most."""
        if self._bell is not None:
            for _ring in self._bell.notifies(timeout=Conf.POLL, stop_after=1):
                pass

    def _hang_up(self) -> None:
        bell, self._bell = self._bell, None
        if bell is not None:
            bell.close()
