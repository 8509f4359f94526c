"""How often an address may knock at a public page: counted in the cache, so each web process counts for itself."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

WINDOW_SECONDS = 60


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
    key = f"knocks:{hashlib.sha256(what.encode()).hexdigest()}"
    cache.add(key, 0, WINDOW_SECONDS)
    try:
        return int(cache.incr(key))
    except ValueError:  # it ran out in between
        return 1
