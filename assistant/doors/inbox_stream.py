"""The event stream of an open inbox: what happens to any card that its reader may see, within a second.

The company's group says that cards changed, and the rows say how (inbox_frames). Like the chat's stream it reads them
again after a gap and every few seconds, because a layer may drop.
"""

import time
import uuid
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from assistant import bus
from assistant.doors import frames, inbox_frames, sse, stream
from assistant.doors.inbox_frames import Look
from assistant.doors.inbox_lists import Filters, id_of, micros, moment_of, tab_of
from assistant.doors.reading import Viewer, in_thread, still_here, viewer_of
from ledger import permissions

REREAD_SECONDS = 5.0
SETTLE_SECONDS = 0.1
"""How long a change is left to be read with those that follow it at once."""
HEARTBEAT_SECONDS = 15.0
LOGIN_SECONDS = 45.0
RETRY_MS = 500
MOST_SHOWN = 40


@require_GET
def events(request: Any) -> HttpResponseBase:
    """GET /inbox/events: text/event-stream of the list that `tab` and the filters name.

    `shown` are the cards on the page, each as `id.seq`; `after` the card behind which the page begins; `full=1` where
    it goes on; `at` when it was made. 401 for strangers, 404 where the reader has no inbox, 429 with too many streams.
    """
    if request.member is None:
        return HttpResponse(_("Sign in first."), status=401, content_type="text/plain; charset=utf-8")
    given = request.GET
    tab = tab_of(given.get("tab", ""))
    if tab is None or not permissions.allowed(request.member, "use_assistant"):
        raise Http404
    viewer = viewer_of(request)
    refused = stream.crowded(viewer)
    if refused is not None:
        return refused
    filters = Filters.of(given, tab, request.member)
    look = Look(tab, filters, id_of(given.get("after", "")), given.get("full") == "1", moment_of(given.get("at", "")))
    last = moment_of(request.headers.get("Last-Event-ID", ""))
    return stream.answer(stream.counted(viewer, _watch(viewer, look, _shown(given.get("shown", "")), last)))


async def _watch(
    viewer: Viewer, look: Look, known: dict[uuid.UUID, int], since: datetime | None
) -> AsyncGenerator[bytes, None]:
    """Everything for the reader, until they may not read on. The caller ends it at any time."""
    async with bus.subscribed(bus.company_group(viewer.tenant_id)) as subscription:
        yield sse.retry(RETRY_MS)
        told = ""
        sent_at = read_at = time.monotonic()
        login_at = sent_at + LOGIN_SECONDS
        while True:
            now = time.monotonic()
            if now >= login_at:
                login_at = now + LOGIN_SECONDS
                if not await in_thread(still_here, viewer):
                    yield sse.encode("error", frames.signed_out())
                    return
            if now >= read_at:
                batch = await in_thread(inbox_frames.changes, viewer, look, known, since)
                known, since, read_at, name = (
                    batch.known,
                    None,
                    time.monotonic() + REREAD_SECONDS,
                    str(micros(batch.at)),
                )
                for event, html in batch.frames:
                    yield sse.encode(event, html, name)
                if batch.counts != told:
                    told = batch.counts
                    yield sse.encode("counts", told, name)
                    sent_at = time.monotonic()
            if time.monotonic() - sent_at >= HEARTBEAT_SECONDS:
                sent_at = time.monotonic()
                yield sse.comment("here")
            message = await subscription.get(min(read_at, login_at, sent_at + HEARTBEAT_SECONDS) - time.monotonic())
            if message is not None or subscription.missed:
                subscription.missed = False
                read_at = min(read_at, time.monotonic() + SETTLE_SECONDS)


def _shown(text: str) -> dict[uuid.UUID, int]:
    """The cards that the page says it has; what cannot be read is left out, and comes again."""
    found = {}
    for one in text.split(",")[:MOST_SHOWN]:
        pk, _dot, seq = one.partition(".")
        if (card := id_of(pk)) and seq.isascii() and seq.isdigit():
            found[card] = int(seq)
    return found
