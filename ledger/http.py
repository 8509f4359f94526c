"""Django's ASGI handler: a request runs in one thread from its beginning to its end, and may carry only so much.

Django's own handler changes threads five times for a plain view and twice for each middleware before an asynchronous
one; each change costs as much as a query. Here the whole of a request, its signals, middleware and view, is one piece
of work for a bounded number of threads. A view that answers with an asynchronous stream is synchronous itself: its
stream runs on the event loop and holds no thread.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, TypeVar

from django.conf import settings
from django.core import signals
from django.core.exceptions import BadRequest, RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponseBase
from django.urls import set_script_prefix
from django.utils import translation

from ledger.environment import pool_size
from ledger.views import problems

TOO_LARGE = b"The request is larger than this server accepts."
WAITING_FOR_EACH_THREAD = 20

Answer = TypeVar("Answer")


class BodyTooLarge(Exception):
    """A request's body exceeds settings.AVAL_MAX_BODY bytes."""


class Request(ASGIRequest):
    """A form that cannot be read is refused once: the page that says so may look for the CSRF token again."""

    def _load_post_and_files(self) -> None:
        try:
            super()._load_post_and_files()
        except BadRequest:
            self._mark_post_parse_error()  # type: ignore[attr-defined]
            raise


class BoundedASGIHandler(ASGIHandler):
    """Refuses with 413 a body of more than AVAL_MAX_BODY bytes before anything of Django sees it, and with 503 a
    request that too many others wait before.
    """

    request_class = Request

    def __init__(self) -> None:
        super().__init__()
        size = pool_size(settings.DATABASES["default"])  # a thread that waits for a row holds a connection
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="request")
        self._most, self._taken = size * (1 + WAITING_FOR_EACH_THREAD), 0

    def load_middleware(self, is_async: bool = False) -> None:
        """The synchronous chain, the only one that is used."""
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.handle(scope, receive, send)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request. A browser that leaves ends a stream; a plain answer is worked out all the same."""
        if _declared_length(scope["headers"]) > settings.AVAL_MAX_BODY:
            await _refuse(send)
            return
        try:
            body = await self.read_body(receive)
        except BodyTooLarge:
            await _refuse(send)
            return
        except RequestAborted:
            return
        if self._taken >= self._most:
            with body:
                await self._turn_away(scope, body, send)
            return
        response = await self._in_thread(self._answer, scope, body)
        if response.streaming:
            await self._stream(response, receive, send)
        else:
            await self.send_response(response, send)

    async def read_body(self, receive: Any) -> IO[bytes]:
        """The whole body, or BodyTooLarge as soon as it is known to be too much (a body without a stated length)."""
        total = 0

        async def bounded() -> Any:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > settings.AVAL_MAX_BODY:
                raise BodyTooLarge
            return message

        return await super().read_body(bounded)

    def _answer(self, scope: Any, body: IO[bytes]) -> HttpResponseBase:
        """The response, whose content is there or is a stream. Runs in a thread, which keeps no connection after it."""
        with body:
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=type(self), scope=scope)
            request, refused = self.create_request(scope, body)
            response: Any = self._response_to(request) if request is not None else refused
            if not response.streaming:
                response.close()
        return response  # type: ignore[no-any-return]

    async def _turn_away(self, scope: Any, body: IO[bytes], send: Any) -> None:
        """Say at once, in the reader's language, that there is no room."""
        request, refused = self.create_request(scope, body)
        response: Any = refused
        if request is not None:
            with translation.override(translation.get_language_from_request(request)):
                response = problems.unavailable(request)
        await self.send_response(response, send)

    def _response_to(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response._handler_class = type(self)  # type: ignore[attr-defined]
        return response

    async def _stream(self, response: HttpResponseBase, receive: Any, send: Any) -> None:
        """Send until the stream ends or the browser has left, whichever comes first."""
        sending = asyncio.ensure_future(self.send_response(response, send))
        watching = asyncio.ensure_future(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait([sending, watching], return_when=asyncio.FIRST_COMPLETED)
        finally:
            left = not sending.done()
            sending.cancel()
            watching.cancel()
            ended, _ = await asyncio.gather(sending, watching, return_exceptions=True)
            await self._in_thread(response.close)
        if isinstance(ended, Exception) and not left:
            raise ended

    async def _in_thread(self, work: Callable[..., Answer], *args: Any) -> Answer:
        """Run it in one of the threads, in a context of its own: nothing of a request stays behind in the thread.

        Whoever waits may be cancelled (the server does so some seconds after a browser has left); the work may not.
        """

        def bounded() -> Answer:
            try:
                return work(*args)
            finally:
                close_old_connections()

        context = contextvars.copy_context()
        running = asyncio.get_running_loop().run_in_executor(self._threads, context.run, bounded)
        self._taken += 1
        running.add_done_callback(self._given_back)
        return await asyncio.shield(running)

    def _given_back(self, _running: asyncio.Future[Any]) -> None:
        self._taken -= 1


def _declared_length(headers: list[tuple[bytes, bytes]]) -> int:
    """Content-Length, or 0 where it is missing or not a number (the body is counted as it comes, then)."""
    value = next((value for name, value in headers if name == b"content-length"), b"0")
    return int(value) if value.isdigit() and len(value) < 20 else 0


async def _refuse(send: Any) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(TOO_LARGE)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": TOO_LARGE})
