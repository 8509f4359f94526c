"""The bound on what a request may carry, on the ASGI application that daphne serves."""

import asyncio
import importlib
import threading
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.routing import ProtocolTypeRouter
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse

from ledger.http import TOO_LARGE, BoundedASGIHandler

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
    assert list(application.application_mapping) == ["http", "websocket"]
    assert isinstance(application.application_mapping["http"], ASGIHandler)


@pytest.mark.parametrize("debug", [True, False])
async def test_a_form_in_an_unreadable_charset_is_400(settings: Any, debug: bool) -> None:
    settings.DEBUG = debug
    form = b"application/x-www-form-urlencoded; charset=utf-16"
    headers = [(b"host", b"testserver"), (b"content-type", form), (b"cookie", b"csrftoken=" + b"a" * 32)]
    scope = {"type": "http", "method": "POST", "path": "/login/", "query_string": b"", "headers": headers}
    client = ApplicationCommunicator(the_application(), scope)
    await client.send_input({"type": "http.request", "body": b"a=1"})
    assert (await client.receive_output(10))["status"] == 400


async def test_a_websocket_is_refused() -> None:
    client = ApplicationCommunicator(the_application(), {"type": "websocket", "path": "/c/", "headers": []})
    await client.send_input({"type": "websocket.connect"})
    assert await client.receive_output(10) == {"type": "websocket.close"}


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


async def test_a_request_is_worked_out_though_the_server_gave_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Daphne cancels what still runs some seconds after the browser has left: in its thread and before its turn."""
    monkeypatch.setattr("ledger.http.pool_size", lambda database: 1)
    handler = BoundedASGIHandler()
    begun, go_on, read = threading.Event(), threading.Event(), []

    def slow(request: HttpRequest) -> HttpResponse:
        begun.set()
        assert go_on.wait(10)
        read.append(request.body)
        return HttpResponse()

    monkeypatch.setattr(handler, "get_response", slow)
    clients = []
    for body in (b"first", b"second"):
        client = ApplicationCommunicator(handler, {"type": "http", "method": "POST", "path": "/", "headers": []})
        await client.send_input({"type": "http.request", "body": body})
        clients.append(client)
    assert await asyncio.to_thread(begun.wait, 10)
    await asyncio.gather(*(client.wait(0) for client in clients))
    taken = handler._taken
    go_on.set()
    await asyncio.to_thread(handler._threads.shutdown)
    await asyncio.sleep(0)
    assert (taken, read, handler._taken) == (2, [b"first", b"second"], 0)
