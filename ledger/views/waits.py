"""Doors at which one may knock so many times and then waits: counted in rows, all web processes together.

A count begins with its first knock and is over when its window is. By the database's clock: web servers' may differ.
"""

import hashlib
from dataclasses import dataclass

from django.db import Error, connection

COUNT = """
    INSERT INTO ledger_knock AS k (key, since, count) VALUES (%(key)s, statement_timestamp(), 1)
    ON CONFLICT (key) DO UPDATE
            SET (since, count) = (
                SELECT CASE WHEN over OR k.count + 1 = %(restart_at)s THEN statement_timestamp() ELSE k.since END,
                       CASE WHEN over THEN 1 ELSE k.count + 1 END
                  FROM (SELECT k.since < statement_timestamp() - make_interval(secs => %(window)s) AS over) AS window_)
      RETURNING count, ceil(extract(epoch FROM since - statement_timestamp()) + %(window)s)
"""
TAKE_BACK = "UPDATE ledger_knock SET count = count - 1 WHERE key = %s AND count > 0"


@dataclass(frozen=True)
class Door:
    """`what` is counted by itself: more than `most` times within `seconds` is too often.

    The last knock that is let in begins the wait: it is `seconds` long at most, and those that are not let in do not
    make it longer.
    """

    what: str
    most: int
    seconds: int

    @property
    def key(self) -> str:
        return key_of(self.what)


def key_of(what: str) -> str:
    """What is counted, as the rows name it: nobody's address or account stands there."""
    return hashlib.sha256(what.encode()).hexdigest()


def wait_at(door: Door) -> int:
    """Knock: 0 where one may come in, else the seconds that are left to wait."""
    count, left = knock(door.key, door.seconds, restart_at=door.most)
    return max(1, left) if count > door.most else 0


def knock(key: str, seconds: int, *, restart_at: int = 0) -> tuple[int, int]:
    """Count a knock: how many its window of so many seconds has seen with it, and the seconds that are left of it.

    The knock of the number `restart_at` begins the window anew. Where nothing can be written, nobody is kept out.
    """
    values: dict[str, str | int] = {"key": key, "window": seconds, "restart_at": restart_at}
    try:
        with connection.cursor() as cursor:
            cursor.execute(COUNT, values)
            count, left = cursor.fetchone()
    except Error:
        return 0, 0
    return int(count), int(left)


def take_back(door: Door) -> None:
    """The knock was a good one, and does not count."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE_BACK, [door.key])
