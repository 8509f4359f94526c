"""What a person writes, stops and tries again; without a model."""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from assistant.agent import inbox, lines, steps
from assistant.agent.claimed import StopRequested
from assistant.gate import approvals
from assistant.models import Conversation, Decision, Status, Turn
from ledger import audit
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import AuditEvent, Due, Role
from tests.assistant.agent.desk import a_desk
from tests.support.phrases import NO, YES

BARE = [
    "sim",
    "Sim!",
    "confirmo",
    "CONFIRMAR",
    "pode",
    "ok",
    "Ok.",
    "yes",
    "confirm",
    "siiim",
    "yesss",
    "ok ok",
    "comfirmo",
]
NOT_BARE = [
    "no",
    "não",
    "ok but change the total",
    "yes please send it",
    "confirmed?",
    "don't confirm",
    "simples",
    "what?",
]


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """So many threads at the same time, each with a connection of its own."""

    def run(number: int) -> Any:
        try:
            return work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


def test_a_message_makes_a_queued_turn_in_one_transaction():
    desk = a_desk()
    posted = desk.post("send the Smith quote")
    assert (posted.turn.status, posted.turn.ordinal, posted.again) == (Turn.Status.QUEUED, 1, False)
    assert (posted.message.text, posted.message.turn_id, posted.message.author) == (
        "send the Smith quote",
        posted.turn.pk,
        desk.cast.owner,
    )
    assert Due.objects.filter(kind="turn", object_id=posted.turn.pk).count() == 1


def test_H22_the_same_form_five_times_at_once_is_one_message():
    desk, key = a_desk(), uuid.uuid4()
    posted = at_once(5, lambda _: desk.post("hello", key=key))
    assert {p.message.pk for p in posted} == {desk.messages()[0].pk}
    assert sorted(p.again for p in posted) == [False, True, True, True, True]
    assert (len(desk.messages()), len(desk.turns())) == (1, 1)
    desk.post("hello")
    assert [m.text for m in desk.messages()] == ["hello", "hello"]


def test_messages_of_two_tabs_at_once_are_both_kept_and_run_in_turn():
    desk = a_desk()
    at_once(6, lambda n: desk.post(f"message {n}"))
    assert len(desk.messages()) == 6
    assert [turn.status for turn in desk.turns()] == [Turn.Status.QUEUED]
    claimed = desk.claim()
    desk.end(claimed)
    assert [turn.status for turn in desk.turns()] == [Turn.Status.DONE, Turn.Status.QUEUED]
    assert all(message.turn_id for message in desk.messages())


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b\u200d", "\x00"])
def test_nothing_is_not_a_message(text):
    desk = a_desk()
    with pytest.raises(DomainError) as refused:
        desk.post(text)
    assert (refused.value.code, desk.messages()) == ("EMPTY", [])


def test_a_message_has_8000_characters_at_most():
    desk = a_desk()
    with pytest.raises(DomainError) as refused:
        desk.post("x" * 8001)
    assert refused.value.code == "TOO_LONG"
    assert desk.post("x" * 8000).message.text == "x" * 8000


def test_hidden_characters_do_not_get_in():
    assert a_desk().post("pay \u202e001 now\r\nok\ufeff").message.text == "pay 001 now\nok"


def test_a_conversation_is_called_by_its_first_words():
    desk = a_desk()
    desk.post("  Please look whether the quote for the Smith house on Cedar Bend went out yesterday\nthanks")
    desk.post("something else")
    with desk.scope():
        title = Conversation.objects.get(pk=desk.conversation.pk).title
    assert title == "Please look whether the quote for the Smith house on Cedar…"


def test_anybody_elses_conversation_is_not_there():
    desk = a_desk()
    for who in (desk.cast.sam, desk.cast.alex):
        with pytest.raises(NotFound):
            desk.post("hello", by=who)
        with desk.scope(), pytest.raises(NotFound):
            inbox.stop(desk.conversation.pk, by=who)
    with desk.scope(), pytest.raises(NotFound):
        inbox.post_message(uuid.uuid4(), by=desk.cast.owner, text="hello", key=uuid.uuid4(), door="web")
    assert desk.messages() == []


def test_one_who_left_the_company_writes_nothing():
    desk = a_desk()
    with desk.scope():
        alex = desk.cast.alex
        alex.active = False
        with pytest.raises(NotAllowed):
            inbox.new_conversation(by=alex)
    assert alex.role == Role.SALES


def test_a_message_during_a_run_waits_and_begins_the_next_turn():
    desk = a_desk()
    desk.post("first")
    claimed = desk.claim()
    second, third = desk.post("second"), desk.post("third")
    assert (second.turn, third.turn) == (None, None)
    desk.end(claimed)
    first, following = desk.turns()
    assert (first.status, following.status, following.ordinal) == (Turn.Status.DONE, Turn.Status.QUEUED, 2)
    assert [m.text for m in desk.messages(turn=following)] == ["second", "third"]


def test_no_more_than_twenty_messages_wait_for_a_run():
    desk = a_desk()
    desk.post("first")
    desk.claim()
    for number in range(20):
        desk.post(f"{number}")
    with pytest.raises(DomainError) as refused:
        desk.post("one too many")
    assert (refused.value.code, len(desk.messages())) == ("TOO_MANY_WAITING", 21)


def test_H43_T43_a_new_message_expires_the_card_and_is_told_to_the_model_in_order():
    desk = a_desk()
    card = desk.card("rename_client", name="Joe")
    posted = desk.post("wait, what is the total?")
    assert posted.turn.ordinal == 2
    assert (desk.fresh(card).status, desk.fresh(card).closed_by) == (Status.EXPIRED, "new_message")
    assert desk.turns()[0].status == Turn.Status.DONE
    messages = desk.history()
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "developer", "user"]
    assert '"note": "proposed, NOT executed, do not call again"' in messages[2]["content"]
    assert desk.records() == [
        {
            "event": "expired",
            "tool": "rename_client",
            "action": str(card.pk),
            "summary": card.summary,
            "executed": False,
            "closed_by": "new_message",
            "note": "not executed",
        }
    ]
    assert messages[-1]["content"] == "wait, what is the total?"


def test_a_bare_yes_points_to_the_card_and_decides_nothing():
    desk = a_desk()
    card = desk.card("rename_client", name="Joe")
    for text in BARE:
        posted = desk.post(text)
        assert (posted.turn, posted.message.silent, posted.line.code) == (None, True, "point_to_card"), text
    assert (desk.fresh(card).status, len(desk.turns())) == (Status.PENDING, 1)
    assert desk.turns()[0].status == Turn.Status.WAITING
    assert [m["content"] for m in desk.history() if m["role"] == "user"] == ["please"]
    with desk.scope():
        assert not Decision.objects.exists()


def test_anything_more_than_a_bare_yes_is_an_ordinary_message():
    desk = a_desk()
    for text in NOT_BARE:
        card = desk.card("rename_client", name="Joe")
        assert desk.post(text).turn is not None, text
        assert desk.fresh(card).status == Status.EXPIRED, text
        desk.end(desk.claim())


def test_T75_a_bare_yes_with_no_card_open_is_an_ordinary_message():
    desk = a_desk()
    assert desk.post("siiim").turn.ordinal == 1


def test_a_card_whose_time_is_over_is_not_pointed_to():
    desk = a_desk()
    card = desk.card("rename_client", name="Joe")
    with desk.scope():
        type(card).objects.filter(pk=card.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert desk.post("ok").turn.ordinal == 2


def test_T75_a_bare_yes_with_two_cards_open_names_both_and_decides_neither():
    desk = a_desk()
    cards = desk.put_up(("rename_client", {"name": "Joe"}), ("post_letter", {"text": "Hello"}))
    line = desk.post("ok").line
    assert line.params["cards"] == [card.summary for card in cards]
    assert all(card.summary[:-1] in lines.sentence(line.code, line.params) for card in cards)
    assert [desk.fresh(card).status for card in cards] == [Status.PENDING, Status.PENDING]


def test_T74_no_phrase_of_sixty_decides_a_card_in_the_web_chat():
    desk = a_desk()
    card = desk.propose("rename_client", name="Joe")
    for phrase in [*YES, *NO]:
        desk.post(phrase)
        card = desk.fresh(card)
        assert card.status in (Status.PENDING, Status.EXPIRED), phrase
        assert card.status == Status.EXPIRED or phrase in YES, phrase
        if card.status == Status.EXPIRED:
            desk.withdraw_waiting()
            card = desk.propose("rename_client", name="Joe")
    assert len([*YES, *NO]) == 60
    with desk.scope():
        assert not Decision.objects.exists()


def test_T55_stop_while_a_card_waits_cancels_it_as_that_persons_decision():
    desk = a_desk()
    card = desk.card("rename_client", name="Joe")
    stopped = desk.stop()
    assert ([c.pk for c in stopped.cancelled], stopped.too_late, stopped.undoable) == ([card.pk], [], [])
    assert (desk.fresh(card).status, desk.fresh(card).closed_by) == (Status.CANCELLED, "stop")
    assert desk.turns()[0].status == Turn.Status.STOPPED
    assert [line.code for line in desk.messages(role="line")] == ["stopped_cards", "stopped"]
    with desk.scope():
        decision = Decision.objects.get()
        assert (decision.verdict, decision.member, decision.shown_hash) == ("cancel", desk.cast.owner, card.digest)
        kinds = set(
            AuditEvent.objects.filter(subject_id__in=[card.pk, desk.turns()[0].pk]).values_list("kind", flat=True)
        )
        assert audit.verify().whole
    assert kinds == {"action.proposed", "action.cancelled", "turn.stopped"}
    assert desk.records()[0] | {"note": ""} == {
        "event": "cancelled",
        "tool": "rename_client",
        "action": str(card.pk),
        "summary": card.summary,
        "executed": False,
        "by": "Dana",
        "closed_by": "stop",
        "note": "",
    }
    assert desk.stop() == inbox.Stopped()


def test_T55_stop_while_executing_says_honestly_that_it_is_too_late():
    desk = a_desk()
    card = desk.card("post_letter", text="Hello")
    desk.confirm(card)
    desk.claim_action(card)
    stopped = desk.stop()
    assert ([c.pk for c in stopped.too_late], stopped.cancelled) == ([card.pk], [])
    assert desk.fresh(card).status == Status.EXECUTING
    assert [line.code for line in desk.messages(role="line")] == ["too_late_to_stop", "stopped"]
    assert desk.turns()[0].status == Turn.Status.STOPPED


def test_T55_stop_does_not_take_back_what_was_confirmed_but_says_how():
    desk = a_desk()
    card = desk.card("rename_client", name="Joe")
    desk.confirm(card)
    stopped = desk.stop()
    assert ([c.pk for c in stopped.undoable], desk.fresh(card).status) == ([card.pk], Status.SCHEDULED)
    assert [line.code for line in desk.messages(role="line")] == ["still_undoable", "stopped"]


def test_a_queued_turn_stops_at_once_and_the_next_message_begins_a_new_one():
    desk = a_desk()
    desk.post("hello")
    desk.stop()
    assert desk.turns()[0].status == Turn.Status.STOPPED
    assert not Due.objects.filter(kind="turn", object_id=desk.turns()[0].pk).exists()
    assert desk.post("something else").turn.ordinal == 2


def test_a_running_turn_is_asked_to_stop_and_nothing_new_is_written():
    desk = a_desk()
    desk.post("hello")
    claimed = desk.claim()
    desk.stop()
    assert desk.turns()[0].stop_requested
    with pytest.raises(StopRequested):
        desk.next(claimed)
    steps.end_stopped(claimed, "Half a sen")
    assert desk.turns()[0].status == Turn.Status.STOPPED
    assert [line.code for line in desk.messages(role="line")] == ["stopped"]


def test_the_turn_of_a_dead_runner_stops_at_once():
    desk = a_desk()
    desk.post("hello")
    desk.claim()
    desk.silence()
    desk.stop()
    assert desk.turns()[0].status == Turn.Status.STOPPED


def test_stop_races_a_card_that_is_put_up_at_the_same_moment():
    desk = a_desk()
    desk.card("rename_client", name="Joe")

    def either(number: int) -> Any:
        return desk.stop() if number else desk.confirm(desk.cards()[0])

    at_once(2, either)
    status = desk.cards()[0].status
    assert status in (Status.CANCELLED, Status.SCHEDULED)
    assert desk.turns()[0].status == Turn.Status.STOPPED


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_a_turn_that_was_cut_off_can_be_tried_again(status):
    desk = a_desk()
    desk.post("hello")
    claimed = desk.claim()
    steps.fail(claimed, Turn.Status(status), lines.Line.INTERRUPTED, "", 0)
    turn = desk.retry()
    assert (turn.status, turn.calls, turn.ordinal) == (Turn.Status.QUEUED, 0, 1)
    assert desk.claim() is not None


def test_only_the_newest_failed_turn_can_be_tried_again():
    desk = a_desk()
    desk.post("hello")
    with pytest.raises(DomainError) as queued:
        desk.retry()
    steps.fail(desk.claim(), Turn.Status.FAILED, lines.Line.UNAVAILABLE, "", 0)
    desk.post("never mind")
    with pytest.raises(DomainError) as old:
        desk.retry()
    assert (queued.value.code, old.value.code) == ("NOT_RETRYABLE", "NOT_RETRYABLE")


def test_T48_a_card_that_waits_for_a_second_person_holds_nothing():
    desk = a_desk()
    card = desk.card("pay_out", amount_cents=90_000)
    answer = desk.click(approvals.confirm, card, fresh_login=True, held=True, reason="agreed")
    assert answer.action.status == Status.AWAITING_SECOND
    assert desk.turns()[0].status == Turn.Status.QUEUED
    assert [(r["event"], r["executed"], r["by"]) for r in desk.records()] == [("awaiting_second", False, "Dana")]
    desk.end(desk.claim())
    assert desk.post("and the weather?").turn.ordinal == 2
    assert desk.fresh(card).status == Status.AWAITING_SECOND
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()"
        )
        assert cursor.fetchone() == (0,)


def test_an_awaiting_second_card_is_cancelled_by_its_requesters_stop():
    desk = a_desk()
    card = desk.card("pay_out", amount_cents=90_000)
    desk.click(approvals.confirm, card, fresh_login=True, held=True, reason="agreed")
    desk.stop()
    assert desk.fresh(card).status == Status.CANCELLED
    with desk.scope():
        assert list(Decision.objects.order_by("slot").values_list("slot", "verdict")) == [(1, "confirm"), (2, "cancel")]


def test_the_sentences_of_all_lines_are_there():
    for line in lines.Line:
        assert lines.sentence(line, {"cards": ["A", "B"]}).strip()
    assert set(lines.TEXTS) == set(lines.Line)
    assert lines.sentence("point_to_card", {"cards": ["A.", "B."]}).endswith(" A; B.")
