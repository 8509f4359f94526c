"""The living card: what it was computed from changes while it waits, and the card itself says so."""

import pytest

from assistant.gate.approvals import Kind
from assistant.models import PendingAction, Status
from ledger.actions import rows
from ledger.models import AuditEvent, Due


def rename(office, name: str, **more) -> None:
    with office.scope():
        rows.write(rows.locked(office.client), by=office.sam, name=name, **more)
        office.client.refresh_from_db()


def look(office, action) -> PendingAction:
    office.run_due("freshen_card", action)
    return office.fresh(action)


def test_a_change_shows_on_the_card_with_the_difference(office):
    action = office.propose("post_letter", text="Hi")
    other = office.propose("rename_client", name="Joe")
    office.cancel(other)
    rename(office, "John A. Smith")
    assert Due.objects.filter(kind="freshen_card", object_id=action.pk).exists()
    assert not Due.objects.filter(kind="freshen_card", object_id=other.pk).exists()
    before = action.seq
    living = look(office, action)
    [change] = living.stale["changes"]
    assert (change["name"], change["before"], change["after"]) == ("client", "John Smith", "John A. Smith")
    assert (living.status, living.digest, living.stale["refused"]) == (Status.PENDING, action.digest, "")
    assert living.seq > before
    assert look(office, action).seq == living.seq
    with office.scope():
        assert AuditEvent.objects.filter(kind="action.went_stale", subject_id=action.pk).count() == 1


def test_a_press_on_it_shows_the_new_card_and_does_nothing(office, provider):
    """Without the presence that a strong card's yes takes: nothing is said yes to."""
    action = office.propose("pay_out", amount_cents=100)
    rename(office, "John A. Smith")
    answer = office.confirm(look(office, action))
    assert (answer.kind, office.fresh(action).status) == (Kind.CONFLICT, Status.SUPERSEDED)
    assert (answer.action.edited_from_id, answer.action.stale, answer.action.status) == (
        action.pk,
        None,
        Status.PENDING,
    )
    assert provider.all_sends() == {}


def test_what_is_refused_by_now_says_why(office):
    action = office.propose("post_letter", text="Hi")
    with office.scope():
        rows.trash(rows.locked(office.client), by=office.sam)
    living = look(office, action)
    assert living.stale["refused"]
    assert office.confirm(living).kind == Kind.CONFLICT


@pytest.mark.parametrize("status", ["confirmed", "cancelled"])
def test_a_card_that_is_decided_stays_as_it_was_decided(office, status):
    action = office.propose("post_letter", text="Hi")
    office.confirm(action) if status == "confirmed" else office.cancel(action)
    rename(office, "John A. Smith")
    assert not Due.objects.filter(kind="freshen_card", object_id=action.pk).exists()
    assert look(office, action).stale is None


def test_a_company_never_looks_at_anothers_cards(office, stranger):
    theirs = stranger.propose("post_letter", text="Hi")
    rename(office, "John A. Smith")
    assert not Due.objects.filter(kind="freshen_card", object_id=theirs.pk).exists()
