"""Serving the endpoint on a port of this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from assistant.agent.rehearsal.app import RehearsalApp


def bound(port: int = 0, host: str = "127.0.0.1") -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Its protocol is named: of a socket that does not say TCP, asyncio lets each small piece wait for the one before to
    be acknowledged (Nagle's algorithm), 40 ms on a connection that serves again.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(1024)
    return listener


def server(app: RehearsalApp) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    return uvicorn.Server(config)


@asynccontextmanager
async def serving(app: RehearsalApp) -> AsyncIterator[str]:
    """Serve within this event loop; yields the base URL."""
    listener = bound()
    running = server(app)
    task = asyncio.create_task(running.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        task.cancel()  # a graceful shutdown takes a fifth of a second, and nobody is left to wait for it
        await asyncio.gather(task, return_exceptions=True)
        for listening in getattr(running, "servers", []):  # none if nobody let it begin
            listening.close()
        for connection in list(running.server_state.connections):
            connection.shutdown()
        listener.close()
