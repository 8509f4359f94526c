"""Django's ASGI handler with a bound on what a request may carry."""

from typing import IO, Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve

REFUSAL = b"The request is larger than this server accepts."


class BodyTooLarge(Exception):
    """A request's body exceeds settings.AVAL_MAX_BODY bytes."""


class BoundedASGIHandler(ASGIHandler):
    """Refuses a body of more than AVAL_MAX_BODY bytes with 413, before a view, a form or a disk sees it.

    A synchronous view runs with its whole middleware in one thread: Django's own asynchronous chain changes threads
    twice for each middleware, which costs more than the view.
    """

    def __init__(self) -> None:
        super().__init__()
        self._in_one_thread = BaseHandler()
        self._in_one_thread.load_middleware()

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        if _is_async(request.path_info):
            response: HttpResponseBase = await super().get_response_async(request)
            return response
        return await sync_to_async(self._in_one_thread.get_response, thread_sensitive=True)(request)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        if _declared_length(scope["headers"]) > settings.AVAL_MAX_BODY:
            await _refuse(send)
            return
        try:
            await super().handle(scope, receive, send)
        except BodyTooLarge:
            await _refuse(send)

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


def _is_async(path: str) -> bool:
    try:
        return iscoroutinefunction(resolve(path).func)
    except Resolver404:
        return False


def _declared_length(headers: list[tuple[bytes, bytes]]) -> int:
    """Content-Length, or 0 where it is missing or not a number (the body is counted as it comes, then)."""
    value = next((value for name, value in headers if name == b"content-length"), b"0")
    return int(value) if value.isdigit() and len(value) < 20 else 0


async def _refuse(send: Any) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(REFUSAL)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": REFUSAL})
