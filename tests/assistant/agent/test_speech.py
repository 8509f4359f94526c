"""A reply while it is spoken: frames at their pace, the row now and then, neither waiting for the other."""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import pytest

from assistant import bus
from assistant.agent import speech
from assistant.agent.claimed import Claimed, ClaimLost
from assistant.agent.failures import ModelInterrupted
from assistant.agent.replies import Finished, Reply, TextDelta
from assistant.agent.speech import Speech
from assistant.agent.steps import Speak
from assistant.bus import Opening

CLAIMED = Claimed(*(uuid.uuid4() for _ in range(4)))
OPENING = Opening(uuid.uuid4(), 1, 7, datetime.now(UTC), datetime.now(UTC), 9)
STEP = Speak(uuid.uuid4(), 7, OPENING, [], [])


class Heard:
    """What was sent and saved, and when (seconds from the start)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, pace: float = 0.05) -> None:
        self.frames: list[tuple[int, str]] = []
        self.saved: list[str] = []
        self.times: list[float] = []
        self.delay = 0.0
        self.speech = Speech(CLAIMED, STEP, pace=lambda: pace, save=self.save)
        monkeypatch.setattr(bus, "send_text", self.send)

    async def send(
        self, conversation: uuid.UUID, seq: int, *, message_id: uuid.UUID, at: int, text: str, **more: object
    ) -> None:
        assert (conversation, seq, message_id) == (CLAIMED.conversation_id, STEP.seq, STEP.message_id)
        await asyncio.sleep(self.delay)
        self.times.append(asyncio.get_running_loop().time())
        self.frames.append((at, text))

    async def save(self, text: str) -> None:
        self.saved.append(text)


async def words(*pieces: str | float, end: Any = None) -> AsyncGenerator[Any, None]:
    """Text and pauses, then the end: the whole reply, or what is raised."""
    said = ""
    for piece in pieces:
        if isinstance(piece, str):
            said += piece
            yield TextDelta(piece)
        else:
            await asyncio.sleep(piece)
    if end is not None:
        raise end
    yield Finished(Reply(said, (), "stop", None, complete=True))


async def test_the_first_frame_leaves_at_once_and_the_others_at_their_pace(monkeypatch):
    heard = Heard(monkeypatch, pace=0.3)
    started = asyncio.get_running_loop().time()
    reply = await heard.speech.listen(words("Hel", "lo ", 0.02, "th", "ere", 0.7, "!"))
    assert "".join(text for _, text in heard.frames) == reply.text == "Hello there!"
    ends = [0]
    for at, text in heard.frames:
        assert at == ends[-1]
        ends.append(at + len(text))
    assert heard.times[0] - started < 0.25
    assert all(later - earlier > 0.28 for earlier, later in zip(heard.times[:-1], heard.times[1:-1], strict=False))
    assert len(heard.frames) <= 4


@pytest.mark.parametrize("now", [0.0, 17.03, 17.079, 1_000_000.01])
def test_frames_of_several_replies_leave_on_a_beat_that_they_share(now):
    wait = speech.until_the_next(0.04, now)
    assert 0.0399 < wait <= 0.0601
    assert abs(((now + wait) / 0.02) - round((now + wait) / 0.02)) < 1e-3


async def test_text_is_saved_at_a_finished_block_and_after_half_a_second(monkeypatch):
    monkeypatch.setattr(speech, "SAVE_SECONDS", 0.2)
    heard = Heard(monkeypatch)
    await heard.speech.listen(words("One.\n", "\nTwo", 0.05, " and", 0.6, " three."))
    assert heard.saved[0] == "One.\n\nTwo"
    assert "One.\n\nTwo and" in heard.saved
    assert len(heard.saved) <= 4


async def test_a_hundred_tokens_are_not_a_hundred_writes(monkeypatch):
    heard = Heard(monkeypatch)
    await heard.speech.listen(words(*[piece for n in range(100) for piece in (f"{n} ", 0.002)]))
    assert len(heard.saved) <= 2
    assert len(heard.frames) <= 15


async def test_a_layer_that_hangs_does_not_hold_the_reply_up(monkeypatch):
    monkeypatch.setattr(speech, "SEND_SECONDS", 0.1)
    heard = Heard(monkeypatch)
    heard.delay = 60
    reply = await asyncio.wait_for(heard.speech.listen(words("Hello ", 0.05, "there")), 5)
    assert (reply.text, heard.frames) == ("Hello there", [])


async def test_what_was_said_before_a_failure_stays(monkeypatch):
    heard = Heard(monkeypatch)
    with pytest.raises(ModelInterrupted):
        await heard.speech.listen(words("Half a sen", end=ModelInterrupted("cut")))
    assert (heard.speech.text, heard.frames) == ("Half a sen", [(0, "Half a sen")])


async def test_a_lost_claim_ends_the_model_call(monkeypatch):
    monkeypatch.setattr(speech, "SAVE_SECONDS", 0.05)
    heard = Heard(monkeypatch)

    async def lost(text: str) -> None:
        raise ClaimLost

    heard.speech = Speech(CLAIMED, STEP, pace=lambda: 0.05, save=lost)
    with pytest.raises(ClaimLost):
        await asyncio.wait_for(heard.speech.listen(words("Half", 60.0)), 5)


async def test_a_cancelled_speech_closes_the_models_stream(monkeypatch):
    heard, closed = Heard(monkeypatch), asyncio.Event()

    async def endless() -> AsyncGenerator[Any, None]:
        try:
            yield TextDelta("Half")
            await asyncio.sleep(60)
        finally:
            closed.set()

    task = asyncio.create_task(heard.speech.listen(endless()))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()
    assert heard.speech.text == "Half"
