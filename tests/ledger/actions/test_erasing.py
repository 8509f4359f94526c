"""A person's data leaves the record by an owner's deed, and the chain stays whole (R12, docs/decisions/0013)."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.utils import timezone

from ledger import audit, tenancy
from ledger.actions import erasing
from ledger.actions.leads import create_lead
from ledger.chain import Numbers, digest
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import AuditEvent, AuditLink
from tests.cast import Cast, joanne_smith, john_smith
from tests.offers import cedar_bend

SECRETS = ("John Smith", "john.smith@example.com", "+15125550142", "Cedar Bend")


def bodies() -> str:
    return "\n".join(AuditEvent.objects.exclude(kind="audit.erased").values_list("body", flat=True))


@pytest.fixture
def known(lone_ridge: Cast) -> Cast:
    """A company with a client whose name, address and quote stand in the record, and somebody else."""
    with lone_ridge.scope(), audit.entering("portal", "198.51.100.7"):
        client = john_smith(lone_ridge)
        quote = cedar_bend(lone_ridge, client)
        audit.record("message.drafted", by=lone_ridge.owner, text="to JOHN: john.smith@example.com", quote=quote.ref)
        audit.record("action.proposed", by=lone_ridge.owner, subject_kind="pendingaction", subject_id=quote.pk)
        joanne_smith(lone_ridge)
    return lone_ridge


def test_what_is_said_of_a_client_is_gone_and_the_chain_is_whole(known: Cast) -> None:
    with known.scope():
        assert "John Smith" in bodies() and "Joanne Smith" in bodies(), "there is something that could stay"
        before = {
            event.pk: (event.kind, event.at, event.actor_id, event.subject_id) for event in AuditEvent.objects.all()
        }
        person = erasing.person_of(" c-0001")
        deed = erasing.erase_person(person, by=known.owner, reason="He asked for it.")
    with known.scope():
        assert [secret for secret in SECRETS if secret in bodies()] == []
        assert "Joanne Smith" in bodies()
        assert not AuditEvent.objects.filter(salt="", body__contains="kind").exists()
        gone = AuditEvent.objects.filter(salt="")
        assert {event.erased_by for event in gone} == {deed.pk}
        assert {event.address for event in gone} == {""}
        assert gone.count() == deed.told["count"] >= 3
        after = {
            event.pk: (event.kind, event.at, event.actor_id, event.subject_id) for event in AuditEvent.objects.all()
        }
        assert {key: after[key] for key in before} == before, "who did what kind of thing when stays"
        assert audit.verify().whole
        told = AuditEvent.objects.get(kind="audit.erased")
        assert (told.actor_id, told.told["about"], told.told["reason"]) == (
            known.owner.pk,
            "C-0001",
            "He asked for it.",
        )
        assert "John" not in told.body, "the deed does not say again what it took away"
        with pytest.raises(DomainError, match="says nothing of this"):
            erasing.erase_person(person, by=known.owner, reason="Again.")


def test_only_an_owner_erases_and_only_with_a_reason(known: Cast) -> None:
    with known.scope():
        person = erasing.person_of("C-0001")
        with pytest.raises(NotAllowed):
            erasing.erase_person(person, by=known.sam, reason="I may not.")
        with pytest.raises(DomainError, match="Write a reason"):
            erasing.erase_person(person, by=known.owner, reason="  ")
        with pytest.raises(NotFound):
            erasing.person_of("C-9999")
        assert not AuditEvent.objects.filter(salt="").exists()


def test_two_people_of_one_name_are_told_apart(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        first = john_smith(lone_ridge)
        second = john_smith(lone_ridge, email="other@example.com", phone="+15125550100")
        audit.record("note.added", by=lone_ridge.owner, subject=second, text="John Smith is at home")
    with lone_ridge.scope():
        erasing.erase_person(first, by=lone_ridge.owner, reason="Asked.")
    with lone_ridge.scope():
        assert "John Smith is at home" in bodies()
        assert "john.smith@example.com" not in bodies()


def test_a_member_is_erased_with_all_that_they_did(known: Cast) -> None:
    with known.scope(), audit.entering("web", "203.0.113.8"):
        create_lead(by=known.alex, name="Somebody", phone="+15125550111", on_duplicate="create")
    with known.scope():
        erasing.erase_person(erasing.person_of(known.alex.ref), by=known.owner, reason="Left the company.")
    with known.scope():
        own = AuditEvent.objects.filter(actor=known.alex)
        assert [(event.body.startswith('{"erased"'), event.address) for event in own] == [(True, "")]
        assert audit.verify().whole


def test_what_is_old_is_erased_by_age_piece_by_piece(known: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "AT_ONCE", 4)
    with known.scope():
        total = AuditEvent.objects.count()
        with pytest.raises(DomainError, match="says nothing of this"):
            erasing.erase_before(timezone.now() - timedelta(days=1), by=known.owner, reason="Seven years are over.")
    counts, going = [], True
    while going:
        with known.scope():
            try:
                tomorrow = timezone.now() + timedelta(days=1)
                counts.append(
                    erasing.erase_before(tomorrow, by=known.owner, reason="Seven years are over.").told["count"]
                )
            except DomainError:
                going = False
    assert sum(counts) == total and set(counts[:-1]) == {4}
    with known.scope():
        assert audit.verify().whole


# What the database refuses


RAW = """
    UPDATE ledger_auditevent SET body = '{"erased":"' || %s || '"}', salt = '', address = ''
     WHERE kind = 'client.created'
"""


@pytest.mark.parametrize("setting", ["", "0190f3a2-0000-7000-8000-000000000000"])
def test_an_event_is_erased_by_the_one_function_only(known: Cast, setting: str) -> None:
    with pytest.raises(DatabaseError, match="Cannot update"), known.scope(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('app.erasing', %s, true)", [setting])
        cursor.execute(RAW, ["0190f3a2-0000-7000-8000-000000000001"])


def erase(deed: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_erase_events(%s)", [deed])


def test_the_function_asks_for_a_deed_of_an_owner_in_the_same_transaction(known: Cast) -> None:
    with pytest.raises(DatabaseError, match="only by a deed"), known.scope():
        erase(tenancy.new_id())
    with known.scope():
        old = audit.record("audit.erased", by=known.owner, links=[[1, 3]])
    with pytest.raises(DatabaseError, match="only by a deed"), known.scope():
        erase(old.pk)
    for other in (known.sam, None):
        with pytest.raises(DatabaseError, match="only by an owner"), known.scope():
            erase(audit.record("audit.erased", by=other, links=[[1, 3]]).pk)
    with known.scope():
        assert not AuditEvent.objects.filter(salt="").exists()


def test_a_deed_never_erases_deeds(known: Cast) -> None:
    with known.scope():
        erasing.erase_person(erasing.person_of("C-0001"), by=known.owner, reason="Asked.")
    with known.scope():
        top = AuditLink.objects.get(event__kind="audit.erased").seq
        erase(audit.record("audit.erased", by=known.owner, links=[[1, top]]).pk)
    with known.scope():
        assert AuditEvent.objects.filter(kind="audit.erased", salt="").count() == 0
        assert audit.verify().whole


def test_another_companys_events_are_out_of_reach(known: Cast, strangers: Cast) -> None:
    with strangers.scope():
        top = AuditLink.objects.count()
        erase(audit.record("audit.erased", by=strangers.owner, links=[[1, 10_000]]).pk)
        assert AuditEvent.objects.filter(salt="").count() == top
    with known.scope():
        assert not AuditEvent.objects.filter(salt="").exists()
        assert audit.verify().whole


def test_an_erased_body_cannot_be_guessed(known: Cast) -> None:
    """Whoever guesses the body word for word cannot prove it: what its hash was made with went with it."""
    with known.scope():
        event = AuditEvent.objects.get(kind="client.created")
        kept = AuditLink.objects.get(event=event).body_hash
        assert digest(event.salt, event.body) == kept
        erasing.erase_person(erasing.person_of("C-0001"), by=known.owner, reason="Asked.")
        guess, left = event.body, AuditEvent.objects.get(pk=event.pk)
        assert kept not in (digest(left.salt, guess), digest(guess))


def test_numbers_are_kept_as_ranges() -> None:
    numbers = Numbers.among([1, 2, 3, 7, 9, 10])
    assert numbers.ranges == [(1, 3), (7, 7), (9, 10)]
    assert [n for n in range(12) if n in numbers] == [1, 2, 3, 7, 9, 10]
