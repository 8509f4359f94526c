"""Channels' layer on PostgreSQL's LISTEN and NOTIFY, for installations without Redis.

It keeps the configuration, the names and the encoding of channels_postgres and replaces how messages travel.
That package's own way does not suit a stream for each open page: three statements and a stored row for each
message, a session lock for each channel that is never given back, a task that sleeps for minutes after each
reader that leaves, and one listener that stays deaf after the database restarts.

Here a group is a list in this process, a message is one `pg_notify`, and nothing is stored. Delivery is at
most once, as Channels allows; whoever listens re-reads the rows after a gap, announced as `{"type": GAP}`.
"""

import asyncio
import base64
import binascii
import contextlib
import logging
import uuid
import weakref
from typing import Any, ClassVar

import psycopg
import psycopg_pool
from channels.exceptions import ChannelFull
from channels_postgres.core import PostgresChannelLayer

log = logging.getLogger(__name__)

NOTIFY_CHANNEL = "aval_layer"
NOTIFY = f"SELECT pg_notify('{NOTIFY_CHANNEL}', payload) FROM unnest(%s::text[]) AS payload"  # noqa: S608 (our own name)
GAP = "layer.gap"
MAX_PAYLOAD_BYTES = 7999
"""PostgreSQL's limit for a notification is below 8,000 bytes."""
RECONNECT_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0)
SEND_SECONDS = 2.0
"""How long a message waits for a connection; then it is given up, for the rows hold what it would have said."""
LINGER_SECONDS = 60.0
"""How long the listening connection is kept when nobody listens: a person who turns a page comes back at once, and a
new connection costs more than a whole page."""
PATIENCE_SECONDS = 5.0
"""How long a new reader waits for the database; then it reads rows and is told of the gap once it listens."""


class MessageTooLarge(ValueError):
    """A message does not fit into one notification: send ids, or shorter pieces of text."""


class NotifyLayer(PostgresChannelLayer):
    """At most once, no rows, one listening connection and a small pool for each event loop that uses it."""

    extensions: ClassVar[list[str]] = ["groups"]

    def __init__(self, **config: Any) -> None:
        super().__init__(**{"TIME_ZONE": None, **config})
        options = config.get("PSYCOPG_OPTIONS", {})
        self._pool_options: dict[str, Any] = {"min_size": 1, "max_size": 4, **options}
        self._posts: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Post] = weakref.WeakKeyDictionary()

    def _post(self) -> "_Post":
        loop = asyncio.get_running_loop()
        if loop not in self._posts:
            conninfo = psycopg.conninfo.make_conninfo("", **self.db_params)
            self._posts[loop] = _Post(conninfo, self._pool_options, self.capacity)
        return self._posts[loop]

    async def new_channel(self, prefix: str = "specific") -> str:
        return f"{prefix}.{self.client_prefix}!{uuid.uuid4().hex}"

    async def group_add(self, group: str, channel: str) -> None:
        """Returns when messages sent from now on will arrive."""
        self.require_valid_group_name(group)
        self.require_valid_channel_name(channel)
        await self._post().join(self._group_key(group), channel)

    async def group_discard(self, group: str, channel: str, expire: int | None = None) -> None:
        self._post().leave(self._group_key(group), channel)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        self.require_valid_group_name(group)
        await self._post().notify(self._group_key(group), self.serialize(message))

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        self.require_valid_channel_name(channel)
        await self._post().notify(channel, self.serialize(message))

    async def receive(self, channel: str) -> dict[str, Any]:
        """The next message of a channel, which is open from its first use until `group_discard`."""
        message = await (await self._post().queue(channel)).get()
        return {"type": GAP} if message is None else self.deserialize(message)

    async def close(self) -> None:
        """Give back the connections of the running loop."""
        post = self._posts.pop(asyncio.get_running_loop(), None)
        if post is not None:
            await post.close()


class _Post:
    """What one event loop needs: who is in which group here, one listening connection, a pool for sending."""

    def __init__(self, conninfo: str, pool_options: dict[str, Any], capacity: int) -> None:
        self._conninfo, self._pool_options, self._capacity = conninfo, pool_options, capacity
        self._queues: dict[str, asyncio.Queue[bytes | None]] = {}
        self._groups: dict[str, set[str]] = {}
        self._pool: psycopg_pool.AsyncConnectionPool | None = None
        self._opening = asyncio.Lock()
        self._listener: asyncio.Task[None] | None = None
        self._listening = asyncio.Event()
        self._hanging_up: asyncio.TimerHandle | None = None
        self._unsent: list[tuple[str, asyncio.Future[None]]] = []
        self._sending: asyncio.Task[None] | None = None

    async def join(self, group: str, channel: str) -> None:
        self._groups.setdefault(group, set()).add(channel)
        await self.queue(channel)

    def leave(self, group: str, channel: str) -> None:
        members = self._groups.get(group, set())
        members.discard(channel)
        if not members:
            self._groups.pop(group, None)
        self._queues.pop(channel, None)
        if not self._queues and self._listener is not None:
            self._stay()
            self._hanging_up = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._hang_up)

    def _stay(self) -> None:
        if self._hanging_up is not None:
            self._hanging_up.cancel()
            self._hanging_up = None

    def _hang_up(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
            self._listener = None
            self._listening.clear()

    async def queue(self, channel: str) -> "asyncio.Queue[bytes | None]":
        self._stay()
        queue = self._queues.setdefault(channel, asyncio.Queue(self._capacity))
        if self._listener is None or self._listener.done():
            self._listening.clear()
            self._listener = asyncio.create_task(self._listen(), name="channel layer: listen")
        if not self._listening.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await self._listening.wait()
        return queue

    async def notify(self, name: str, message: bytes) -> None:
        """Send one message. Those that come while others are on their way go out together, in one statement."""
        payload = f"{name}:{base64.b64encode(message).decode()}"
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise MessageTooLarge(f"{len(payload)} bytes")
        sent = asyncio.get_running_loop().create_future()
        self._unsent.append((payload, sent))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_what_waits(), name="channel layer: send")
        await sent

    async def _send_what_waits(self) -> None:
        while self._unsent:
            taken, self._unsent = self._unsent, []
            failed: Exception | None = None
            try:
                pool = await self._open_pool()
                async with pool.connection(timeout=SEND_SECONDS) as connection:
                    await connection.execute(NOTIFY, ([payload for payload, _ in taken],), prepare=True)
            except Exception as error:
                failed = error
            for _, sent in taken:
                if not sent.done():  # whoever sent it may have given up
                    sent.set_exception(failed) if failed else sent.set_result(None)

    async def close(self) -> None:
        self._stay()
        if self._sending is not None:
            await asyncio.gather(self._sending, return_exceptions=True)
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
            self._listener = None
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def _open_pool(self) -> psycopg_pool.AsyncConnectionPool:
        async with self._opening:
            if self._pool is None:
                pool = psycopg_pool.AsyncConnectionPool(
                    self._conninfo, open=False, kwargs={"autocommit": True}, **self._pool_options
                )
                await pool.open()
                self._pool = pool
            return self._pool

    async def _listen(self) -> None:
        """Hand out what comes while anyone listens; after a lost connection connect anew and say so."""
        failures = 0
        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True)
                async with connection:
                    await connection.execute(f"LISTEN {NOTIFY_CHANNEL}")
                    if failures:
                        self._announce_gap()
                    failures = 0
                    self._listening.set()
                    async for notification in connection.notifies():
                        self._hand_out(notification.payload)
            except (psycopg.Error, OSError) as error:
                log.warning("The channel layer lost its connection: %s", error)
            self._listening.clear()
            await asyncio.sleep(RECONNECT_SECONDS[min(failures, len(RECONNECT_SECONDS) - 1)])
            failures += 1

    def _hand_out(self, payload: str) -> None:
        name, _, encoded = payload.rpartition(":")
        channels = self._groups.get(name) or ({name} if name in self._queues else ())
        if not channels:
            return
        try:
            message = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            log.warning("A notification that this layer did not write was ignored.")
            return
        for channel in channels:
            try:
                self._put(channel, message)
            except ChannelFull:
                log.info("A slow reader of %s lost a message; it will read the rows.", name)

    def _put(self, channel: str, message: bytes) -> None:
        """A full channel loses what it holds and is told so: its reader reads the rows anyway."""
        queue = self._queues[channel]
        if queue.full():
            while not queue.empty():
                queue.get_nowait()
            queue.put_nowait(None)
            raise ChannelFull
        queue.put_nowait(message)

    def _announce_gap(self) -> None:
        for queue in self._queues.values():
            while not queue.empty():
                queue.get_nowait()
            queue.put_nowait(None)
