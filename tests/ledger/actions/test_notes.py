"""Notes and the trash: kept inside the company, given back within thirty days."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ledger.actions.clients import create_client, delete_client
from ledger.actions.leads import delete_lead
from ledger.actions.notes import add_note, delete_note, notes_of
from ledger.actions.records import any_by_ref, by_ref
from ledger.actions.trash import KEPT, restore_record
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import Client, Lead, Note
from tests.cast import Cast, joanne_smith, john_smith


def test_a_note_is_cleaned_numbered_and_listed_pinned_first(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        add_note(client, by=lone_ridge.owner, body="First")
        add_note(client, by=lone_ridge.alex, body="Gate code\r\n1234\x00", pinned=True)
        add_note(client, by=lone_ridge.owner, body="Third")
        assert [(note.ref, note.body) for note in notes_of(client)] == [
            ("N-0002", "Gate code\n1234"),
            ("N-0003", "Third"),
            ("N-0001", "First"),
        ]


def test_an_empty_or_endless_note_is_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        for body, code in (("  \n ", "REQUIRED"), ("x" * 4001, "TOO_LONG")):
            with pytest.raises(DomainError) as refusal:
                add_note(client, by=lone_ridge.owner, body=body)
            assert refusal.value.code == code
        assert not Note.objects.exists()


def test_its_writer_takes_a_note_away_and_another_does_not(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        danas, own = (add_note(client, by=who, body="Note") for who in (lone_ridge.owner, lone_ridge.alex))
        with pytest.raises(NotAllowed):
            delete_note(danas, by=lone_ridge.alex)
        delete_note(own, by=lone_ridge.alex)
        assert list(notes_of(client)) == [danas]
        assert restore_record(Note.objects.get(pk=own.pk), by=lone_ridge.owner).deleted_at is None


def test_a_record_is_found_by_its_ref_whatever_its_kind(lone_ridge: Cast, strangers: Cast) -> None:
    with strangers.scope():
        joanne_smith(strangers)
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        assert any_by_ref(" c-0001 ") == client
        assert by_ref(Client, "C-0001") == client
        for ref in ("L-0001", "C-0002", "", "C-0001' OR '1'='1", "X" * 100):
            with pytest.raises(NotFound):
                any_by_ref(ref)


def test_what_is_in_the_trash_comes_back_for_thirty_days(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = delete_lead(joanne_smith(lone_ridge), by=lone_ridge.owner)
        with pytest.raises(NotFound):
            by_ref(Lead, lead.ref)
        back = restore_record(any_by_ref(lead.ref, trashed=True), by=lone_ridge.sam)
        assert (back.deleted_at, back.deleted_by, back.version) == (None, None, lead.version + 1)
        with pytest.raises(NotFound):
            restore_record(back, by=lone_ridge.sam)
        delete_lead(back, by=lone_ridge.owner)
        Lead.objects.filter(pk=lead.pk).update(deleted_at=timezone.now() - KEPT - timedelta(seconds=1))
        with pytest.raises(NotFound):
            restore_record(by_ref(Lead, lead.ref, trashed=True), by=lone_ridge.sam)


def test_what_lost_its_place_does_not_come_back(aurora: Cast) -> None:
    with aurora.scope():
        first = create_client(by=aurora.owner, kind="company", name="Um", tax_id="11.222.333/0001-81")
        gone = delete_client(first, by=aurora.owner)
        create_client(by=aurora.owner, kind="company", name="Dois", tax_id="11.222.333/0001-81")
        with pytest.raises(DomainError) as conflict:
            restore_record(gone, by=aurora.owner)
        assert conflict.value.code == "CONFLICT"
        assert Client.objects.get(pk=gone.pk).deleted_at is not None


def test_sales_does_not_empty_the_trash(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = delete_lead(joanne_smith(lone_ridge), by=lone_ridge.owner)
        with pytest.raises(NotAllowed):
            restore_record(lead, by=lone_ridge.alex)
