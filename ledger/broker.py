"""The queue's broker: django-q2's own table, by the database's clock.

The package compares rows with this machine's clock: a web server an hour ahead would queue work that no worker sees
for an hour, and a worker an hour behind would see nothing at all (fault rows 21 and 25).
"""

import logging
from time import sleep
from typing import Any

from django.db import Error, connections
from django.db.models.functions import Now
from django_q.brokers.orm import ORM
from django_q.conf import Conf

log = logging.getLogger(__name__)

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

    def enqueue(self, task: str) -> Any:
        """Add a task, in the transaction that is open; its id."""
        key = self.list_key or Conf.CLUSTER_NAME
        return self.get_connection().create(key=key, payload=task, lock=Now()).pk

    def dequeue(self) -> list[tuple[Any, str]] | None:
        """The next tasks as (id, payload), oldest first; None, after a short sleep, where there is none."""
        connection = connections[Conf.ORM]
        try:
            connection.close_if_unusable_or_obsolete()
            with connection.cursor() as cursor:
                cursor.execute(TAKE, [Conf.RETRY, self.list_key, Conf.BULK])
                tasks = sorted(cursor.fetchall())
        except Error as error:
            log.warning("The queue cannot be read for now: %s", error)
            connection.close()
            sleep(AWAY_SECONDS)
            return None
        if not tasks:
            sleep(Conf.POLL)
            return None
        return tasks
