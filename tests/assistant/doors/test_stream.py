"""The event stream: what it sends, in which order, to whom, and what it leaves behind."""

import asyncio
import contextlib
import re
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient
from django.test.utils import CaptureQueriesContext

from assistant import bus, turns
from assistant.doors import frames, reading, sse, stream
from assistant.models import Conversation, Message, Turn
from ledger.models import Access, Membership, User
from tests.assistant.doors.conftest import Desk, make_desk
from tests.cast import strangers


@dataclass(frozen=True)
class Event:
    id: str
    name: str
    data: str


class Reader:
    """One open stream, read as a browser does: what comes is taken at once."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self.pieces = pieces
        self.comments: list[bytes] = []
        self.came: asyncio.Queue[Event] = asyncio.Queue()
        self.task = asyncio.create_task(self._take())

    async def _take(self) -> None:
        async for piece in self.pieces:
            for event in events_of(piece):
                self.came.put_nowait(event)
            if not events_of(piece):
                self.comments.append(piece)

    async def next(self, seconds: float = 5) -> Event:
        async with asyncio.timeout(seconds):
            return await self.came.get()

    async def until(self, name: str, seconds: float = 5) -> list[Event]:
        """Events up to and with the first of that name."""
        found: list[Event] = []
        async with asyncio.timeout(seconds):
            while not found or found[-1].name != name:
                found.append(await self.next(seconds))
        return found

    async def quiet(self, seconds: float = 0.3) -> bool:
        """Whether nothing comes for so long."""
        await asyncio.sleep(seconds)
        assert not self.task.done()
        return self.came.empty()


def events_of(wire: bytes) -> list[Event]:
    found = []
    for block in wire.decode().split("\n\n"):
        fields: dict[str, list[str]] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            fields.setdefault(name, []).append(value)
        if "event" in fields:
            found.append(Event("".join(fields.get("id", [])), fields["event"][0], "\n".join(fields["data"])))
    return found


@contextlib.asynccontextmanager
async def opened(desk: Desk, after: str | int = "", *, name: str = "dana", **headers: str) -> AsyncIterator[Reader]:
    """A stream of one of the desk's people; closed as a browser that leaves would."""
    viewer = await sync_to_async(viewer_of)(desk, name)
    pieces = stream._counted(viewer, desk.conversation.pk, sse.seq_of(str(after)))
    reader = Reader(pieces)
    try:
        yield reader
    finally:
        reader.task.cancel()
        await asyncio.gather(reader.task, return_exceptions=True)
        await pieces.aclose()


def viewer_of(desk: Desk, name: str) -> reading.Viewer:
    browser = desk.browser(name)
    return reading.Viewer(
        user_id=desk.cast[name].user_id,
        member_id=desk.cast[name].pk,
        tenant_id=desk.cast.tenant_id,
        session_key=browser.session.session_key,
        language="en",
        zone="America/Chicago",
    )


async def told(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a synchronous step of the story beside the stream."""
    return await asyncio.to_thread(function, *args, **kwargs)


async def get(desk: Desk, name: str | None, **headers: str) -> Any:
    browser = AsyncClient(headers=headers)
    if name:
        await sync_to_async(browser.force_login)(desk.cast[name].user)
    return await browser.get(f"{desk.url}events")


async def test_h50_the_headers_let_no_proxy_hold_it_back(desk: Desk):
    answer = await get(desk, "dana", accept_encoding="gzip")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/event-stream"
    assert answer["Cache-Control"] == "no-store"
    assert answer["X-Accel-Buffering"] == "no"
    assert not answer.has_header("Content-Encoding")
    assert not answer.has_header("Content-Length")
    assert answer.is_async


async def test_strangers_get_401_and_others_404_before_the_first_byte(desk: Desk):
    theirs = await sync_to_async(make_desk)(await sync_to_async(strangers)())
    assert (await get(desk, None)).status_code == 401
    assert (await get(desk, "alex")).status_code == 404
    foreign = AsyncClient()
    await sync_to_async(foreign.force_login)(theirs.cast.mallory.user)
    missing = await foreign.get(f"/c/{uuid.uuid4()}/events")
    answer = await foreign.get(f"{desk.url}events")
    assert (answer.status_code, answer.content) == (404, missing.content)


async def test_only_get_opens_a_stream(desk: Desk):
    browser = AsyncClient()
    await sync_to_async(browser.force_login)(desk.cast.dana.user)
    assert (await browser.post(f"{desk.url}events")).status_code == 405


async def test_what_changed_since_comes_first_each_change_with_its_number(desk: Desk):
    turn = await told(desk.turn, "running")
    first = await told(desk.say, "Hello", turn=turn)
    said = await told(desk.say, "I look.", turn=turn, role="assistant")
    await told(desk.call, said, "look_at_client")
    async with opened(desk) as reader:
        found = await reader.until("tool")
    assert [(event.id, event.name) for event in found] == [
        ("1", "turn"),
        ("2", "message"),
        ("3", "message"),
        ("4", "tool"),
    ]
    assert f'id="message-{first.pk}"' in found[1].data
    assert "<p>I look.</p>" in found[2].data
    async with opened(desk, after=3) as reader:
        assert (await reader.next()).id == "4"
    async with opened(desk, after=4) as reader:
        assert await reader.quiet()


async def test_an_id_from_nowhere_starts_at_the_beginning(desk: Desk):
    turn = await told(desk.turn)
    await told(desk.say, "Hello", turn=turn)
    for odd in ("999999", "x", "-3", "1.2.3"):
        async with opened(desk, after=odd) as reader:
            assert (await reader.next()).id == "1", odd


async def test_what_happens_now_comes_live(desk: Desk):
    turn = await told(desk.turn)
    async with opened(desk, after=await told(desk.seq)) as reader:
        assert await reader.quiet(0.2)
        await told(desk.say, "Hello", turn=turn)
        event = await reader.next()
        assert (event.name, event.id) == ("message", "2")
        action = await told(desk.propose, turn=turn)
        event = await reader.next()
    assert (event.name, event.id) == ("confirm", "3")
    data = dict(re.findall(r' data-(action|tool|label|summary|hash|status)="([^"]*)"', event.data.split(">")[0]))
    assert data == {
        "action": str(action.pk),
        "tool": "post_letter",
        "label": "Post a letter",
        "summary": "Post a letter to John Smith: Hello John.",
        "hash": action.digest,
        "status": "pending",
    }
    assert event.data.count('<section class="slip') == 1


async def test_t51_cut_right_before_and_right_after_the_card_there_is_one_card(desk: Desk):
    turn = await told(desk.turn)
    async with opened(desk, after=await told(desk.seq)) as reader:
        await told(desk.say, "post it", turn=turn)
        before = (await reader.until("message"))[-1].id
    await told(desk.propose, turn=turn)
    async with opened(desk, after=before) as reader:
        found = await reader.until("confirm")
        assert await reader.quiet()
    assert [event.name for event in found] == ["confirm"]
    async with opened(desk, after=found[-1].id) as reader:
        assert await reader.quiet()


async def test_t56_a_decision_reaches_every_open_page_within_five_seconds(desk: Desk):
    action = await told(desk.propose)
    seq = await told(desk.seq)
    async with opened(desk, after=seq) as one, opened(desk, after=seq) as two:
        browser = await sync_to_async(desk.browser)()
        await told(browser.post, desk.url_of(action, "cancel"), {"hash": action.digest})
        for reader in (one, two):
            found = (await reader.until("action"))[-1]
            assert f'id="action-{action.pk}"' in found.data
            assert 'data-state="cancelled"' in found.data
            assert f"{desk.url_of(action)}confirm" not in found.data


async def test_t56_also_when_the_layer_lost_the_news(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream, "REREAD_SECONDS", 0.2)
    monkeypatch.setattr(bus, "publish", lambda *args, **kwargs: None)
    action = await told(desk.propose)
    async with opened(desk, after=await told(desk.seq)) as reader:
        assert await reader.quiet(0.1)
        browser = await sync_to_async(desk.browser)()
        await told(browser.post, desk.url_of(action, "cancel"), {"hash": action.digest})
        assert (await reader.next()).name == "action"


def plain(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


def parts(event: Event) -> tuple[str, str]:
    """The finished blocks and the open one of a text event."""
    ready, tail = re.findall(r"<hx-partial [^>]*>(.*?)</hx-partial>", event.data, flags=re.DOTALL)
    return ready, tail


async def test_text_comes_in_frames_finished_blocks_once_and_the_open_one_replaced(desk: Desk):
    turn = await told(desk.turn)
    message = await told(desk.say, "", turn=turn, role="assistant", open=True)
    text = "First **block**.\n\nSecond block, which is still"
    async with opened(desk, after=await told(desk.seq)) as reader:
        snapshot = await reader.next()
        assert (snapshot.name, snapshot.id, parts(snapshot)) == ("text", "2.0", ("", ""))
        for at in range(0, len(text), 7):
            piece = text[at : at + 7]
            await bus.send_text(desk.conversation.pk, 2, message_id=message.pk, at=at, text=piece)
        ready, last = "", ""
        while not last.endswith("still"):
            event = await reader.next()
            more, tail = parts(event)
            ready, last = ready + more, plain(tail).strip()
    assert ready == "<p>First <strong>block</strong>.</p>\n"
    assert event.id == f"2.{len(text)}"


async def test_a_gap_in_the_frames_is_closed_from_the_row(desk: Desk):
    turn = await told(desk.turn)
    message = await told(desk.say, "", turn=turn, role="assistant", open=True)
    async with opened(desk, after=await told(desk.seq)) as reader:
        await reader.next()
        await bus.send_text(desk.conversation.pk, 2, message_id=message.pk, at=6, text="there, ")
        await bus.send_text(desk.conversation.pk, 2, message_id=message.pk, at=13, text="you")
        assert await reader.quiet(0.3)
        await told(desk.write, message, "Hello there")
        event = await reader.next()
    assert plain(parts(event)[1]).strip() == "Hello there, you"


async def test_frames_that_come_twice_or_overlap_are_shown_once(desk: Desk):
    turn = await told(desk.turn)
    message = await told(desk.say, "Hel", turn=turn, role="assistant", open=True)
    async with opened(desk, after=await told(desk.seq)) as reader:
        await reader.next()
        for at, piece in ((0, "Hel"), (1, "ello"), (3, "lo"), (5, "!")):
            await bus.send_text(desk.conversation.pk, 2, message_id=message.pk, at=at, text=piece)
        seen = ""
        while not seen.endswith("!"):
            seen = plain(parts(await reader.next())[1]).strip()
    assert seen == "Hello!"


async def test_a_reader_that_joins_in_the_middle_sees_the_whole_answer_at_once(desk: Desk):
    turn = await told(desk.turn)
    message = await told(desk.say, "", turn=turn, role="assistant", open=True)
    await told(desk.write, message, "One.\n\nTwo, and")
    async with opened(desk, after=await told(desk.seq)) as reader:
        event = await reader.next()
    assert (event.name, event.id) == ("text", "2.14")
    assert 'hx-swap="innerHTML"' in event.data.split(">")[0]
    ready, tail = parts(event)
    assert (plain(ready).strip(), plain(tail).strip()) == ("One.", "Two, and")


async def test_an_answer_that_is_finished_comes_as_a_whole_message(desk: Desk):
    turn = await told(desk.turn)
    message = await told(desk.say, "", turn=turn, role="assistant", open=True)
    async with opened(desk, after=await told(desk.seq)) as reader:
        await reader.next()
        await told(desk.write, message, "All **done**.", open=False)
        event = (await reader.until("message"))[-1]
        assert "<p>All <strong>done</strong>.</p>" in event.data
        assert "aria-busy" not in event.data
        await bus.send_text(desk.conversation.pk, 2, message_id=message.pk, at=0, text="late")
        assert await reader.quiet()


async def test_no_word_of_another_company_reaches_a_stream(desk: Desk):
    """J9: frames on mallory's conversation, and on dana's with mallory listening, stay apart."""
    theirs = await sync_to_async(make_desk)(await sync_to_async(strangers)())
    async with opened(desk) as dana, opened(theirs, name="mallory") as mallory:
        turn = await told(desk.turn)
        await told(desk.say, "a secret of dana", turn=turn)
        assert "a secret of dana" in (await dana.until("message"))[-1].data
        assert await mallory.quiet(0.5)


@pytest.mark.parametrize("loss", ["session", "password", "member", "access", "user"])
async def test_a_login_that_ends_ends_the_stream(desk: Desk, monkeypatch: pytest.MonkeyPatch, loss: str):
    monkeypatch.setattr(stream, "LOGIN_SECONDS", 0.2)
    await told(give_to_alex, desk)
    viewer = await sync_to_async(viewer_of)(desk, "alex")
    pieces = stream._counted(viewer, desk.conversation.pk, 0)
    await anext(pieces)
    assert await told(reading.still_here, viewer)
    await told(lose, desk, viewer, loss)
    events: list[Event] = []
    async with asyncio.timeout(5):
        async for piece in pieces:
            events += events_of(piece)
    assert events[-1].name == "error"
    assert 'data-code="signed_out"' in events[-1].data


def give_to_alex(desk: Desk) -> None:
    with desk.cast.scope():
        Conversation.objects.filter(pk=desk.conversation.pk).update(starter=desk.cast.alex)


def lose(desk: Desk, viewer: reading.Viewer, what: str) -> None:
    user = User.objects.get(pk=viewer.user_id)
    match what:
        case "session":
            reading.SessionStore(viewer.session_key).flush()
        case "password":
            user.set_password("another one entirely")
            user.save(update_fields=["password"])
        case "member":
            with desk.cast.scope():
                Membership.objects.filter(pk=viewer.member_id).update(active=False)
        case "access":
            Access.objects.filter(user=user).delete()
        case _:
            User.objects.filter(pk=user.pk).update(is_active=False)


async def test_h53_readers_that_leave_leave_nothing_behind(desk: Desk):
    """Fifty times: open, read one event, leave."""
    turn = await told(desk.turn)
    await told(desk.say, "Hello", turn=turn)
    tasks = {task.get_name() for task in asyncio.all_tasks()}
    for _ in range(50):
        async with opened(desk) as reader:
            await reader.next()
    await asyncio.sleep(0.2)
    left = [t.get_name() for t in asyncio.all_tasks() if t.get_name() not in tasks]
    assert [name for name in left if "stream" in name] == []
    assert stream.open_streams() == 0


async def test_h53_a_reader_cancelled_in_the_middle_of_anything_leaves_at_once(desk: Desk):
    await told(desk.turn)

    async def read(seconds: float) -> None:
        async with asyncio.timeout(seconds), opened(desk) as reader:
            while True:
                await reader.next(60)

    for hundredths in range(12):
        with contextlib.suppress(TimeoutError):
            await read(hundredths / 100)
    assert stream.open_streams() == 0


async def test_no_database_connection_is_held_while_nothing_happens(desk: Desk):
    """Settled question 26: each read gives its connection back."""
    async with opened(desk) as reader:
        await told(desk.turn)
        await reader.next()
        held = await asyncio.gather(*(reading.in_thread(lambda: connections["default"].connection) for _ in range(8)))
    assert held == [None] * 8


async def test_the_streams_of_one_person_are_bounded(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream, "STREAMS_FOR_ONE_PERSON", 2)
    async with opened(desk) as one, opened(desk) as two:
        await told(desk.turn)
        await one.next()
        await two.next()
        refused = await get(desk, "dana")
        assert (refused.status_code, refused["Retry-After"]) == (429, "10")
    assert (await get(desk, "dana")).status_code == 200


async def test_many_that_ask_in_the_same_instant_are_bounded_too(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    """Each was let in before any of the others counted; the second is sent away to come again later."""
    monkeypatch.setattr(stream, "STREAMS_FOR_ONE_PERSON", 1)
    async with opened(desk) as one:
        await told(desk.turn)
        await one.next()
        viewer = await sync_to_async(viewer_of)(desk, "dana")
        pieces = [piece async for piece in stream._counted(viewer, desk.conversation.pk, 0)]
        assert pieces == [sse.retry(stream.CROWDED_MS)]


async def test_a_silent_stream_sends_a_comment_now_and_then(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.1)
    async with opened(desk) as reader:
        await asyncio.sleep(1)
    assert reader.comments[0] == b"retry: 500\n\n"
    assert set(reader.comments[1:]) == {b": here\n\n"}


async def test_every_event_crosses_the_channel_layer(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    """With a layer that carries nothing, nothing arrives before the rows are read again."""

    async def nothing(*args: Any, **kwargs: Any) -> None:
        return None

    monkeypatch.setattr("assistant.layer.NotifyLayer.group_send", nothing)
    turn = await told(desk.turn)
    async with opened(desk, after=await told(desk.seq)) as reader:
        assert await reader.quiet(0.2)
        await told(desk.say, "Hello", turn=turn)
        assert await reader.quiet(0.6)


async def test_the_stream_sends_the_fragments_of_the_page(desk: Desk):
    turn = await told(desk.turn, "waiting")
    await told(desk.say, "post it", turn=turn)
    action = await told(desk.propose, turn=turn)
    browser = await sync_to_async(desk.browser)()
    page = (await told(browser.get, desk.url)).content.decode()
    async with opened(desk) as reader:
        sent = (await reader.until("confirm"))[-1].data
    card = re.compile(rf'<section class="slip[^>]*id="action-{action.pk}".*?</section>', re.DOTALL)
    token = re.compile(r'<input type="hidden" name="csrfmiddlewaretoken" value="[^"]*">')
    assert squeezed(card.search(sent)[0]) == squeezed(token.sub("", card.search(page)[0]))


def squeezed(html: str) -> str:
    return re.sub(r"\s+", " ", html)


async def test_a_turn_that_failed_is_an_error_event(desk: Desk):
    turn = await told(desk.turn)
    async with opened(desk, after=await told(desk.seq)) as reader:
        await told(desk.end, turn, "failed")
        found = await reader.until("error")
    assert [event.name for event in found] == ["turn", "error"]
    assert found[-1].id == found[0].id == "2"


async def test_changes_are_cut_where_the_conversation_was_read(desk: Desk):
    """A change that commits while the rows are read may not jump over one that is not seen yet."""
    turn = await told(desk.turn)
    await told(desk.say, "one", turn=turn)
    await told(desk.say, "two", turn=turn)
    viewer = await sync_to_async(viewer_of)(desk, "dana")

    def read_early() -> frames.Batch | None:
        with viewer.scope() as member:
            conversation = Conversation.objects.get(pk=desk.conversation.pk)
            conversation.seq = 2
            assert Message.objects.filter(conversation=conversation, seq__gt=2).count() == 1
            return frames.of_changes(conversation, member, 1)

    found = await told(read_early)
    assert [frame.seq for frame in found] == [2]


async def test_a_message_that_waited_moves_to_the_turn_that_takes_it_up(desk: Desk):
    turn = await told(desk.turn)
    waiting = await told(desk.say, "and then?", key=uuid.uuid4())
    async with opened(desk, after=await told(desk.seq)) as reader:
        await told(finish, desk, turn)
        found = [*await reader.until("turn"), *await reader.until("turn")]
    assert [event.name for event in found] == ["turn", "turn"]
    taken_up = found[-1].data
    assert f'id="message-{waiting.pk}"' in taken_up
    assert "Waits until" not in taken_up


def finish(desk: Desk, turn: Any) -> None:
    with desk.cast.scope():
        turns.finish(turns.hold(turn.pk), "done")


async def test_what_a_turn_shows_first_brings_what_stops_it(desk: Desk):
    """By the rows or ahead of them: the words of a message are here before the change that says that a turn works."""
    asked = uuid.uuid4()
    await told(desk.say, "Hello", key=asked)
    turn = await told(taken_up, desk)
    async with opened(desk) as reader:
        shown = await reader.next()
        works = await reader.next()
    assert (shown.name, works.name) == ("message", "turn")
    assert [STOP.findall(event.data) for event in (shown, works)] == [["2"], ["2"]]
    opening = bus.Opening(turn.pk, turn.ordinal, 7, turn.created_at, turn.created_at, 7)
    viewer = await sync_to_async(viewer_of)(desk, "dana")
    with viewer.words():
        first = frames.opened(uuid.uuid4(), opening)
    assert STOP.findall(first) == ["7"]
    assert "Working" in first
    await told(finish, desk, turn)
    async with opened(desk, after=2) as reader:
        over = await reader.next()
    assert (STOP.findall(over.data), "Working" in over.data) == ([], False)


STOP = re.compile(r'<span id="stopping" class="stopping" data-seq="([0-9]+)"><button')


def taken_up(desk: Desk) -> Turn:
    with desk.cast.scope():
        turn = turns.start_waiting_messages(desk.conversation.pk)
    assert turn is not None
    return turn


async def test_what_is_said_is_read_in_few_queries(desk: Desk):
    """Each piece of talk costs its streams a fixed, small number of statements, whatever was said before."""
    viewer = await sync_to_async(viewer_of)(desk, "dana")
    turn = await told(desk.turn)
    counted = []
    for _ in range(2):
        for _ in range(10):
            await told(desk.say, "hello", turn=turn)
        seq = await told(desk.seq)
        await told(desk.say, "Hi", turn=turn, role="assistant", open=True)
        counted.append(await told(statements, viewer, desk, seq))
    assert counted[0] == counted[1] <= 10


def statements(viewer: reading.Viewer, desk: Desk, after: int) -> int:
    with CaptureQueriesContext(connections["default"]) as queries:
        assert len(frames.changes(viewer, desk.conversation.pk, after).frames) == 1
    return len(queries)
