"""Two or more at the same moment, each in a thread with a connection of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import TracebackType
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


class Racers:
    """So many threads, whose connections stay open from one race to the next."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool = ThreadPoolExecutor(number)

    def __enter__(self) -> "Racers":
        self.at_once(*[lambda: connection.ensure_connection()] * self.number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.at_once(*[lambda: connection.close()] * self.number)
        self._pool.shutdown()

    def at_once(self, *works: Callable[[], T]) -> list[T]:
        """What each of them returned; all begin together."""
        barrier = Barrier(self.number)

        def run(work: Callable[[], T]) -> T:
            barrier.wait(30)
            return work()

        return list(self._pool.map(run, works))
