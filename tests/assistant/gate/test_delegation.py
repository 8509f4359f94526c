"""While one is away another decides for that one: within the time, never what oneself asked for, never both keys."""

from datetime import timedelta

import pytest
from django.utils import timezone

from assistant.gate import sight
from assistant.gate.approvals import Kind
from assistant.models import PendingAction, Status
from ledger.actions import delegations
from ledger.errors import DomainError
from ledger.models import AuditEvent, Delegation, Membership

STRONG = {"fresh_login": True, "held": True, "reason": "agreed"}
HOUR = timedelta(hours=1)


def away(office, giver, taker, *, start=-HOUR, end=HOUR, by=None) -> Delegation:
    now = timezone.now()
    with office.scope():
        return delegations.delegate(giver, taker, by=by or giver, starts_at=now + start, ends_at=now + end)


@pytest.fixture
def asked(office) -> PendingAction:
    """Office, who may ask for a refund and not approve one, has asked: the card is for those who may."""
    with office.scope():
        Membership.objects.filter(pk=office.alex.pk).update(role="office")
        office.alex.refresh_from_db()
    action = office.propose("pay_out", by=office.alex, amount_cents=100)
    assert action.routed
    return action


def test_the_one_who_stands_in_decides_and_the_record_says_for_whom(office, provider):
    with office.scope():
        Membership.objects.filter(pk=office.sam.pk).update(approve_l3=False)
        Membership.objects.filter(pk=office.alex.pk).update(role="office")
        office.alex.refresh_from_db()
        office.sam.refresh_from_db()
    action = office.propose("pay_out", by=office.alex, amount_cents=100)
    assert office.confirm(action, by=office.sam, **STRONG).kind == Kind.MISSING
    away(office, office.dana, office.sam)
    with office.scope():
        sam = Membership.objects.get(pk=office.sam.pk)
        assert sight.visible(action, sam)
    assert office.confirm(action, by=sam, **STRONG).kind == Kind.DECIDED
    assert office.execute(action).status == Status.EXECUTED
    with office.scope():
        body = AuditEvent.objects.get(kind="action.confirmed", subject_id=action.pk).body
        assert f'"stands_in_for":["{office.dana.ref}"]' in body


@pytest.mark.parametrize(("start", "end"), [(HOUR, 2 * HOUR), (-2 * HOUR, timedelta(seconds=1))])
def test_before_and_after_its_time_it_is_nothing(office, start, end):
    with office.scope():
        Membership.objects.filter(pk=office.sam.pk).update(approve_l3=False)
    given = away(office, office.dana, office.sam, start=start, end=end)
    with office.scope():
        if start < timedelta(0):
            Delegation.objects.filter(pk=given.pk).update(ends_at=timezone.now() - timedelta(seconds=1))
        assert delegations.givers_of(Membership.objects.get(pk=office.sam.pk)) == []


def test_taken_back_between_the_click_and_the_deed_nothing_is_done(office, provider):
    with office.scope():
        Membership.objects.filter(pk=office.sam.pk).update(approve_l3=False)
        Membership.objects.filter(pk=office.alex.pk).update(role="office")
        office.alex.refresh_from_db()
        sam = Membership.objects.get(pk=office.sam.pk)
    given = away(office, office.dana, sam)
    action = office.propose("pay_out", by=office.alex, amount_cents=100)
    assert office.confirm(action, by=sam, **STRONG).kind == Kind.DECIDED
    with office.scope():
        delegations.end(given.pk, by=office.dana)
        with pytest.raises(DomainError) as raised:
            delegations.end(given.pk, by=office.dana)
        assert raised.value.code == "ENDED"
    assert office.execute(action).failure["code"] == "FORBIDDEN"
    assert provider.all_sends() == {}


def test_nobody_confirms_by_anothers_right_what_they_asked_for(office, asked):
    away(office, office.dana, office.alex)
    with office.scope():
        alex = Membership.objects.get(pk=office.alex.pk)
    assert office.confirm(asked, by=alex, **STRONG).kind == Kind.REFUSED
    assert office.fresh(asked).status == Status.PENDING


def test_T65_the_second_key_is_not_turned_by_the_right_of_who_turned_the_first(office):
    """Dana asks and confirms; Alex, who stands in for Dana alone, is no second person. Standing in for Sam, he is."""
    with office.scope():
        Membership.objects.filter(pk=office.alex.pk).update(role="office")
        alex = Membership.objects.get(pk=office.alex.pk)
    away(office, office.dana, alex)
    action = office.propose("pay_out", amount_cents=60_001)
    assert office.confirm(action, **STRONG).action.status == Status.AWAITING_SECOND
    assert office.confirm(action, by=alex, **STRONG).kind == Kind.REFUSED
    away(office, office.sam, alex)
    with office.scope():
        alex = Membership.objects.get(pk=office.alex.pk)
    assert office.confirm(action, by=alex, **STRONG).kind == Kind.DECIDED


def test_who_may_give_and_for_how_long(office):
    for giver, taker, by, code in (
        (office.dana, office.dana, office.dana, "SAME_PERSON"),
        (office.dana, office.sam, office.alex, "FORBIDDEN"),
    ):
        with pytest.raises(DomainError) as raised:
            away(office, giver, taker, by=by)
        assert raised.value.code == code
    for start, end in ((HOUR, HOUR), (-2 * HOUR, -HOUR), (HOUR, timedelta(days=91))):
        with pytest.raises(DomainError) as raised:
            away(office, office.dana, office.sam, start=start, end=end)
        assert raised.value.code == "PERIOD"
    away(office, office.alex, office.sam, by=office.dana)
    with office.scope():
        assert [(one.giver, one.taker) for one in delegations.standing()] == [(office.alex, office.sam)]
