"""What an open inbox and the chat's badge are told, and that they are told within a second."""

import asyncio
import contextlib
import re
import time
import uuid
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.test import Client as Browser
from django.utils import timezone

from assistant import bus
from assistant.doors import inbox_stream, stream
from assistant.doors.inbox_frames import Look
from assistant.doors.inbox_lists import Filters, Tab, micros
from assistant.gate import approvals, execution
from assistant.gate.approvals import Click
from assistant.models import Conversation, Message, PendingAction, Turn
from ledger import jobs
from tests.assistant.doors.conftest import Desk, make_desk
from tests.assistant.doors.test_stream import Event, Reader, opened, told, viewer_of
from tests.cast import strangers

SOON = 4.0
"""A second on a machine with nothing else to do. What comes so soon came by the layer: nothing is read again by itself
meanwhile (`unhurried`).
"""


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_stream, "REREAD_SECONDS", 60.0)
    monkeypatch.setattr(stream, "REREAD_SECONDS", 60.0)
    monkeypatch.setattr(stream, "BADGE_REREAD_SECONDS", 60.0)


@contextlib.asynccontextmanager
async def watching(
    desk: Desk,
    name: str = "dana",
    tab: Tab = Tab.NEEDS,
    *,
    known: dict[uuid.UUID, int] | None = None,
    since: datetime | None = None,
    full: bool = False,
    filters: Filters | None = None,
) -> AsyncIterator[Reader]:
    """An open inbox of one of the desk's people, its first numbers read."""
    viewer = await sync_to_async(viewer_of)(desk, name)
    look = Look(tab, filters or Filters(), full=full, opened=timezone.now())
    pieces = stream.counted(viewer, inbox_stream._watch(viewer, look, known or {}, since))
    reader = Reader(pieces)
    try:
        yield reader
    finally:
        reader.task.cancel()
        await asyncio.gather(reader.task, return_exceptions=True)
        await pieces.aclose()


def shown(*actions: PendingAction) -> dict[uuid.UUID, int]:
    return {action.pk: action.seq for action in actions}


def number(event: Event, target: str) -> str:
    """What an event writes into one place of the page, as text."""
    found = re.search(rf'hx-target="#{target}"[^>]*>(.*?)</hx-partial>', event.data, re.DOTALL)
    return re.sub(r"<[^>]+>|\s", "", found[1]).replace("waitingforyou", "") if found else "?"


async def soon(reader: Reader, name: str) -> Event:
    """The next event of that name, which comes within a second."""
    return (await reader.until(name, SOON))[-1]


async def opening(reader: Reader) -> Event:
    """The first numbers; a first reader may wait for its process to listen."""
    return (await reader.until("counts"))[-1]


async def test_a_new_card_comes_to_the_end_of_an_open_inbox(desk: Desk):
    first = await told(desk.propose)
    async with watching(desk, known=shown(first)) as reader:
        assert number(await opening(reader), "count-needs") == "1"
        action = await told(desk.propose, "rename_client", name="Jon")
        came = await soon(reader, "confirm")
        assert 'hx-target="#cards" hx-swap="place"' in came.data
        assert f'id="entry-{action.pk}"' in came.data
        assert f"{desk.url_of(action)}confirm" in came.data
        assert "Waiting for you: Rename John Smith to Jon." in came.data
        orders = re.findall(r'id="entry-[^"]*" data-order="(\d+)"', came.data)
        assert int(orders[0]) >= first.pk.int >> 80
        numbers = await soon(reader, "counts")
        assert [number(numbers, place) for place in ("count-needs", "waiting-count", "waiting-above")] == ["2"] * 3
        assert "<title>(2) Approvals – Aval</title>" in numbers.data


async def test_a_page_without_room_says_how_many_are_new(desk: Desk):
    first = await told(desk.propose)
    async with watching(desk, known=shown(first), full=True) as reader:
        await opening(reader)
        await told(desk.propose, "rename_client", name="Jon")
        numbers = await soon(reader, "counts")
        assert number(numbers, "arrived") == "1new"
        assert await reader.quiet()


async def test_a_filtered_inbox_takes_in_what_fits(desk: Desk):
    async with watching(desk, filters=Filters(tool="post_letter")) as reader:
        await opening(reader)
        await told(desk.propose, "rename_client", name="Jon")
        assert (await reader.next(SOON)).name == "counts"
        await told(desk.propose)
        assert (await reader.next(SOON)).name == "confirm"


async def test_t56_a_decision_is_seen_on_every_surface_within_a_second(desk: Desk):
    """A card that dana and sam see: decided in one inbox, its buttons are gone in the other and in the chat."""
    action = await told(routed, desk)
    seq = await told(desk.seq)
    async with (
        opened(desk, after=seq) as chat,
        watching(desk, known=shown(action)) as mine,
        watching(desk, "sam", known=shown(action)) as theirs,
    ):
        for reader in (mine, theirs):
            await opening(reader)
        sam = await told(just_signed_in, desk)
        answer = await told(sam.post, desk.url_of(action, "confirm"), {"hash": action.digest, **STRONG})
        assert answer.status_code == 303
        for reader in (chat, mine, theirs):
            found = await soon(reader, "action")
            assert f'id="action-{action.pk}"' in found.data
            assert f"{desk.url_of(action)}confirm" not in found.data
            assert "Confirmed by Sam at" in found.data
        assert 'hx-target="#inbox" hx-swap="place"' in found.data


STRONG = {"held": "1", "reason": "agreed by telephone"}


def just_signed_in(desk: Desk) -> Browser:
    """Sam's browser, fresh enough for a strong card."""
    browser = desk.browser("sam")
    session = browser.session
    session["signed_in_at"] = time.time()
    session.save()
    return browser


def routed(desk: Desk, turn: Turn | None = None) -> PendingAction:
    """A payment that dana asks for and may not confirm: sam has to."""
    desk.cast.dana.approve_l3 = False
    with desk.cast.scope():
        desk.cast.dana.save(update_fields=["approve_l3"])
    action = desk.propose("pay_out", turn=turn, amount_cents=10_000)
    assert action.routed
    return action


async def test_t56_also_when_the_layer_lost_the_news(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(inbox_stream, "REREAD_SECONDS", 0.2)
    action = await told(desk.propose)
    monkeypatch.setattr(bus, "_deliver", nothing)
    async with watching(desk, known=shown(action)) as reader:
        await opening(reader)
        browser = await sync_to_async(desk.browser)()
        await told(browser.post, desk.url_of(action, "cancel"), {"hash": action.digest})
        assert 'data-state="cancelled"' in (await soon(reader, "action")).data


async def nothing(*args: object) -> None:
    return None


async def test_t58_the_badge_drops_when_the_sweep_expires_a_card_without_a_turn(desk: Desk):
    """In the inbox, and in the chat of another conversation, whose stream carries the badge by itself."""
    elsewhere = await told(other_conversation, desk)
    action = await told(desk.propose)
    assert action.turn_id is None
    viewer = await sync_to_async(viewer_of)(desk, "dana")
    chat = Reader(stream._counted(viewer, elsewhere.pk, 0, 1))
    try:
        async with watching(desk, known=shown(action)) as reader:
            assert number(await opening(reader), "waiting-count") == "1"
            await told(late, desk, action)
            await told(jobs.run, "expire_action", action.pk, desk.cast.tenant_id)
            card = await soon(reader, "action")
            assert 'data-state="expired"' in card.data
            assert "Nobody decided in time." in card.data
            numbers = await soon(reader, "counts")
            assert [number(numbers, place) for place in ("count-needs", "waiting-count")] == ["", ""]
            badge = await soon(chat, "badge")
            assert [number(badge, place) for place in ("waiting-count", "waiting-above")] == ["", ""]
    finally:
        chat.task.cancel()
        await asyncio.gather(chat.task, return_exceptions=True)
        await chat.pieces.aclose()
    assert await told(told_expired, desk, action) == 1


def told_expired(desk: Desk, action: PendingAction) -> int:
    with desk.cast.scope():
        return Message.objects.filter(action=action, role="record", code="expired").count()


def other_conversation(desk: Desk) -> Conversation:
    with desk.cast.scope():
        return Conversation.objects.create(starter=desk.cast.dana)


def late(desk: Desk, action: PendingAction) -> None:
    with desk.cast.scope():
        PendingAction.objects.filter(pk=action.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


async def test_t16_a_card_thirty_messages_up_changes_in_place(desk: Desk):
    """Sam confirms in the inbox what dana asked for: in her chat the card changes and nothing that came later."""
    turn = await told(desk.turn, "waiting")
    await told(desk.say, "Pay John back", turn=turn)
    action = await told(routed, desk, turn)
    later = await told(thirty_messages, desk)
    async with opened(desk, after=await told(desk.seq)) as chat:
        sam = await told(just_signed_in, desk)
        answer = await told(
            sam.post, desk.url_of(action, "confirm"), {"hash": action.digest, **STRONG}, headers={"HX-Request": "true"}
        )
        assert (answer.status_code, 'data-state="scheduled"' in answer.content.decode()) == (200, True)
        found = await soon(chat, "action")
    assert f'id="turn-{turn.pk}"' in found.data
    assert f'id="action-{action.pk}"' in found.data
    assert [message for message in later if str(message.pk) in found.data] == []
    page = (await told((await sync_to_async(desk.browser)()).get, desk.url)).content.decode()
    places = [page.index(f'id="action-{action.pk}"'), *(page.index(f'id="message-{one.pk}"') for one in later)]
    assert places == sorted(places)


def thirty_messages(desk: Desk) -> list[Message]:
    turn = desk.turn("done")
    return [desk.say(f"Message {number}", turn=turn, role="assistant") for number in range(30)]


async def test_what_an_earlier_connection_brought_is_told_how_it_ended(desk: Desk):
    """The page shows a card that its address does not name: it came by the stream, before the connection was lost."""
    action = await told(desk.propose)
    before = timezone.now()
    browser = await sync_to_async(desk.browser)()
    await told(browser.post, desk.url_of(action, "cancel"), {"hash": action.digest})
    async with watching(desk, since=before) as reader:
        found = await soon(reader, "action")
    assert 'hx-target="#inbox"' in found.data
    assert f'id="entry-{action.pk}"' in found.data
    async with watching(desk) as reader:
        assert (await reader.next(SOON)).name == "counts"


async def test_a_settled_doubt_is_told_to_every_open_inbox(desk: Desk):
    action = await told(in_doubt, desk)
    async with watching(desk, "sam", Tab.DOUBT, known=shown(action)) as reader:
        assert number(await opening(reader), "count-doubt") == "1"
        browser = await sync_to_async(desk.browser)()
        given = {"done": "1", "note": "John says that it came"}
        answer = await told(browser.post, desk.url_of(action, "settle"), given, headers={"HX-Request": "true"})
        assert (answer.status_code, "John says that it came" in answer.content.decode()) == (200, True)
        found = await soon(reader, "action")
        assert 'data-state="executed"' in found.data
        assert f"{desk.url_of(action)}settle" not in found.data
        assert number(await soon(reader, "counts"), "waiting-count") == ""


def in_doubt(desk: Desk) -> PendingAction:
    action = desk.propose()
    with desk.cast.scope():
        click = Click(action.pk, action.conversation_id, desk.cast.dana, action.digest)
        assert approvals.confirm(click).kind == "decided"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.support.provider.FileProvider.send", broken)
        execution.execute(desk.cast.tenant_id, action.pk)
    found = desk.fresh(action)
    assert found.status == "in_doubt"
    return found


def broken(*args: object) -> None:
    raise TimeoutError


async def get(desk: Desk, name: str | None, query: str) -> object:
    browser = AsyncClient()
    if name:
        await sync_to_async(browser.force_login)(desk.cast[name].user)
    return await browser.get(f"/inbox/events{query}")


async def test_t64_a_stream_shows_nobody_a_card_by_its_id(desk: Desk):
    """The address says which cards the page has; a card that is not the reader's comes to nobody by that."""
    action = await told(desk.propose)
    theirs = await sync_to_async(make_desk)(await sync_to_async(strangers)())
    for home, name in ((desk, "alex"), (theirs, "mallory")):
        async with watching(home, name, known={action.pk: 0}) as reader:
            event = await reader.next(SOON)
            assert (event.name, str(action.pk) in event.data) == ("counts", False)
            assert await reader.quiet()
    async with watching(desk, known={action.pk: 0}) as reader:
        assert str(action.pk) in (await soon(reader, "action")).data


async def test_who_may_open_the_stream(desk: Desk):
    assert (await get(desk, None, "?tab=needs")).status_code == 401
    assert (await get(desk, "dana", "?tab=nonsense")).status_code == 404
    answer = await get(desk, "dana", f"?tab=needs&shown=x.y,,1.2&at={micros(timezone.now())}&after=%00")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/event-stream")
    assert (answer["Cache-Control"], answer["X-Accel-Buffering"]) == ("no-store", "no")
