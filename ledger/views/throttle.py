"""How often an address may knock at a public page: counted in rows, so that all web processes count as one."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ledger.views.waits import key_of, knock

WINDOW_SECONDS = 60


def limited(*, reads: int, writes: int) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """At most so many GETs and so many POSTs a minute from one network address to one page; more get 429."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            reading = request.method in ("GET", "HEAD")
            what = f"{view.__name__}:{reading}:{request.META.get('REMOTE_ADDR', '')}:{args}:{kwargs}"
            knocks, _left = knock(key_of(what), WINDOW_SECONDS)
            if knocks > (reads if reading else writes):
                response = render(request, "public/too_many.html", status=429)
                response["Retry-After"] = str(WINDOW_SECONDS)
                return response
            return view(request, *args, **kwargs)

        return guarded

    return decorate
