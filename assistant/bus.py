"""Who tells whom that a conversation changed. The only module of ours that uses Channels' layer.

Agent, gate and doors publish after their commit; the event stream subscribes. A message carries ids, and for
text the frame of new characters: the rows are the log, and a lost message costs a delay, never a word.

Every message is a dictionary with `type` ("conversation.event"), `conversation`, `kind`, `seq` and what the
kind needs: `text` has `message`, `at` (offset in characters) and `text`; the others may name the changed row.
Where a card changed, the company's group hears of it too: `company` and `conversations` instead of one.
"""

import asyncio
import contextlib
import logging
import os
import threading
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from channels.layers import get_channel_layer
from django.db import connection, transaction

log = logging.getLogger(__name__)

EVENT = "conversation.event"
FRAME_BYTES = 4000
"""The most UTF-8 of one text frame: with its envelope it fits into one notification of PostgreSQL."""
MOST_NAMED = 50
"""Conversations that one message about a company's cards names at most."""
BACKLOG = 256
"""Messages that a slow reader may leave unread before it has to read the rows instead."""


class Kind(StrEnum):
    """What changed. RUNNING: a confirmed action began, and its outcome may be there before anybody has looked."""

    MESSAGE = "message"
    TEXT = "text"
    TOOL = "tool"
    CONFIRM = "confirm"
    ACTION = "action"
    RUNNING = "running"
    TURN = "turn"
    ERROR = "error"


CARDS = (Kind.CONFIRM, Kind.ACTION)
URGENT = (Kind.CONFIRM, Kind.ACTION, Kind.ERROR)
"""What a person waits for."""


def group_of(conversation_id: uuid.UUID) -> str:
    return f"conversation.{conversation_id.hex}"


def company_group(tenant_id: uuid.UUID) -> str:
    """Whoever listens here hears that a card of the company changed, and where: never which words it has."""
    return f"company.{tenant_id.hex}"


@dataclass
class _Change:
    """The newest change of a conversation in a transaction, of the most pressing kind."""

    conversation_id: uuid.UUID
    kind: Kind
    seq: int
    ids: dict[str, object]

    def __call__(self) -> None:
        publish(self.conversation_id, self.kind, self.seq, **self.ids)


def publish_on_commit(conversation_id: uuid.UUID, kind: Kind, seq: int, **ids: object) -> None:
    """Publish when the running transaction commits, at once where there is none. For synchronous code.

    Several changes of one transaction are one message: who reads the rows finds them all. What undoes the change
    that was noted first undoes the later ones too, so the note stands as long as any of them does.
    """
    for waiting in connection.run_on_commit:
        noted = waiting[1]
        if isinstance(noted, _Change) and noted.conversation_id == conversation_id:
            noted.seq = max(noted.seq, seq)
            if kind in URGENT and noted.kind not in URGENT:
                noted.kind, noted.ids = kind, ids
            return
    transaction.on_commit(_Change(conversation_id, kind, seq, ids), robust=True)


@dataclass
class _Acted:
    """The conversations of a company in which a transaction changed cards."""

    tenant_id: uuid.UUID
    conversations: set[uuid.UUID]

    def __call__(self) -> None:
        where = sorted(str(one) for one in self.conversations)[:MOST_NAMED]
        message = {"type": EVENT, "company": str(self.tenant_id), "kind": str(Kind.ACTION), "conversations": where}
        _in_background(_deliver(company_group(self.tenant_id), message))


def publish_cards_on_commit(tenant_id: uuid.UUID, conversation_id: uuid.UUID) -> None:
    """Tell the company's inboxes and badges, when the running transaction commits, that a card changed there."""
    for waiting in connection.run_on_commit:
        noted = waiting[1]
        if isinstance(noted, _Acted) and noted.tenant_id == tenant_id:
            noted.conversations.add(conversation_id)
            return
    transaction.on_commit(_Acted(tenant_id, {conversation_id}), robust=True)


def publish(conversation_id: uuid.UUID, kind: Kind, seq: int, **ids: object) -> None:
    """Publish from synchronous code, without waiting: the sender's answer does not depend on a listener."""
    message = _message(conversation_id, kind, seq, ids)
    _in_background(_deliver(group_of(conversation_id), message))


async def send(conversation_id: uuid.UUID, kind: Kind, seq: int, **ids: object) -> None:
    """Publish from asynchronous code. A layer that is down is logged: the rows hold what happened."""
    await _deliver(group_of(conversation_id), _message(conversation_id, kind, seq, ids))


@dataclass(frozen=True)
class Opening:
    """Where an answer stands: goes with its first characters, so that a stream can show them before it reads rows."""

    turn: uuid.UUID
    ordinal: int
    position: int
    began: datetime
    created: datetime
    seq: int
    """The change that opened it; every message carries its own, so this is not among the ids."""

    def as_ids(self) -> dict[str, object]:
        began, created = self.began.isoformat(), self.created.isoformat()
        return {"turn": self.turn, "ordinal": self.ordinal, "position": self.position, "began": began, "made": created}

    @classmethod
    def of(cls, message: dict[str, Any]) -> "Opening | None":
        """The opening that a text frame carries, if it is an answer's first one."""
        if "ordinal" not in message:
            return None
        began, created = (datetime.fromisoformat(message[name]) for name in ("began", "made"))
        return cls(uuid.UUID(message["turn"]), message["ordinal"], message["position"], began, created, message["seq"])


async def send_text(
    conversation_id: uuid.UUID, seq: int, *, message_id: uuid.UUID, at: int, text: str, opening: Opening | None = None
) -> None:
    """Publish characters `at` .. `at + len(text)` of an open message; long text as several frames."""
    for start, piece in frames(text):
        ids: dict[str, object] = {"message": message_id, "at": at + start, "text": piece}
        if opening is not None and at + start == 0:
            ids |= opening.as_ids()
        await _deliver(group_of(conversation_id), _message(conversation_id, Kind.TEXT, seq, ids))


def frames(text: str, limit: int = FRAME_BYTES) -> Iterator[tuple[int, str]]:
    """The text in pieces of at most `limit` bytes of UTF-8, each with its offset in characters."""
    start = size = 0
    for at, character in enumerate(text):
        width = len(character.encode("utf-8", "surrogatepass"))
        if size + width > limit:
            yield start, text[start:at]
            start, size = at, 0
        size += width
    if start < len(text):
        yield start, text[start:]


class Subscription:
    """What one reader of a conversation receives, from the moment it was entered."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue(BACKLOG)
        self.missed = False
        """Set when something may have been lost; whoever has read the rows again clears it."""

    async def get(self, seconds: float) -> dict[str, Any] | None:
        """The next message, or None when none came within so many seconds."""
        if not self._waiting.empty():
            return self._waiting.get_nowait()
        # Not wait_for: up to Python 3.11 it can swallow a cancellation, and a stream would outlive its reader.
        try:
            async with asyncio.timeout(max(seconds, 0)):
                return await self._waiting.get()
        except TimeoutError:
            return None

    def get_nowait(self) -> dict[str, Any] | None:
        return None if self._waiting.empty() else self._waiting.get_nowait()

    def put(self, message: dict[str, Any]) -> None:
        if message.get("type") != EVENT or self._waiting.full():
            self.missed = True
        else:
            self._waiting.put_nowait(message)


@contextlib.asynccontextmanager
async def subscribe(conversation_id: uuid.UUID) -> AsyncIterator[Subscription]:
    """Join the conversation's group; on leaving, by whatever way, nothing of it stays behind."""
    async with subscribed(group_of(conversation_id)) as subscription:
        yield subscription


@contextlib.asynccontextmanager
async def subscribed(*groups: str) -> AsyncIterator[Subscription]:
    """The same for several groups, which one reader hears as one."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    subscription = Subscription()
    pump: asyncio.Task[None] | None = None
    try:
        for group in groups:
            await layer.group_add(group, channel)
        pump = asyncio.create_task(_pump(layer, channel, subscription), name="event stream: receive")
        yield subscription
    finally:
        if pump is not None:
            pump.cancel()
            await asyncio.wait({pump}, timeout=1)
        for group in groups:
            await layer.group_discard(group, channel)


async def _pump(layer: Any, channel: str, subscription: Subscription) -> None:
    while True:
        try:
            subscription.put(await layer.receive(channel))
        except Exception as error:
            log.warning("The channel layer failed; the stream reads the rows until it is back: %r", error)
            subscription.missed = True
            await asyncio.sleep(1)


def _message(conversation_id: uuid.UUID, kind: Kind, seq: int, ids: dict[str, object]) -> dict[str, Any]:
    plain = {name: str(value) if isinstance(value, uuid.UUID) else value for name, value in ids.items()}
    return {"type": EVENT, "conversation": str(conversation_id), "kind": str(kind), "seq": seq, **plain}


async def _deliver(group: str, message: dict[str, Any]) -> None:
    try:
        await get_channel_layer().group_send(group, message)
    except Exception as error:
        log.warning("A %s event was not delivered; streams find it in the rows: %r", message["kind"], error)


# Synchronous processes (the worker, commands) have no event loop of their own, and the layer's connections
# belong to one loop: they share a single loop in a daemon thread. After a fork the child starts its own.

_lock = threading.Lock()
_loop: tuple[int, asyncio.AbstractEventLoop] | None = None


def _in_background(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run_coroutine_threadsafe(work, _background_loop())


def _background_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop[0] != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="bus", daemon=True).start()
            _loop = (os.getpid(), loop)
        return _loop[1]


def flush(seconds: float = 5.0) -> None:
    """Wait until everything published by this process from synchronous code has been handed to the layer."""

    async def others_done() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=seconds)

    if _loop is not None and _loop[0] == os.getpid():
        asyncio.run_coroutine_threadsafe(others_done(), _loop[1]).result(seconds + 1)
