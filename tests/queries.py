"""How many queries a block asked; scopes and savepoints are counted too, so compare rather than pin."""

import contextlib
from collections.abc import Iterator

from django.db import connection
from django.test.utils import CaptureQueriesContext


class Counted:
    """What a block asked of the database, readable after it."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def __len__(self) -> int:
        return len(self.statements)


@contextlib.contextmanager
def counted() -> Iterator[Counted]:
    """Count the queries of a block in this thread."""
    told = Counted()
    with CaptureQueriesContext(connection) as captured:
        yield told
    told.statements = [query["sql"] for query in captured.captured_queries]
