"""The bound on what a request may carry, on the ASGI application that daphne serves."""

import importlib
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.routing import ProtocolTypeRouter
from django.core.handlers.asgi import ASGIHandler

from ledger.http import TOO_LARGE

LIMIT = 1000


def the_application() -> Any:
    """Loaded on first use: it looks at the database's role before it serves, and no test runs while tests are found."""
    return importlib.import_module("ledger.asgi").application


async def answer_to(chunks: list[bytes], *, stated: str | None = None) -> tuple[int, bytes]:
    """Status and body of a POST that comes in these chunks."""
    headers = [(b"host", b"testserver")] + ([(b"content-length", stated.encode())] if stated is not None else [])
    scope = {"type": "http", "method": "POST", "path": "/nowhere/", "query_string": b"", "headers": headers}
    client = ApplicationCommunicator(the_application(), scope)
    for number, chunk in enumerate(chunks):
        await client.send_input({"type": "http.request", "body": chunk, "more_body": number + 1 < len(chunks)})
    start: dict[str, Any] = await client.receive_output(10)
    body: dict[str, Any] = await client.receive_output(10)
    return start["status"], body["body"]


@pytest.fixture(autouse=True)
def small_limit(settings: Any) -> None:
    settings.AVAL_MAX_BODY = LIMIT


def test_the_application_is_channels_router_around_djangos_handler() -> None:
    application = the_application()
    assert isinstance(application, ProtocolTypeRouter)
    assert list(application.application_mapping) == ["http"]
    assert isinstance(application.application_mapping["http"], ASGIHandler)


async def test_a_body_within_the_bound_reaches_django() -> None:
    status, _body = await answer_to([b"x" * LIMIT], stated=str(LIMIT))
    assert status == 404


async def test_a_stated_length_beyond_the_bound_is_refused_unread() -> None:
    assert await answer_to([b""], stated=str(LIMIT + 1)) == (413, TOO_LARGE)


async def test_a_body_that_grows_beyond_the_bound_is_refused() -> None:
    assert await answer_to([b"x" * 600, b"x" * 600]) == (413, TOO_LARGE)


@pytest.mark.parametrize("stated", ["-5", "many", "9" * 40, ""])
async def test_a_nonsense_length_is_no_way_around_the_bound(stated: str) -> None:
    assert await answer_to([b"x" * (LIMIT + 1)], stated=stated) == (413, TOO_LARGE)
