"""What a person reads when something broke: 503 while the database is away or too busy, else 500."""

import logging
import sys

from django.db import InterfaceError, OperationalError
from django.db import InternalError as RefusedByState
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults
from psycopg import errors as pg

log = logging.getLogger(__name__)

RETRY_SECONDS = 5


def server_error(request: HttpRequest) -> HttpResponse:
    """The project's `handler500`: every layer's unexpected error ends here, the sessions' and the middleware's too.

    A lost, refused or exhausted connection and a database that takes no writes are 503: the transaction is undone or,
    where the answer to its commit was lost, found as it stands by the next try (fault row 7). Nothing here reads the
    database.
    """
    error = sys.exc_info()[1]
    if not away(error):
        return defaults.server_error(request)
    log.error("The database is away: %s %s was answered with 503: %s", request.method, request.path, error)
    return unavailable(request)


def unavailable(request: HttpRequest) -> HttpResponse:
    """503: try again in a moment. Nothing here reads the database."""
    headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
    if request.headers.get("HX-Request") != "true":
        return HttpResponse(render_to_string("503.html"), status=503, headers=headers)
    if request.method == "GET":  # a poll: what is on the page stays
        return HttpResponse(status=503, headers=headers | {"HX-Reswap": "none"})
    sentence = render_to_string("parts/away.html")
    return HttpResponse(sentence, status=503, headers=headers | {"HX-Reswap": "beforebegin"})


def away(error: BaseException | None) -> bool:
    """Whether the database could not be asked; a full pool and a broken deadlock count, a fault in a query does not."""
    if isinstance(error, RefusedByState):
        return isinstance(error.__cause__, pg.ReadOnlySqlTransaction)
    return isinstance(error, OperationalError | InterfaceError)
