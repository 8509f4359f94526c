"""One event stream for each open page of a conversation: what changed since, the open answer, then what comes live.

A synchronous view, for the middleware and the first look, answers with an asynchronous stream. That joins the
conversation's group before it reads the rows, so that nothing falls between; the layer's messages only say that there
is something to read, but for the frames of text, which are shown as they come. The rows are read again after a gap and
every few seconds, because a layer may drop.
"""

import contextlib
import time
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from assistant import bus
from assistant.doors import frames, sse
from assistant.doors.frames import Batch
from assistant.doors.markdown import Writing
from assistant.doors.reading import Viewer, in_thread, still_here, viewer_of

FRAME_SECONDS = 0.04
"""The least time between two pieces of text; more where rendering takes long."""
RENDER_SHARE = 10
"""Rendering may take one part in so many of a stream's time."""
REREAD_SECONDS = 5.0
SETTLE_SECONDS = 0.12
"""How long a change that nobody waits for is left to be read with those that follow it: a message, its turn and the
reply that opens are one read then, after the first words, which would have to wait for it."""
GAP_SECONDS = 0.15
"""How long the rows are left alone after a read that did not close a gap in the text (it is saved twice a second)."""
BADGE_SECONDS = 0.25
"""The least time between two looks at what waits for the reader elsewhere in the company."""
BADGE_REREAD_SECONDS = 15.0
HEARTBEAT_SECONDS = 15.0
LOGIN_SECONDS = 45.0
RETRY_MS = 500
STREAMS_FOR_ONE_PERSON = 12
CROWDED_MS = 10_000
GAP_LIMIT = 64

_open_streams: Counter[uuid.UUID] = Counter()


@require_GET
def events(request: Any, conversation_id: uuid.UUID) -> HttpResponseBase:
    """GET …/events: text/event-stream from `Last-Event-ID`, `?after=` or the beginning.

    401 for strangers, 404 for a conversation that is not there or not theirs, 429 with too many streams open.
    """
    if request.member is None:
        return HttpResponse(_("Sign in first."), status=401, content_type="text/plain; charset=utf-8")
    if frames.find(conversation_id, request.member) is None:
        raise Http404
    viewer = viewer_of(request)
    refused = crowded(viewer)
    if refused is not None:
        return refused
    last = request.headers.get("Last-Event-ID")
    after = sse.seq_of(last or request.GET.get("after", ""))
    shown = None if last else number_of(request.GET.get("waiting", ""))
    return answer(_counted(viewer, conversation_id, after, shown))


def answer(pieces: AsyncIterator[bytes]) -> StreamingHttpResponse:
    """The pieces as an event stream that no proxy holds back (H50)."""
    response = StreamingHttpResponse(pieces, content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def crowded(viewer: Viewer) -> HttpResponse | None:
    """The refusal of one more stream, where this person has as many open as anybody may."""
    if _open_streams[viewer.user_id] < STREAMS_FOR_ONE_PERSON:
        return None
    words = _("Too many pages are open.")
    return HttpResponse(words, status=429, headers={"Retry-After": "10"}, content_type="text/plain; charset=utf-8")


def number_of(text: str) -> int | None:
    """A number that a page says it shows; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


async def counted(viewer: Viewer, pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The pieces, counted as one of this person's streams while they are read."""
    if _open_streams[viewer.user_id] >= STREAMS_FOR_ONE_PERSON:  # several asked in the same instant
        yield sse.retry(CROWDED_MS)
        return
    _open_streams[viewer.user_id] += 1
    try:
        async with contextlib.aclosing(pieces):
            async for piece in pieces:
                yield piece
    finally:
        _open_streams[viewer.user_id] -= 1
        if _open_streams[viewer.user_id] <= 0:
            del _open_streams[viewer.user_id]


def _counted(
    viewer: Viewer, conversation_id: uuid.UUID, after: int, shown: int | None = None
) -> AsyncGenerator[bytes, None]:
    return counted(viewer, _live(viewer, conversation_id, after, shown))


async def _live(
    viewer: Viewer, conversation_id: uuid.UUID, after: int, shown: int | None
) -> AsyncGenerator[bytes, None]:
    groups = bus.group_of(conversation_id), bus.company_group(viewer.tenant_id)
    async with bus.subscribed(*groups) as subscription:
        live = Live(viewer, conversation_id, after, subscription, shown)
        async with contextlib.aclosing(live.run()) as pieces:
            async for piece in pieces:
                yield piece


@dataclass
class Answer:
    """An open answer as this stream has sent it, and the frames that came before their turn."""

    received: int = 0
    opening: bus.Opening | None = None
    """Set until the reader has its empty bubble."""
    writing: Writing = field(default_factory=Writing)
    fresh: str = ""
    early: dict[int, str] = field(default_factory=dict)

    def take(self, at: int, text: str) -> bool:
        """Add characters from offset `at`; False if some before them are missing."""
        if at > self.received:
            if len(self.early) < GAP_LIMIT:
                self.early[at] = text
            return False
        self._append(at, text)
        while self.early and (first := min(self.early)) <= self.received:
            self._append(first, self.early.pop(first))
        return not self.early

    def _append(self, at: int, text: str) -> None:
        if at + len(text) > self.received:
            self.fresh += text[self.received - at :]
            self.received = at + len(text)


class Live:
    """The course of one stream. `seq` is the change up to which its reader has everything.

    `shown` is the number on the reader's badge (None: not known), which what happens in other conversations changes.
    """

    def __init__(
        self,
        viewer: Viewer,
        conversation_id: uuid.UUID,
        after: int,
        subscription: bus.Subscription,
        shown: int | None = None,
    ) -> None:
        self.viewer, self.conversation_id, self.subscription = viewer, conversation_id, subscription
        self.seq = after
        self.answers: dict[uuid.UUID, Answer] = {}
        self.unread = True
        self.shown = shown
        now = time.monotonic()
        self.badge_at = now if shown is not None else now + BADGE_REREAD_SECONDS
        self.read_from = self.text_from = self.gap_until = now
        self.reread_at = now
        self.login_at = now + LOGIN_SECONDS
        self.sent_at = now

    async def run(self) -> AsyncGenerator[bytes, None]:
        """Everything for the reader, until the conversation is no longer theirs. The caller ends it at any time."""
        yield self._sent(sse.retry(RETRY_MS))
        while True:
            now = time.monotonic()
            if now >= self.login_at:
                self.login_at = now + LOGIN_SECONDS
                if not await in_thread(still_here, self.viewer):
                    yield sse.encode("error", frames.signed_out(), str(self.seq))
                    return
            if (self.unread and now >= self.read_from) or now >= self.reread_at:
                batch = await in_thread(frames.changes, self.viewer, self.conversation_id, self.seq)
                if batch is None:
                    yield sse.encode("error", frames.signed_out(), str(self.seq))
                    return
                if changed := b"".join(self._read(batch)):  # one write, whatever it holds: each costs a millisecond
                    yield self._sent(changed)
            if time.monotonic() >= self.badge_at:
                self.badge_at = time.monotonic() + BADGE_REREAD_SECONDS
                waiting = await in_thread(frames.waiting, self.viewer)
                if waiting != self.shown:
                    self.shown = waiting
                    with self.viewer.words():
                        yield self._sent(sse.encode("badge", frames.badge(waiting), str(self.seq)))
            if time.monotonic() >= self.text_from and (said := b"".join(self._text())):
                yield self._sent(said)
            if time.monotonic() - self.sent_at >= HEARTBEAT_SECONDS:
                yield self._sent(sse.comment("here"))
            await self._wait()

    async def _wait(self) -> None:
        """Until something comes or is due; then take all that has come."""
        due = [self.reread_at, self.login_at, self.badge_at, self.sent_at + HEARTBEAT_SECONDS]
        if self.unread:
            due.append(self.read_from)
        if any(answer.fresh for answer in self.answers.values()):
            due.append(self.text_from)
        message = await self.subscription.get(min(due) - time.monotonic())
        while message is not None:
            self._take(message)
            message = self.subscription.get_nowait()
        if self.subscription.missed:
            self.subscription.missed = False
            self.unread = True
            self.badge_at = time.monotonic()

    def _take(self, message: dict[str, Any]) -> None:
        if "company" in message:
            if message["conversations"] != [str(self.conversation_id)]:  # whose own changes bring the badge with them
                self.badge_at = min(self.badge_at, time.monotonic() + BADGE_SECONDS)
            return
        new, now = message["seq"] > self.seq, time.monotonic()
        if message["kind"] != bus.Kind.TEXT:
            if new:
                self._read_at(now if message["kind"] in bus.URGENT else now + SETTLE_SECONDS)
            return
        message_id = uuid.UUID(message["message"])
        opening = bus.Opening.of(message) if new and message_id not in self.answers else None
        if opening is not None:
            self.answers[message_id] = Answer(opening=opening)
        answer = self.answers.get(message_id)
        if answer is None:
            if new:
                self._read_at(now)
        elif not answer.take(message["at"], message["text"]):
            self._read_at(now)

    def _read_at(self, moment: float) -> None:
        """Read the rows then at the latest."""
        self.read_from = min(self.read_from, moment) if self.unread else max(self.gap_until, moment)
        self.unread = True

    def _read(self, batch: Batch) -> Iterator[bytes]:
        """The changes in their order; then for each open answer what its row has more than was received."""
        now = time.monotonic()
        self.unread, self.reread_at, self.read_from = False, now + REREAD_SECONDS, now
        open_now = {message.id: message for message in batch.open}
        if any(frame.event in bus.CARDS for frame in batch.frames):
            self.shown = None
        for frame in batch.frames:
            if frame.row not in self.answers or frame.row not in open_now:
                yield sse.encode(frame.event, frame.html, str(frame.seq))
        self.seq = max(self.seq, batch.seq)
        self.answers = {key: answer for key, answer in self.answers.items() if key in open_now}
        for message in open_now.values():
            if message.id not in self.answers:
                yield self._snapshot(message.id, message.text)
            elif not self.answers[message.id].take(0, message.text):
                self.unread, self.read_from = True, now + GAP_SECONDS
                self.gap_until = self.read_from

    def _snapshot(self, message_id: uuid.UUID, text: str) -> bytes:
        answer = self.answers[message_id] = Answer(received=len(text))
        ready, tail = answer.writing.add(text)
        html = frames.text(message_id, len(text), ready, tail, whole=True)
        return sse.encode("text", html, f"{self.seq}.{len(text)}")

    def _text(self) -> Iterator[bytes]:
        for message_id, answer in self.answers.items():
            if not answer.fresh:
                continue
            started = time.monotonic()
            if answer.opening is not None:
                with self.viewer.words():
                    yield sse.encode("message", frames.opened(message_id, answer.opening), str(self.seq))
                answer.opening = None
            ready, tail = answer.writing.add(answer.fresh)
            answer.fresh = ""
            html: SafeString = frames.text(message_id, answer.received, ready, tail)
            ended = time.monotonic()
            self.text_from = ended + max(FRAME_SECONDS, RENDER_SHARE * (ended - started))
            yield sse.encode("text", html, f"{self.seq}.{answer.received}")

    def _sent(self, piece: bytes) -> bytes:
        self.sent_at = time.monotonic()
        return piece


def open_streams() -> int:
    """How many streams this process serves now."""
    return sum(_open_streams.values())
