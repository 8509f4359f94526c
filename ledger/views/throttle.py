"""How often an address may knock at a public page: counted in rows, so that all web processes count as one."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

WINDOW_SECONDS = 60
COUNT = """
    INSERT INTO ledger_knock AS k (key, since, count) VALUES (%(key)s, statement_timestamp(), 1)
    ON CONFLICT (key) DO UPDATE
            SET (since, count) = (
                SELECT CASE WHEN over THEN statement_timestamp() ELSE k.since END,
                       CASE WHEN over THEN 1 ELSE k.count + 1 END
                  FROM (SELECT k.since < statement_timestamp() - make_interval(secs => %(window)s) AS over) AS window_)
      RETURNING count
"""


def limited(*, reads: int, writes: int) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """At most so many GETs and so many POSTs a minute from one network address to one page; more get 429."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            reading = request.method in ("GET", "HEAD")
            knocks = _count(f"{view.__name__}:{reading}:{request.META.get('REMOTE_ADDR', '')}:{args}:{kwargs}")
            if knocks > (reads if reading else writes):
                response = render(request, "public/too_many.html", status=429)
                response["Retry-After"] = str(WINDOW_SECONDS)
                return response
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def _count(what: str) -> int:
    """The knocks of this window with this one, in one statement. Where nothing can be written, nobody is kept out."""
    values: dict[str, str | int] = {"key": hashlib.sha256(what.encode()).hexdigest(), "window": WINDOW_SECONDS}
    try:
        with connection.cursor() as cursor:
            cursor.execute(COUNT, values)
            return int(cursor.fetchone()[0])
    except Error:
        return 0
