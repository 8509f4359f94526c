"""The runner in this process: it hears, claims, stops, rests, and gives up what it holds."""

import asyncio
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from assistant import turns
from assistant.agent import claiming, history, inbox, runner, steps
from assistant.agent.claimed import ClaimLost
from assistant.agent.runner import Runner
from assistant.models import Conversation, Message, Turn
from ledger import tenancy
from ledger.models import Due
from tests.assistant.agent.desk import Desk, a_desk
from tests.assistant.agent.talk import Talk, call, say, step, talking

LOOK = call("look_at_client", "c1", client_ref="C-0001")


@pytest.fixture(autouse=True)
def nothing_else_is_due():
    Due.objects.filter(kind=turns.KIND).delete()


@contextmanager
def running(talk: Talk, count: int = 1, **options: int) -> Iterator[list[Runner]]:
    """So many runners in the stage's loop, until the block ends."""
    runners = [Runner(model=talk.endpoint.model, **options) for _ in range(count)]
    tasks = [asyncio.run_coroutine_threadsafe(one.run(), talk.stage.loop) for one in runners]
    try:
        yield runners
    finally:
        for one in runners:
            talk.stage.loop.call_soon_threadsafe(one.stop)
        for task in tasks:
            task.result(30)


def until(condition: Callable[[], bool], seconds: float = 30) -> float:
    """Wait for the condition; the seconds that it took."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, "it did not come to pass"
        time.sleep(0.03)
    return time.monotonic() - started


def rests(talk: Talk) -> Callable[[], bool]:
    return lambda: talk.turn().status not in turns.BUSY


def test_a_message_is_heard_of_by_notification(monkeypatch):
    monkeypatch.setattr(runner, "LOOK_SECONDS", 60.0)
    with talking(step(say("Hello!"))) as talk, running(talk):
        until(lambda: talk.stage.endpoint is not None, 1)
        time.sleep(0.5)
        talk.post("hello")
        assert until(rests(talk)) < 15
        assert (talk.turn().status, talk.replies()) == (Turn.Status.DONE, ["Hello!"])
        assert not Due.objects.filter(kind=turns.KIND).exists()


def test_a_lost_notification_costs_a_second_and_nothing_else(monkeypatch):
    monkeypatch.setattr(turns, "notify", lambda word="": None)
    with talking(step(say("Hello!"))) as talk, running(talk):
        time.sleep(0.5)
        talk.post("hello")
        until(rests(talk))
        assert talk.replies() == ["Hello!"]


def test_a_stop_closes_the_models_stream_at_once_and_keeps_what_was_said():
    with talking(step(say("Half a sen"), {"silence": True})) as talk, running(talk):
        talk.post("tell me a long story")
        until(lambda: talk.endpoint.app.open_streams == 1)
        until(lambda: talk.messages(role="assistant")[-1].text == "Half a sen")
        talk.stop()
        assert until(lambda: talk.endpoint.app.open_streams == 0) < 1
        until(rests(talk))
        (reply,) = talk.messages(role="assistant")
        assert (reply.text, reply.open, reply.code) == ("Half a sen", False, "stopped_here")
        assert (talk.turn().status, talk.lines()) == (Turn.Status.STOPPED, ["stopped"])
        talk.history()


def test_a_stop_does_not_wait_for_a_tool_and_undoes_it():
    slow = call("tag_slowly", client_ref="C-0001", tag="late", seconds=0.9)
    with talking(step(slow, LOOK)) as talk, running(talk):
        talk.post("tag him")
        until(lambda: [c.status for c in talk.calls()] == ["running", "queued"])
        talk.stop()
        until(rests(talk))
        assert [c.status for c in talk.calls()] == ["skipped", "skipped"]
        time.sleep(1.5)
        assert talk.client_now().tags == []
        assert "the person stopped the assistant" in talk.history()[-1]["content"]


def test_a_stop_whose_notification_was_lost_is_noticed_by_the_next_pulse(monkeypatch):
    with talking(step({"silence": True})) as talk, running(talk):
        talk.post("hello")
        until(lambda: talk.endpoint.app.open_streams == 1)
        monkeypatch.setattr(turns, "notify", lambda word="": None)
        talk.stop()
        until(rests(talk), 10)
        assert talk.turn().status == Turn.Status.STOPPED


def test_two_runners_never_run_one_turn_twice():
    with talking({"when": {}, "do": [say("Hello!")]}) as talk, running(talk, 2):
        with talk.scope():
            others = [inbox.new_conversation(by=talk.cast.owner) for _ in range(12)]
        for conversation in others:
            with talk.scope():
                inbox.post_message(conversation.pk, by=talk.cast.owner, text="hello", key=uuid.uuid4(), door="web")

        def all_done() -> bool:
            with talk.scope():
                return Turn.objects.filter(status="done").count() == 12

        until(all_done)
        with talk.scope():
            assert Message.objects.filter(role="assistant").count() == 12
            assert set(Turn.objects.values_list("calls", flat=True)) == {1}
        assert len(talk.endpoint.requests) == 12


def test_many_turns_run_at_once_on_few_connections():
    waits = {"when": {}, "do": [say("One moment. "), {"delay": 4}, say("Done.")]}
    with talking(waits, idle_seconds=60.0) as talk:
        before = connections_now()
        with talk.scope():
            conversations = [inbox.new_conversation(by=talk.cast.owner) for _ in range(40)]
            for conversation in conversations:
                inbox.post_message(conversation.pk, by=talk.cast.owner, text="go", key=uuid.uuid4(), door="web")
        with running(talk):
            until(lambda: talk.endpoint.app.open_streams >= 20)
            assert connections_now() - before <= 24

            def all_done() -> bool:
                with talk.scope():
                    return Turn.objects.filter(status="done").count() == 40

            until(all_done, 60)


def connections_now() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        count: int = cursor.fetchone()[0]
        return count


def test_a_runner_takes_no_more_turns_than_it_may():
    with talking({"when": {}, "do": [say("x"), {"delay": 0.3}, say("y")]}) as talk:
        with talk.scope():
            for _ in range(5):
                conversation = inbox.new_conversation(by=talk.cast.owner)
                inbox.post_message(conversation.pk, by=talk.cast.owner, text="go", key=uuid.uuid4(), door="web")
        seen = []
        with running(talk, most=2):

            def all_done() -> bool:
                seen.append(talk.endpoint.app.open_streams)
                with talk.scope():
                    return Turn.objects.filter(status="done").count() == 5

            until(all_done)
        assert max(seen) <= 2


def test_a_runner_that_goes_away_gives_its_turns_back_and_another_goes_on(monkeypatch):
    monkeypatch.setattr(runner, "DRAIN_SECONDS", 0.5)
    with talking(step(say("Half a"), {"silence": True}), step(say("Whole.")), idle_seconds=60.0) as talk:
        with running(talk):
            talk.post("hello")
            until(lambda: talk.messages(role="assistant") != [] and talk.messages(role="assistant")[-1].text != "")
        turn = talk.turn()
        assert (turn.status, turn.claim) == (Turn.Status.QUEUED, None)
        talk.history()
        with running(talk):
            until(rests(talk))
        assert (talk.turn().status, talk.replies()) == (Turn.Status.DONE, ["Half a", "Whole."])
        assert [(m.code, m.open) for m in talk.messages(role="assistant")] == [("cut_off", False), ("", False)]


def test_a_silent_runners_turn_is_taken_over_and_it_writes_nothing_more():
    desk = a_desk()
    desk.post("look")
    old = desk.claim()
    step = desk.next(old)
    assert isinstance(step, steps.Speak)
    steps.save_text(old, step.message_id, "Half a sen")
    assert claiming.claim(desk.cast.tenant_id, old.turn_id) is None
    desk.silence()
    new = desk.claim()
    for write in (
        lambda: steps.save_text(old, step.message_id, "Half a sentence"),
        lambda: desk.finish(old, step, "A sentence.", ("look_at_client", {"client_ref": "C-0001"})),
        lambda: steps.fail(old, Turn.Status.FAILED, steps.Line.UNAVAILABLE, "", 0),
        lambda: steps.release(old),
        lambda: steps.end_stopped(old, None),
    ):
        with pytest.raises(ClaimLost):
            write()
    assert [(m.text, m.code) for m in desk.messages(role="assistant")] == [("Half a sen", "cut_off")]
    desk.end(new, "A whole one.")
    assert [m["content"] for m in desk.history()] == ["look", "A whole one."]


def test_a_call_of_a_dead_runner_runs_once_again_and_no_card_is_made_twice():
    desk = a_desk()
    desk.post("tag and rename")
    old = desk.claim()
    calls = (
        ("tag_client", {"client_ref": "C-0001", "tag": "t"}),
        ("rename_client", {"client_ref": "C-0001", "name": "J"}),
    )
    first = desk.reply(old, "Both.", *calls)
    desk.silence()
    new = desk.claim()
    again = desk.next(new)
    assert isinstance(again, steps.RunCalls)
    assert again == first
    desk.run_calls(new, again)
    with pytest.raises(ClaimLost):
        desk.next(old)
    desk.run_calls(old, first)
    assert (desk.client_now().tags, len(desk.cards())) == (["t"], 1)
    desk.next(new)
    assert desk.turns()[0].status == Turn.Status.WAITING
    desk.history()


def test_a_turn_that_kills_its_runners_is_given_up_in_the_end():
    desk = a_desk()
    desk.post("look")
    claimed = desk.claim()
    desk.reply(claimed, "", ("look_at_client", {"client_ref": "C-0001"}))
    seen = []
    for _ in range(claiming.MOST_TAKEOVERS):
        desk.silence()
        assert claiming.claim(desk.cast.tenant_id, claimed.turn_id) is not None
        seen.append(desk.calls()[0].status)
    assert seen == ["running", "skipped", "skipped"]
    desk.silence()
    assert claiming.claim(desk.cast.tenant_id, claimed.turn_id) is None
    turn = desk.turns()[0]
    assert (turn.status, turn.problem) == (Turn.Status.INTERRUPTED, "process_stopped")
    assert not Due.objects.filter(kind=turns.KIND, object_id=turn.pk).exists()
    desk.history()


def test_the_days_usage_is_written_last_for_every_turn_of_the_company_waits_for_it():
    desk = a_desk()
    desk.post("hello")
    claimed = desk.claim()
    speak = desk.next(claimed)
    assert isinstance(speak, steps.Speak)
    with CaptureQueriesContext(connection) as asked:
        desk.finish(claimed, speak, "Hello.")
    changes = [one["sql"] for one in asked.captured_queries if re.search("INSERT|UPDATE|DELETE", one["sql"])]
    assert [("assistant_dailyusage" in sql) for sql in changes] == [False] * (len(changes) - 1) + [True]


def test_a_promise_for_a_turn_that_needs_nothing_is_forgotten():
    desk = a_desk()
    desk.post("hello")
    desk.end(desk.claim())
    with desk.scope():
        turns.queue(desk.turns()[0])
    assert claiming.claim(desk.cast.tenant_id, desk.turns()[0].pk) is None
    assert not Due.objects.filter(kind=turns.KIND, object_id=desk.turns()[0].pk).exists()
    with tenancy.tenant(desk.cast.tenant_id):
        assert Conversation.objects.count() == 1


@contextmanager
def held_elsewhere(desk: Desk, take: Callable[[], object], *, seconds: float = 20) -> Iterator[threading.Thread]:
    """Another transaction that holds what it takes until the end of the block, for so many seconds at most."""
    holding, given = threading.Event(), threading.Event()

    def hold() -> None:
        with desk.scope():
            take()
            holding.set()
            given.wait(seconds)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert holding.wait(20)
    yield holder
    given.set()
    holder.join()


def test_locks_are_taken_conversation_first():
    desk = a_desk()
    desk.post("hello")
    turn = desk.turns()[0]

    def hold_both() -> None:
        with desk.scope():
            turns.hold(turn.pk)
        connection.close()

    waiting = threading.Thread(target=hold_both)
    with held_elsewhere(desk, lambda: Turn.objects.select_for_update(no_key=True).get(pk=turn.pk)):
        waiting.start()
        until(lambda: waits_for_a_lock(desk))
        with pytest.raises(OperationalError), desk.scope():
            Conversation.objects.select_for_update(no_key=True, nowait=True).get(pk=desk.conversation.pk)
    waiting.join()


def waits_for_a_lock(desk: Desk) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return cursor.fetchone()[0] > 0


def test_a_pick_is_one_runners_for_a_lease():
    desk = a_desk()
    desk.post("hello")
    assert claiming.pick(10) == [(desk.cast.tenant_id, desk.turns()[0].pk)]
    assert claiming.pick(10) == []


def test_a_pick_waits_for_no_conversation_that_somebody_holds():
    desk = a_desk()
    desk.post("hello")
    turn = desk.turns()[0]
    with held_elsewhere(desk, lambda: turns.hold_conversation(desk.conversation.pk), seconds=5) as holder:
        picked = claiming.pick_and_begin(10, developer=False, window=history.Window())
        waited = not holder.is_alive()
    assert (picked, waited) == (([(desk.cast.tenant_id, turn.pk)], None), False)
    assert claiming.claim(desk.cast.tenant_id, turn.pk) is not None


def test_a_pulse_renews_leases_and_tells_of_stops():
    desk = a_desk()
    desk.post("hello")
    claimed = desk.claim()
    before = desk.turns()[0].lease_until
    time.sleep(0.05)
    pulse = claiming.renew(claimed.tenant_id, [claimed.token, uuid.uuid4()])
    assert (pulse.held, pulse.stopped) == ({claimed.token}, frozenset())
    assert desk.turns()[0].lease_until > before
    desk.stop()
    assert claiming.renew(claimed.tenant_id, [claimed.token]).stopped == {claimed.token}
