"""The bus cuts text into frames that any layer carries, and loses nothing quietly."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from channels.layers import get_channel_layer
from hypothesis import given
from hypothesis import strategies as st

from assistant import bus, events, layer
from assistant.models import PendingAction, Status

CONVERSATION = uuid.UUID("019adf00-0000-7000-8000-000000000001")


@pytest.fixture
async def db_layer(database_url: str) -> AsyncIterator[layer.NotifyLayer]:
    """The configured layer, with this test's connections only."""
    made = get_channel_layer()
    assert isinstance(made, layer.NotifyLayer)
    yield made
    await made.close()


@given(st.text(max_size=400), st.integers(min_value=4, max_value=64))
def test_frames_join_to_the_text_and_keep_to_the_limit(text: str, limit: int) -> None:
    pieces = list(bus.frames(text, limit))
    assert "".join(piece for _, piece in pieces) == text
    assert [at for at, _ in pieces] == [len("".join(p for _, p in pieces[:n])) for n in range(len(pieces))]
    assert all(0 < len(piece.encode()) <= limit for _, piece in pieces)


def test_a_full_text_frame_fits_into_one_notification() -> None:
    frame = {
        "type": bus.EVENT,
        "conversation": str(CONVERSATION),
        "kind": "text",
        "seq": 2**62,
        "message": str(CONVERSATION),
        "at": 2**31,
        "text": "\U0001f600" * (bus.FRAME_BYTES // 4),
    }
    made = get_channel_layer().serialize(frame)
    assert len(made) * 4 / 3 + 100 < layer.MAX_PAYLOAD_BYTES


async def test_a_slow_reader_is_told_that_it_missed_something() -> None:
    subscription = bus.Subscription()
    for number in range(bus.BACKLOG + 1):
        subscription.put({"type": bus.EVENT, "seq": number})
    assert subscription.missed
    received = [subscription.get_nowait() for _ in range(bus.BACKLOG)]
    assert [m["seq"] for m in received if m] == list(range(bus.BACKLOG))
    assert subscription.get_nowait() is None


async def test_a_gap_in_the_layer_counts_as_missed() -> None:
    subscription = bus.Subscription()
    subscription.put({"type": layer.GAP})
    assert subscription.missed
    assert await subscription.get(0) is None


async def test_the_wait_for_a_message_ends_in_time() -> None:
    async with asyncio.timeout(2):
        assert await bus.Subscription().get(0.01) is None


async def test_what_another_process_publishes_arrives_in_order(db_layer: layer.NotifyLayer) -> None:
    async with bus.subscribe(CONVERSATION) as subscription:
        for seq in range(1, 6):
            await bus.send(CONVERSATION, bus.Kind.ACTION, seq, action=uuid.UUID(int=seq))
        received = [await subscription.get(5) for _ in range(5)]
    assert [(m["kind"], m["seq"], m["action"]) for m in received if m] == [
        ("action", seq, str(uuid.UUID(int=seq))) for seq in range(1, 6)
    ]


async def test_a_long_text_arrives_whole(db_layer: layer.NotifyLayer) -> None:
    text = "água e sal, 10 € 😀 " * 700
    async with bus.subscribe(CONVERSATION) as subscription:
        await bus.send_text(CONVERSATION, 7, message_id=CONVERSATION, at=10, text=text)
        whole, at = "", 10
        while len(whole) < len(text):
            frame = await subscription.get(5)
            assert frame is not None and frame["at"] == at
            whole, at = whole + frame["text"], at + len(frame["text"])
    assert whole == text


async def test_synchronous_code_publishes_too(db_layer: layer.NotifyLayer) -> None:
    async with bus.subscribe(CONVERSATION) as subscription:
        await asyncio.to_thread(bus.publish, CONVERSATION, bus.Kind.TURN, 3, turn=CONVERSATION)
        message = await subscription.get(5)
    assert message is not None and (message["kind"], message["seq"]) == ("turn", 3)
    await asyncio.to_thread(bus.flush)


async def test_readers_of_other_conversations_receive_nothing(db_layer: layer.NotifyLayer) -> None:
    other = uuid.UUID(int=CONVERSATION.int + 1)
    async with bus.subscribe(CONVERSATION) as mine, bus.subscribe(other) as theirs:
        await bus.send(CONVERSATION, bus.Kind.ACTION, 1)
        assert await mine.get(5) is not None
        assert await theirs.get(0.2) is None


async def test_a_reader_that_leaves_leaves_nothing_behind(
    db_layer: layer.NotifyLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer, "LINGER_SECONDS", 0.2)
    before = asyncio.all_tasks()
    for _ in range(50):
        async with bus.subscribe(CONVERSATION) as subscription:
            await bus.send(CONVERSATION, bus.Kind.ACTION, 1)
            assert await subscription.get(5) is not None
    post = db_layer._post()
    assert (post._queues, post._groups) == ({}, {})
    assert post._listener is not None
    await asyncio.sleep(0.4)
    assert post._listener is None
    assert {task.get_name() for task in asyncio.all_tasks() - before if "stream" in task.get_name()} == set()


def test_a_run_that_begins_hurries_nobody_and_every_other_change_of_a_card_does() -> None:
    hurried = {status for status in Status if events._kind(PendingAction(status=status, seq=3)) in bus.URGENT}
    assert set(Status) - hurried == {Status.EXECUTING}
    assert events._kind(PendingAction(status=Status.PENDING, seq=0)) == bus.Kind.CONFIRM


async def test_the_listening_connection_waits_for_the_next_reader(db_layer: layer.NotifyLayer) -> None:
    async with bus.subscribe(CONVERSATION):
        post = db_layer._post()
        first = post._listener
    async with bus.subscribe(CONVERSATION) as subscription:
        assert post._listener is first
        assert post._hanging_up is None
        await bus.send(CONVERSATION, bus.Kind.ACTION, 1)
        assert await subscription.get(5) is not None


async def test_what_is_sent_together_goes_out_together_in_its_order(
    db_layer: layer.NotifyLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[int] = []
    execute = psycopg.AsyncConnection.execute

    async def counted(self: psycopg.AsyncConnection, query: str, params: Any = None, **more: Any) -> Any:
        if query == layer.NOTIFY:
            statements.append(len(params[0]))
        return await execute(self, query, params, **more)

    monkeypatch.setattr(psycopg.AsyncConnection, "execute", counted)
    async with bus.subscribe(CONVERSATION) as subscription:
        await asyncio.gather(*(bus.send(CONVERSATION, bus.Kind.ACTION, seq) for seq in range(1, 41)))
        received = [await subscription.get(5) for _ in range(40)]
    assert [message["seq"] for message in received if message] == list(range(1, 41))
    assert sum(statements) == 40
    assert len(statements) <= 3


async def test_a_statement_that_fails_is_told_to_each_sender(
    db_layer: layer.NotifyLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer, "NOTIFY", "SELECT 1 / 0 FROM unnest(%s::text[])")
    sent = await asyncio.gather(
        *(db_layer.group_send("conversation.x", {"type": bus.EVENT}) for _ in range(3)), return_exceptions=True
    )
    assert [type(error) for error in sent] == [psycopg.errors.DivisionByZero] * 3
    monkeypatch.undo()
    await asyncio.wait_for(db_layer.group_send("conversation.x", {"type": bus.EVENT}), 5)


async def test_a_lost_connection_is_announced_as_a_gap_and_mended(db_layer: layer.NotifyLayer) -> None:
    async with bus.subscribe(CONVERSATION) as subscription:
        await bus.send(CONVERSATION, bus.Kind.ACTION, 1)
        assert await subscription.get(5) is not None
        assert not subscription.missed
        await _end_sessions_that_listen(db_layer)
        async with asyncio.timeout(10):
            while not subscription.missed:
                await subscription.get(0.02)
        await bus.send(CONVERSATION, bus.Kind.ACTION, 2)
        message = await subscription.get(5)
    assert message is not None and message["seq"] == 2


async def test_a_message_beyond_one_notification_is_refused(db_layer: layer.NotifyLayer) -> None:
    with pytest.raises(layer.MessageTooLarge):
        await db_layer.group_send("conversation.x", {"type": bus.EVENT, "text": "x" * 8000})


async def _end_sessions_that_listen(db_layer: layer.NotifyLayer) -> None:
    conninfo = psycopg.conninfo.make_conninfo("", **db_layer.db_params)
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
        ended = await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE usename = current_user AND query = %s AND pid <> pg_backend_pid()",
            [f"LISTEN {layer.NOTIFY_CHANNEL}"],
        )
        assert await ended.fetchall()
