"""`/metrics` for Prometheus: how the whole installation is doing, in counts without a name in them.

A scrape enters no company: it reads tables that have no policy, ids only, and never a company's rows. What waits and
runs is known all the same, since each has its promise (ledger/jobs.py). Figures of what was decided are a company's own
and stand on its page. Off unless AVAL_METRICS_TOKEN is set; anybody without the token gets the 404 of an address that
is not there.
"""

import resource
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from django_q.models import OrmQ

from ledger import jobs
from ledger.models import Access, User

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
STARTED: Final = time.time()
STATES: Final = {
    "card_open": "expire_action",
    "scheduled": "execute_action",
    "running": "watch_action",
    "in_doubt": "reconcile_action",
}
"""The promise that every action in such a state has, and none in another."""
DUE = """
    SELECT kind, count(*), count(*) FILTER (WHERE run_at <= statement_timestamp()),
           floor(greatest(0, extract(epoch FROM statement_timestamp() - min(run_at))))::bigint, max(tries)
      FROM ledger_due GROUP BY kind ORDER BY kind
"""


@dataclass(frozen=True)
class Figure:
    """One family: its samples by the label's value, "" where it has no label."""

    name: str
    what: str
    kind: str
    samples: tuple[tuple[str, int], ...]
    label: str = ""

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self.what}"
        yield f"# TYPE {self.name} {self.kind}"
        for value, number in self.samples:
            at = f'{{{self.label}="{value}"}}' if self.label else ""
            yield f"{self.name}{at} {number}"


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """With `Authorization: Bearer <AVAL_METRICS_TOKEN>`."""
    scheme, _space, token = request.headers.get("Authorization", "").partition(" ")
    wanted = settings.AVAL_METRICS_TOKEN
    if not wanted or scheme.lower() != "bearer" or not constant_time_compare(token.strip(), wanted):
        raise Http404
    text = "\n".join(line for figure in figures() for line in figure.lines())
    return HttpResponse(f"{text}\n", content_type=CONTENT_TYPE, headers={"Cache-Control": "no-store"})


metrics.outside_tenant = True  # type: ignore[attr-defined]


def figures() -> Iterable[Figure]:
    """Everything that a scrape tells, in four queries."""
    with connection.cursor() as cursor:
        cursor.execute(DUE)
        due = {kind: rest for kind, *rest in cursor.fetchall()}
    known = {kind: due.get(kind, [0, 0, 0, 0]) for kind in sorted(jobs.JOBS)}
    by_kind = [tuple((kind, int(row[column])) for kind, row in known.items()) for column in range(4)]
    states = tuple((state, int(known.get(kind, [0])[0])) for state, kind in STATES.items())
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (
        Figure("aval_promises", "Jobs that are promised.", "gauge", by_kind[0], "kind"),
        Figure("aval_promises_due", "Jobs whose time has come and that are not done.", "gauge", by_kind[1], "kind"),
        Figure("aval_promises_late_seconds", "How late the oldest job is.", "gauge", by_kind[2], "kind"),
        Figure("aval_promises_tries", "The most tries that a job has had.", "gauge", by_kind[3], "kind"),
        Figure("aval_actions", "Actions by where they stand.", "gauge", states, "state"),
        Figure("aval_turns_unfinished", "Turns queued or running.", "gauge", _one(known.get("turn", [0])[0])),
        Figure("aval_queue_tasks", "Messages in the worker's queue.", "gauge", _one(OrmQ.objects.count())),
        Figure("aval_companies", "Companies.", "gauge", _one(Access.objects.values("tenant").distinct().count())),
        Figure("aval_users", "People who may sign in.", "gauge", _one(User.objects.filter(is_active=True).count())),
        Figure("aval_web_started_seconds", "When this web process began.", "gauge", _one(int(STARTED))),
        Figure("aval_web_cpu_seconds_total", "This web process.", "counter", _one(int(used.ru_utime + used.ru_stime))),
        Figure("aval_web_most_memory_bytes", "This web process.", "gauge", _one(used.ru_maxrss * 1024)),
    )


def _one(number: int) -> tuple[tuple[str, int], ...]:
    return (("", int(number)),)
