"""Database work of the event loop: synchronous functions on a bounded number of threads (settled question 26).

Each function is one transaction, or none; a deadlock that PostgreSQL broke is tried again: nothing of it happened.
"""

import asyncio
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import OperationalError, close_old_connections
from psycopg import errors as pg

P = ParamSpec("P")
R = TypeVar("R")

ATTEMPTS = 4
NOTHING_HAPPENED = (pg.DeadlockDetected, pg.SerializationFailure, pg.LockNotAvailable)


class Database:
    """`threads` is the most connections it uses at once."""

    def __init__(self, threads: int, name: str = "database") -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def __call__(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function in a thread. It goes on there if the caller is cancelled."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self.once(function, *args, **kwargs)
            except OperationalError as error:
                if attempt == ATTEMPTS or not isinstance(error.__cause__, NOTHING_HAPPENED):
                    raise
                await asyncio.sleep(random.uniform(0.01, 0.05) * attempt)  # noqa: S311 (nothing secret)
        raise AssertionError("unreachable")

    async def once(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        work = partial(_with_connection, partial(function, *args, **kwargs))
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self, *, wait: bool = False) -> None:
        """Take nothing new. A thread that is still busy is waited for on request only."""
        self._threads.shutdown(wait=wait, cancel_futures=True)


def _with_connection(work: Callable[[], R]) -> R:
    """Give the connection back to the pool afterwards; without a pool the thread keeps it while it works."""
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()
