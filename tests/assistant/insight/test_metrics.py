"""The figures of a period, against rows that were counted by hand."""

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from assistant.gate import closing
from assistant.insight import metrics
from assistant.insight.metrics import Rate
from assistant.models import Decision, Message, PendingAction, Seen, SpotCheck, Status, Turn
from tests.assistant.gate.conftest import Office, make_office
from tests.queries import counted
from tests.support.provider import FileProvider

ZONE = "America/Chicago"


@pytest.fixture
def office(tmp_path, monkeypatch) -> Office:
    monkeypatch.setenv("AVAL_TEST_PROVIDER", str(tmp_path / "provider"))
    return make_office()


def told(office: Office, since: datetime | None = None, until: datetime | None = None) -> metrics.Report:
    now = timezone.now()
    with office.scope():
        return metrics.report(since or now - timedelta(days=1), until or now + timedelta(days=1), ZONE)


def seen_for(office: Office, action: PendingAction, seconds: float) -> None:
    """The card has been on dana's screen for so long."""
    with office.scope():
        at = timezone.now() - timedelta(seconds=seconds)
        Seen.objects.create(action=action, member=office.dana, door="system", at=at)


def rename(office: Office, name: str) -> PendingAction:
    return office.propose("rename_client", name=name)


def test_every_card_has_one_fate_and_every_rate_says_of_how_many(office: Office) -> None:
    provider = FileProvider()
    for name in ("one", "two", "three"):
        action = rename(office, name)
        office.confirm(action)
        office.execute(action)
    edited = office.propose("post_letter", text="to be edited")
    after = office.edit(edited, text="edited")
    office.confirm(after)
    provider.set_mode("timeout_before")
    assert office.execute(after).status == Status.IN_DOUBT
    office.reject(office.propose("post_letter", text="no"))
    office.cancel(office.propose("post_letter", text="never mind"))
    undone = office.propose("post_letter", text="confirmed, then not")
    office.confirm(undone)
    office.undo(undone)
    late = office.propose("post_letter", text="nobody looked")
    office.age(late, timedelta(days=1))
    with office.scope():
        assert closing.expire(late.pk, closed_by="deadline")
    office.propose("post_letter", text="waits")
    found = told(office)
    cards = found.cards
    fates = ("unedited", "after_edit", "by_rule", "edited", "rejected", "cancelled", "undone", "expired",
             "second_timeouts", "superseded", "waiting")  # fmt: skip
    assert {name: getattr(cards, name) for name in fates if getattr(cards, name)} == {
        "unedited": 3, "after_edit": 1, "edited": 1, "rejected": 1, "cancelled": 1, "undone": 1, "expired": 1,
        "waiting": 1,
    }  # fmt: skip
    assert cards.proposed == sum(getattr(cards, name) for name in fates) == 10
    assert (cards.executed, cards.in_doubt, cards.failed, cards.running) == (3, 1, 0, 0)
    assert (cards.unedited_rate, cards.rejected_rate, cards.edited_rate) == (Rate(3, 5), Rate(1, 5), Rate(1, 5))
    assert (cards.expired_rate, cards.coverage, cards.failed_rate) == (Rate(1, 10), Rate(4, 4), Rate(0, 4))
    assert [(line.key, line.cards.proposed) for line in found.tools] == [("post_letter", 7), ("rename_client", 3)]
    assert [(line.cards.unedited, line.cards.after_edit) for line in found.tools] == [(0, 1), (3, 0)]
    assert [(line.name, line.answers.number) for line in found.people] == [("Dana", 8)]
    answers = found.people[0].answers
    assert (answers.confirmed, answers.rejected, answers.edited, answers.cancelled) == (5, 1, 1, 1)
    assert sum(cards.proposed for _day, cards in found.days) == 10


def test_t61_what_ran_out_or_was_replaced_is_nobodys_no(office: Office) -> None:
    for why in ("deadline", closing.SECOND_TIMEOUT):
        action = office.propose("post_letter", text=why)
        office.age(action, timedelta(days=1))
        with office.scope():
            assert closing.expire(action.pk, closed_by=why)
    replaced = office.propose("post_letter", text="replaced")
    with office.scope():
        closing.supersede(replaced, by=office.dana, closed_by="facts_changed")
        codes = set(PendingAction.objects.values_list("status", "closed_by"))
    assert codes == {("expired", "deadline"), ("expired", closing.SECOND_TIMEOUT), ("superseded", "facts_changed")}
    cards = told(office).cards
    assert (cards.expired, cards.second_timeouts, cards.superseded) == (1, 1, 1)
    assert (cards.rejected, cards.rejected_rate, cards.judged) == (0, Rate(0, 0), 0)
    assert cards.rejected_rate.percent is None
    assert told(office).people == []


@pytest.mark.parametrize(("seconds", "hasty"), [(0.2, 1), (25, 0), (200, 0)])
def test_a_yes_that_comes_sooner_than_reading_is_hasty(office: Office, seconds: float, hasty: int) -> None:
    action = office.propose("post_letter", text=" ".join(["word"] * 40))
    seen_for(office, action, seconds)
    office.confirm(action)
    unseen = office.propose("post_letter", text="short")
    office.confirm(unseen)
    answers = told(office).answers
    assert (answers.confirmed, answers.hasty_rate) == (2, Rate(hasty, 1))


def test_the_longest_card_is_read_in_thirty_seconds(office: Office) -> None:
    for seconds in (29.2, 30.2):
        action = office.propose("post_letter", text=" ".join(["word"] * 2000) + str(seconds))
        seen_for(office, action, seconds)
        office.confirm(action)
    assert told(office).answers.hasty_rate == Rate(1, 2)


def test_times_to_decide_are_those_of_real_answers(office: Office) -> None:
    for minutes in (1, 2, 3, 4, 50):
        action = office.propose("post_letter", text=f"after {minutes}")
        with office.scope():
            Decision.objects.create(
                action=action, slot=1, verdict="reject", member=office.dana, door="web", shown_hash=action.digest,
                at=action.created_at + timedelta(minutes=minutes),
            )  # fmt: skip
    answers = told(office).answers
    assert (answers.median_seconds, answers.p95_seconds) == (180, 3000)
    assert [(line.key, line.answers.number) for line in told(office).doors if line.answers.number] == [("web", 5)]


@pytest.mark.parametrize(
    ("since", "until", "proposed"),
    [
        (timedelta(days=-1), timedelta(), 0),
        (timedelta(), timedelta(seconds=1), 1),
        (timedelta(seconds=1), timedelta(9), 0),
    ],
)
def test_a_period_begins_with_its_first_instant_and_ends_before_its_last(office, since, until, proposed) -> None:
    at = rename(office, "one").created_at
    assert told(office, at + since, at + until).cards.proposed == proposed


def test_what_turns_cost_after_their_cards(office: Office) -> None:
    def turn(ordinal: int, *replies: tuple[int, bool]) -> None:
        with office.scope():
            made = Turn.objects.create(
                conversation=office.conversation, member=office.dana, ordinal=ordinal, status="done"
            )
        action = office.propose("post_letter", text=f"{ordinal}") if replies else None
        with office.scope():
            if action:
                at = action.created_at
                fields = {
                    field.attname: getattr(action, field.attname) for field in PendingAction._meta.concrete_fields
                }
                again = PendingAction(**fields | {"id": uuid.uuid4(), "turn_id": made.pk, "sameness": f"{ordinal}"})
                again.save(force_insert=True)
            for tokens, later in replies:
                Message.objects.create(
                    conversation=office.conversation, turn=made, role="assistant", text="x", tokens=tokens,
                    created_at=at + timedelta(seconds=1 if later else -1),
                )  # fmt: skip

    turn(1, (100, False), (30, True), (25, True))
    turn(2, (200, False))
    turn(3)
    resumed = told(office).resumed
    assert (resumed.turns, resumed.tokens, resumed.with_cards, resumed.all_tokens) == (1, 55, 2, 355)
    assert resumed.each == 55


def test_what_was_looked_at_afterwards(office: Office) -> None:
    actions = [rename(office, name) for name in ("one", "two", "three")]
    with office.scope():
        marked = {"member": office.dana, "at": timezone.now()}
        own: Callable[..., SpotCheck] = SpotCheck.objects.create
        own(action=actions[0], tool="rename_client", sampled=True, mark="wrong", note="x", **marked)
        own(action=actions[0], tool="rename_client", mark="wrong", **marked)
        own(action=actions[1], tool="rename_client", sampled=True, mark="right", **marked)
        own(action=actions[2], tool="rename_client", sampled=True)
    checked = told(office).checked
    assert (checked.drawn, checked.marked, checked.wrong, checked.reported, checked.slipped) == (3, 2, 1, 1, 1)
    assert checked.wrong_rate == Rate(1, 2)


def test_one_companys_figures_are_its_own_and_cost_the_same_however_many(office: Office) -> None:
    stranger = make_office()
    stranger.reject(stranger.propose("post_letter", text="theirs"))
    office.confirm(rename(office, "one"))
    with counted() as few:
        assert told(office).cards.proposed == 1
    for name in "abcde":
        office.confirm(rename(office, name))
    with counted() as many:
        assert told(office).cards.proposed == 6
    assert len(many) == len(few)
    assert told(office).cards.rejected == 0


@pytest.mark.parametrize(("count", "of", "percent"), [(1, 3, 33), (2, 3, 67), (1, 200, 1), (0, 5, 0), (0, 0, None)])
def test_a_rate_is_rounded_half_up_and_of_nothing_is_none(count, of, percent) -> None:
    assert Rate(count, of).percent == percent
