"""The web process: Channels routes by protocol, Django answers HTTP.

AVAL_PROCESS is set before Django loads its settings: the web process keeps a pool of database connections.
"""

import os
import sys
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ledger.settings")
os.environ.setdefault("AVAL_PROCESS", "web")

import django
from channels.routing import ProtocolTypeRouter
from django.core.exceptions import ImproperlyConfigured
from django.urls import get_resolver

from ledger import collecting, roles
from ledger.http import BoundedASGIHandler

SWITCH_SECONDS = 0.001
"""How long one thread may keep the interpreter while the event loop waits; Python's 5 ms show in a stream."""

try:
    django.setup(set_prefix=False)
except ImproperlyConfigured as error:
    sys.exit(f"Aval does not start: {error}")
roles.require_bound()

sys.setswitchinterval(SWITCH_SECONDS)


async def no_sockets(scope: Any, receive: Any, send: Any) -> None:
    """A WebSocket's handshake is answered with 403: nothing here speaks it."""
    await receive()
    await send({"type": "websocket.close"})


application = ProtocolTypeRouter({"http": BoundedASGIHandler(), "websocket": no_sockets})
get_resolver().url_patterns  # noqa: B018 (loads every door now, not with the first request)
collecting.spare_what_is_loaded()
