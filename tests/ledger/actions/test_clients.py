"""Clients: cleaned when stored, changed under a version, archived, deleted only without documents."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from ledger.actions.clients import archive_client, create_client, delete_client, update_client
from ledger.actions.contacts import add_contact, remove_contact, update_contact
from ledger.actions.quotes import create_quote
from ledger.actions.sites import add_site
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import AuditEvent, Client, Contact, Role, Site
from ledger.models.clients import FRESH_CHANGE
from tests.cast import Cast, john_smith
from tests.offers import cedar_bend, lines_of, send


def refused(code: str) -> Any:
    return pytest.raises(DomainError, check=lambda error: error.code == code)


def fresh(client: Client) -> Client:
    return Client.objects.get(pk=client.pk)


# Made


def test_a_client_comes_with_a_contact_and_a_number(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, tags=["roof", " roof ", "austin"])
        contact = client.contacts.get()
        assert (client.ref, client.version, client.created_by) == ("C-0001", 1, lone_ridge.owner)
        assert (contact.email, contact.phone, contact.main, contact.role) == (
            "john.smith@example.com",
            "+15125550142",
            True,
            "to",
        )
        assert client.address == "1418 Cedar Bend Dr, Austin, TX 78758"
        assert client.tags == ["roof", "austin"]
        assert client.language == "en-US"
        assert john_smith(lone_ridge, name="Another").ref == "C-0002"
        assert AuditEvent.objects.filter(kind="client.created", subject_id=client.pk).count() == 1


def test_h33_a_line_break_in_a_name_is_gone_when_it_is_stored(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, name="Smith\r\nBcc: other@example.com", contact_name="Jo\nhn\x00")
        assert client.name == "Smith Bcc: other@example.com"
        assert client.contacts.get().name == "Jo hn"


def test_t23_what_cannot_be_seen_is_not_stored(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, name="Jo\u202ehn\u200b Smith\U000e0041")
        assert client.name == "John Smith"


def test_a_name_of_nothing_is_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope(), refused("REQUIRED"):
        john_smith(lone_ridge, name=" \u200b\n ")
    with lone_ridge.scope(), refused("TOO_LONG"):
        john_smith(lone_ridge, name="x" * 201)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"email": "not an address"}, "EMAIL_INVALID"),
        ({"email": "a@example.com\nBcc: b@example.com"}, "EMAIL_INVALID"),
        ({"phone": "12"}, "PHONE_INVALID"),
        ({"kind": "robot"}, "UNKNOWN_CHOICE"),
        ({"language": "fr"}, "UNKNOWN_CHOICE"),
        ({"terms_days": -1}, "OUT_OF_RANGE"),
        ({"terms_days": 366}, "OUT_OF_RANGE"),
        ({"tags": ["x" * 41]}, "TOO_LONG"),
        ({"tags": [str(n) for n in range(51)]}, "TOO_MANY"),
        ({"address": {"city": "Austin"}}, "ADDRESS_INCOMPLETE"),
        ({"address": {"line1": "1 Main St", "planet": "Mars"}}, "UNKNOWN_FIELD"),
        ({"tax_id": "12345"}, "TAX_ID_INVALID"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_stored(lone_ridge: Cast, given: dict[str, Any], code: str) -> None:
    with lone_ridge.scope(), refused(code):
        john_smith(lone_ridge, **given)
    with lone_ridge.scope():
        assert not Client.objects.exists()
        assert not Contact.objects.exists()


def test_h31_a_cnpj_with_letters_is_stored_sealed_and_shown_masked(aurora: Cast) -> None:
    with aurora.scope():
        client = create_client(by=aurora.owner, kind="company", name="Telhas A", tax_id="a1.b2c.3d4/0001-93")
        assert client.tax_id == "A1B2C3D4000193"
        assert client.tax_id_kind == "CNPJ"
        assert client.tax_id_masked.endswith("93")
        assert "A1B2C3D4" not in client.tax_id_masked
        with connection.cursor() as cursor:
            cursor.execute("SELECT row_to_json(c)::text FROM ledger_client c")
            stored = cursor.fetchone()[0]
        assert "A1B2C3D4000193" not in stored.upper()
    with aurora.scope(), refused("TAX_ID_INVALID"):
        create_client(by=aurora.owner, kind="company", name="Telhas B", tax_id="A1.B2C.3D4/0001-39")


def test_a_tax_number_belongs_to_one_client_in_any_spelling(aurora: Cast) -> None:
    with aurora.scope():
        first = create_client(by=aurora.owner, kind="company", name="Um", tax_id="11.222.333/0001-81")
        with refused("TAX_ID_TAKEN"):
            create_client(by=aurora.owner, kind="company", name="Dois", tax_id="11222333000181", on_duplicate="create")
        with refused("PROBABLE_DUPLICATE"):
            create_client(by=aurora.owner, kind="company", name="Dois", tax_id="11222333000181")
        delete_client(first, by=aurora.owner)
        create_client(by=aurora.owner, kind="company", name="Dois", tax_id="11222333000181")


def test_a_probable_duplicate_is_asked_about_and_names_what_is_the_same(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        john_smith(lone_ridge)
        with pytest.raises(DomainError) as asked:
            create_client(by=lone_ridge.owner, kind="person", name="J. Smith", phone="(512) 555-0142")
        candidate = {
            "ref": "C-0001",
            "kind": "client",
            "name": "John Smith",
            "city": "Austin",
            "same": ["phone"],
            "email": "john.smith@example.com",
            "phone": "+15125550142",
        }
        assert asked.value.code == "PROBABLE_DUPLICATE"
        assert asked.value.data["candidates"] == [candidate]
        assert Client.objects.count() == 1
        create_client(
            by=lone_ridge.owner, kind="person", name="J. Smith", phone="(512) 555-0142", on_duplicate="create"
        )
        assert Client.objects.count() == 2


def test_a_viewer_makes_no_client(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lone_ridge.alex.role = Role.VIEWER
        with pytest.raises(NotAllowed):
            create_client(by=lone_ridge.alex, kind="person", name="Nobody")


# Changed


def test_only_what_differs_is_written_and_recorded(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        changes = {"name": "John A. Smith", "language": "en-US"}
        changed = update_client(client, by=lone_ridge.alex, expected_version=1, changes=changes)
        assert (changed.name, changed.version, changed.updated_by) == ("John A. Smith", 2, lone_ridge.alex)
        assert "john a smith" in changed.search
        event = AuditEvent.objects.get(kind="client.updated")
        assert '"changes":{"name":["John Smith","John A. Smith"]' in event.body
        assert '"language"' not in event.body


def test_a_change_that_changes_nothing_leaves_no_trace(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        same = {"name": "John Smith", "email": "john.smith@example.com"}
        assert update_client(client, by=lone_ridge.owner, expected_version=1, changes=same).version == 1
        assert not AuditEvent.objects.filter(kind="client.updated").exists()


def test_a_change_of_an_old_version_is_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        update_client(client, by=lone_ridge.owner, expected_version=1, changes={"name": "First"})
        with pytest.raises(DomainError) as stale:
            update_client(client, by=lone_ridge.owner, expected_version=1, changes={"name": "Second"})
        assert (stale.value.code, stale.value.data["version"]) == ("STALE_VERSION", 2)
        assert fresh(client).name == "First"


def test_of_two_changes_at_once_one_wins_and_the_other_is_told(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def change(name: str) -> None:
        try:
            with lone_ridge.scope():
                start.wait(10)
                update_client(client, by=lone_ridge.owner, expected_version=1, changes={"name": name})
            outcomes.append("changed")
        except DomainError as error:
            outcomes.append(error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=change, args=(name,)) for name in ("One", "Two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(outcomes) == ["STALE_VERSION", "changed"]


def test_a_field_that_there_is_not_is_refused_by_name(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        for changes in ({"tenant": "x"}, {"credit_cents": 5}, {"ref": "C-9"}, {"deleted_at": None}):
            with refused("UNKNOWN_FIELD"):
                update_client(client, by=lone_ridge.owner, expected_version=None, changes=changes)
        with refused("NOTHING_TO_CHANGE"):
            update_client(client, by=lone_ridge.owner, expected_version=None, changes={})


def test_a_replaced_address_is_marked_for_72_hours_and_a_first_one_is_not(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, phone="")
        contact = client.contacts.get()
        assert not contact.email_is_fresh
        update_client(client, by=lone_ridge.owner, expected_version=None, changes={"phone": "5125550143"})
        contact.refresh_from_db()
        assert (contact.phone, contact.phone_is_fresh) == ("+15125550143", False)
        update_client(client, by=lone_ridge.owner, expected_version=None, changes={"email": "new@example.com"})
        contact.refresh_from_db()
        assert (contact.email, contact.email_is_fresh) == ("new@example.com", True)
        contact.email_changed_at = timezone.now() - FRESH_CHANGE - timedelta(seconds=1)
        assert not contact.email_is_fresh
        assert fresh(client).version == 3
        assert "new@example.com" in fresh(client).search


def test_a_contact_more_or_less_is_a_new_version_of_the_client(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        books = add_contact(client, by=lone_ridge.owner, name="Books", email="accounts@example.com", role="cc")
        assert (books.main, fresh(client).version) == (False, 2)
        assert "accounts@example.com" in fresh(client).search
        with refused("CONTACT_TAKEN"):
            add_contact(client, by=lone_ridge.owner, email="ACCOUNTS@example.com")
        with refused("REQUIRED"):
            add_contact(client, by=lone_ridge.owner)
        update_contact(books, by=lone_ridge.owner, changes={"role": "none"})
        assert (Contact.objects.get(pk=books.pk).role, fresh(client).version) == ("none", 3)
        remove_contact(client.contacts.get(main=True), by=lone_ridge.owner)
        assert (client.contacts.get().pk, client.contacts.get().main) == (books.pk, True)
        assert fresh(client).version == 4


def test_the_database_keeps_one_main_contact_and_each_address_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
    with pytest.raises(IntegrityError, match="contact_one_main"), lone_ridge.scope():
        client.contacts.create(name="Second", main=True)
    with pytest.raises(IntegrityError, match="contact_email_once"), lone_ridge.scope():
        client.contacts.create(email="JOHN.smith@example.com")


def test_a_site_has_a_street_and_the_client_is_found_by_it(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        site = add_site(client, by=lone_ridge.owner, address={"line1": "12 Lake Rd", "city": "Hutto"}, label="Cabin")
        assert (site.ref, site.address, site.client) == ("S-0001", "12 Lake Rd, Hutto", client)
        assert "12 lake rd hutto" in fresh(client).search
        with refused("ADDRESS_INCOMPLETE"):
            add_site(client, by=lone_ridge.owner, address={"city": "Hutto"})
    with pytest.raises(IntegrityError, match="site_one_party"), lone_ridge.scope():
        Site.objects.create(ref="S-9", line1="1 Main St")


# Archived and deleted


def test_an_archived_client_comes_back_by_a_change(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        archived = archive_client(client, by=lone_ridge.owner)
        assert archived.archived_at is not None
        assert archive_client(archived, by=lone_ridge.owner).version == archived.version
        back = update_client(archived, by=lone_ridge.owner, expected_version=None, changes={"archived": False})
        assert back.archived_at is None


def test_a_client_with_something_open_is_archived_by_force_only(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        send(lone_ridge, quote)
        client = fresh(quote.client)
        with pytest.raises(DomainError) as refusal:
            archive_client(client, by=lone_ridge.owner)
        assert (refusal.value.code, refusal.value.data["documents"]) == ("HAS_OPEN_DOCUMENTS", ["Q-0001"])
        assert archive_client(client, by=lone_ridge.owner, force=True).archived_at is not None


def test_h26_a_client_without_documents_goes_to_the_trash(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        deleted = delete_client(client, by=lone_ridge.owner)
        assert (deleted.is_gone, deleted.deleted_by, deleted.version) == (True, lone_ridge.owner, 2)
        with pytest.raises(NotFound):
            update_client(client, by=lone_ridge.owner, expected_version=None, changes={"name": "Ghost"})


def test_h26_a_client_whose_quote_went_out_stays_and_the_reason_is_given(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
        send(lone_ridge, quote)
        with pytest.raises(DomainError) as refusal:
            delete_client(quote.client, by=lone_ridge.owner)
        assert refusal.value.code == "HAS_ISSUED_DOCUMENTS"
        assert refusal.value.data["quotes"] == 1
        assert refusal.value.data["offer"] == "archive_client"
        assert "1 quote that went out" in refusal.value.sentence
        assert not fresh(quote.client).is_gone


def test_h26_the_database_itself_protects_what_refers_to_a_client(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, email="", phone="")
        create_quote(client, by=lone_ridge.owner, title="Roof", lines=lines_of("100.00"))
    with pytest.raises(IntegrityError, match="same_tenant"), lone_ridge.scope(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM ledger_client WHERE id = %s", [client.pk])


def test_only_the_office_deletes_clients(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        for deed in (delete_client, archive_client):
            with pytest.raises(NotAllowed):
                deed(client, by=lone_ridge.alex)
        assert fresh(client).version == 1


def test_a_strangers_client_is_not_there(lone_ridge: Cast, strangers: Cast) -> None:
    with strangers.scope():
        theirs = john_smith(strangers)
    with lone_ridge.scope():
        for attempt in (
            lambda: update_client(theirs, by=lone_ridge.owner, expected_version=None, changes={"name": "Taken"}),
            lambda: archive_client(theirs, by=lone_ridge.owner),
            lambda: delete_client(theirs, by=lone_ridge.owner),
            lambda: add_contact(theirs, by=lone_ridge.owner, name="Spy"),
            lambda: add_site(theirs, by=lone_ridge.owner, address={"line1": "1 Main St"}),
        ):
            with pytest.raises(NotFound):
                attempt()
    with strangers.scope():
        assert (fresh(theirs).version, theirs.contacts.count()) == (1, 1)
