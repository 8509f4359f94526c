"""How long a page takes in the server, how often it asks the database, and by which indexes."""

import json
import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger import tenancy
from ledger.models import Company, Membership
from tests.cast import Cast

TIMES, WARM_UP = 20, 8
"""Measured and before: a connection makes its plans anew for the first uses of a statement."""


@dataclass(frozen=True)
class Told:
    """What one page took in milliseconds, its statements and the slowest of them, the indexes of their plans."""

    name: str
    p50: float
    worst: float
    cpu: float
    statements: int
    slowest: float
    indexes: tuple[str, ...]
    whole: tuple[str, ...]

    def line(self) -> str:
        plans = ", ".join(self.indexes) or "-"
        wrong = f"  WHOLE TABLE: {', '.join(self.whole)}" if self.whole else ""
        return (
            f"  {self.name:<46} p50 {self.p50:6.1f}  worst {self.worst:6.1f}  own processor {self.cpu:5.1f}"
            f"  {self.statements:2} statements, slowest {self.slowest:5.1f}  {plans}{wrong}"
        )


def measure(name: str, page: Callable[[], Any], tenant_id: Any, tables: tuple[str, ...]) -> Told:
    """Call a page again and again; then explain each statement of it that reads one of the big tables."""
    for _ in range(WARM_UP):
        page()
    taken, spent = [], []
    for _ in range(TIMES):
        started, used = time.perf_counter(), time.process_time()
        page()
        taken.append(1000 * (time.perf_counter() - started))
        spent.append(1000 * (time.process_time() - used))
    with CaptureQueriesContext(connection) as captured:
        page()
    asked = [query["sql"] for query in captured.captured_queries]
    reads = [sql for sql in asked if sql.lstrip().startswith(("SELECT", "(SELECT")) and any(t in sql for t in tables)]
    plans = [explained(sql, tenant_id) for sql in reads]
    nodes = [node for plan in plans for node in walk(plan["Plan"])]
    indexes = {node["Index Name"] for node in nodes if "Index Name" in node}
    whole = {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"} & set(tables)
    return Told(
        name=name,
        p50=statistics.median(taken),
        worst=max(taken),
        cpu=statistics.median(spent),
        statements=len(asked),
        slowest=max((plan["Execution Time"] for plan in plans), default=0),
        indexes=tuple(sorted(short(name) for name in indexes)),
        whole=tuple(sorted(whole)),
    )


def explained(sql: str, tenant_id: Any) -> dict[str, Any]:
    """EXPLAIN ANALYZE as the product's role, inside the company."""
    with tenancy.tenant(tenant_id), connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + sql.replace("%", "%%"), [])
        (plan,) = cursor.fetchone()[0]
    found: dict[str, Any] = plan if isinstance(plan, dict) else json.loads(plan)
    return found


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from walk(child)


def short(name: str) -> str:
    return re.sub(r"^(assistant|ledger)_", "", name)


def kept(admin: str, find: str, *values: Any) -> Cast | None:
    """The company of an earlier run that kept its database: `find` gives its id."""
    with psycopg.connect(admin) as bare:
        row = bare.execute(find, values).fetchone()
    if row is None:
        return None
    with tenancy.tenant(row[0]):
        office = Cast(Company.objects.get(pk=row[0]))
        for member in Membership.objects.select_related("user").order_by("pk"):
            office.people[member.name.lower()] = member
    return office


def settle(admin: str) -> None:
    """What autovacuum does within the hour: without it, plans are made for empty tables."""
    with psycopg.connect(admin, autocommit=True) as bare:
        bare.execute("VACUUM (ANALYZE)")
