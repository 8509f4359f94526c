"""The kill switch: everything that waits is closed at once, nothing with a card runs, reading goes on."""

import threading

import pytest
from django.db import connection

from assistant.gate import pausing
from assistant.gate.approvals import Kind
from assistant.models import Decision, Message, Status
from ledger.errors import DomainError
from ledger.models import AuditEvent, Suspension

STRONG = {"fresh_login": True, "held": True, "reason": "agreed"}


def pause(office, by=None) -> Suspension:
    with office.scope():
        return pausing.pause(by=by or office.dana, reason="It writes to the wrong people")


def test_a_pause_closes_what_waits_and_takes_back_what_has_not_run(office, provider):
    scheduled = office.propose("post_letter", text="Hi")
    office.confirm(scheduled)
    half = office.propose("pay_out", amount_cents=60_001)
    office.confirm(half, **STRONG)
    waiting = office.propose("rename_client", name="Joe")
    assert [office.fresh(a).status for a in (scheduled, half)] == [Status.SCHEDULED, Status.AWAITING_SECOND]
    pause(office, by=office.sam)
    for action, slot in ((scheduled, 3), (half, 2), (waiting, 1)):
        closed = office.fresh(action)
        assert (closed.status, closed.closed_by) == (Status.CANCELLED, "paused")
        with office.scope():
            decision = Decision.objects.get(action=action, verdict="cancel")
            assert (decision.slot, decision.member_id) == (slot, office.sam.pk)
            told = Message.objects.get(action=action, role=Message.Role.RECORD, code="cancelled")
            assert told.params["closed_by"] == "paused"
        office.execute(action)
    assert provider.all_sends() == {}


def test_nothing_is_put_up_or_confirmed_while_it_lasts_and_all_goes_on_after_it(office):
    with office.scope():
        first = pausing.pause(by=office.dana)
        assert pausing.pause(by=office.sam).pk == first.pk
        with pytest.raises(DomainError) as raised:
            pausing.turn_on(office.client.pk, by=office.dana)
        assert raised.value.code == "NOT_PAUSED"
    with pytest.raises(DomainError) as raised:
        office.propose("rename_client", name="Joe")
    assert raised.value.code == "AGENT_PAUSED"
    with office.scope():
        pausing.turn_on(first.pk, by=office.sam)
        assert pausing.current() is None
        kinds = AuditEvent.objects.filter(kind__startswith="agent.").values_list("kind", flat=True)
        assert sorted(kinds) == ["agent.paused", "agent.turned_on"]
    assert office.confirm(office.propose("rename_client", name="Joe")).kind == Kind.DECIDED


@pytest.mark.parametrize("deed", ["pause", "turn_on"])
def test_only_an_owner_or_admin_has_the_switch(office, deed):
    with office.scope(), pytest.raises(DomainError) as raised:
        pausing.pause(by=office.alex) if deed == "pause" else pausing.turn_on(office.client.pk, by=office.alex)
    assert raised.value.code == "FORBIDDEN"


def test_a_card_that_came_up_while_the_switch_was_pressed_is_not_confirmed(office):
    """The proposal had looked before the pause, and stood after it."""
    action = office.propose("rename_client", name="Joe")
    with office.scope():
        Suspension.objects.create(started_by=office.dana)
    answer = office.confirm(action)
    assert (answer.kind, office.fresh(action).status) == (Kind.REFUSED, Status.PENDING)
    assert "paused" in answer.sentence


@pytest.mark.parametrize("attempt", range(8))
def test_a_click_and_the_switch_at_once_have_one_outcome(office, attempt):
    action = office.propose("rename_client", name="Joe")
    start = threading.Barrier(2)

    def at_once(work) -> None:
        try:
            start.wait()
            work()
        finally:
            connection.close()

    threads = [
        threading.Thread(target=at_once, args=(work,))
        for work in (lambda: office.confirm(action), lambda: pause(office))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert office.fresh(action).status in (Status.CANCELLED, Status.PENDING, Status.SCHEDULED)
    done = office.execute(action)
    assert done.status in (Status.CANCELLED, Status.FAILED)
    with office.scope():
        office.client.refresh_from_db()
        assert office.client.name == "John Smith"
