"""Clients: made, changed, archived, put in the trash. Contacts and sites have modules of their own."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import columns, holds, rows
from ledger.actions.client_columns import CONTACT_FIELDS, FIELDS, client_columns
from ledger.actions.client_index import client_search
from ledger.actions.contacts import change_contact, insert_contact
from ledger.actions.matching import Traits, refuse_duplicates, same_clients, same_leads
from ledger.errors import DomainError
from ledger.models import Client, Membership
from ledger.numbering import take_number

SECRET = ("tax_id_sealed", "tax_id_hash")


@transaction.atomic
def create_client(
    *,
    by: Membership,
    kind: str,
    name: str,
    tax_id: str = "",
    email: str = "",
    phone: str = "",
    contact_name: str = "",
    address: Mapping[str, str] | None = None,
    language: str = "",
    tags: Iterable[str] = (),
    terms_days: int | None = None,
    on_duplicate: Literal["ask", "create"] = "ask",
    ref: str = "",
) -> Client:
    """Add a client, with a main contact where an e-mail, a phone or a contact's name is given.

    With "ask", a probable duplicate (same name, phone, e-mail, address or tax id as a client; same phone, e-mail or
    address as a lead) raises PROBABLE_DUPLICATE with the candidates and adds nothing. A tax id that a client has
    already is refused either way (TAX_ID_TAKEN). A company that brings its numbers along gives `ref`.
    """
    permissions.require(by, "create_client")
    company = columns.company()
    given: dict[str, Any] = {"kind": kind, "name": name, "tax_id": tax_id, "billing_address": address or {}}
    given |= {"language": language, "tags": list(tags), "terms_days": terms_days}
    written = client_columns(given, company)
    reach = {"name": contact_name, "email": email, "phone": phone}
    if on_duplicate == "ask":
        _refuse_duplicates(written, columns.email(email), columns.phone(phone, company.country))
    _refuse_taken_tax_id(written["tax_id_hash"])
    client: Client = Client.objects.create(**rows.made_by(by), **written, ref=ref or take_number("client"))
    if any(text.strip() for text in reach.values()):
        insert_contact(client, company.country, reach)
    client.search = client_search(client)
    client.save(update_fields=["search"])
    audit.record("client.created", by=by, subject=client, ref=client.ref, name=client.name)
    return client


@transaction.atomic
def update_client(
    client: Client, *, by: Membership, expected_version: int | None, changes: Mapping[str, Any]
) -> Client:
    """Change a client's own data, and by `contact_name`, `email`, `phone` the main contact's.

    A replaced e-mail or phone is marked with the time, so that cards can say so. Raises STALE_VERSION (I10),
    UNKNOWN_FIELD, TAX_ID_TAKEN.
    """
    permissions.require(by, "update_client")
    columns.only(changes, (*FIELDS, *CONTACT_FIELDS))
    held = rows.locked(client, expected_version=expected_version)
    company = columns.company()
    written = client_columns({name: changes[name] for name in FIELDS if name in changes}, company)
    differing = rows.differences(held, _that_count(held, written))
    if "tax_id_hash" in differing:
        _refuse_taken_tax_id(written["tax_id_hash"])
    reach = {name: changes[name] for name in CONTACT_FIELDS if name in changes}
    contact_changes = _change_main_contact(held, reach, company.country) if reach else {}
    if not differing and not contact_changes:
        return held
    for name in differing:
        setattr(held, name, written[name])
    rows.write(held, by=by, **{name: written[name] for name in differing}, search=client_search(held))
    shown: dict[str, Any] = {name: change for name, change in differing.items() if name not in SECRET}
    if "tax_id_hash" in differing:
        shown["tax_id"] = "changed"
    audit.record("client.updated", by=by, subject=held, ref=held.ref, changes=shown | contact_changes)
    return held


@transaction.atomic
def archive_client(
    client: Client, *, by: Membership, force: bool = False, expected_version: int | None = None
) -> Client:
    """Hide a client from lists; documents stay. `update_client` with `archived: False` brings it back.

    Raises HAS_OPEN_DOCUMENTS with their refs while something is open with them, unless `force`.
    """
    permissions.require(by, "archive_client")
    held = rows.locked(client, expected_version=expected_version)
    if held.archived_at is not None:
        return held
    if not force:
        holds.refuse_archive_client(held)
    rows.write(held, by=by, archived_at=timezone.now())
    audit.record("client.archived", by=by, subject=held, ref=held.ref, forced=force)
    return held


@transaction.atomic
def delete_client(client: Client, *, by: Membership, expected_version: int | None = None) -> Client:
    """Move a client to the trash, for thirty days. Documents that went out forbid it (I9, H26).

    Raises HAS_ISSUED_DOCUMENTS with the counts.
    """
    permissions.require(by, "delete_client")
    held = rows.locked(client, expected_version=expected_version)
    holds.refuse_delete_client(held)
    rows.trash(held, by=by)
    audit.record("client.deleted", by=by, subject=held, ref=held.ref, name=held.name)
    return held


def _that_count(held: Client, written: dict[str, Any]) -> dict[str, Any]:
    """Without what is only written anew: the same tax id sealed again, an archived client archived again."""
    same_tax_id = written.get("tax_id_hash") == held.tax_id_hash
    still_archived = held.archived_at is not None and written.get("archived_at") is not None
    left_out = {name for name in written if (same_tax_id and name.startswith("tax_id"))}
    return {
        name: value
        for name, value in written.items()
        if name not in left_out and not (still_archived and name == "archived_at")
    }


def _change_main_contact(client: Client, changes: Mapping[str, Any], country: str) -> dict[str, Any]:
    given = {name.removeprefix("contact_"): value for name, value in changes.items()}
    contact = client.main_contact
    if contact is None:
        if not any(str(value).strip() for value in given.values()):
            return {}
        made = insert_contact(client, country, given)
        return {"contact": [None, str(made)]}
    return change_contact(contact, country, given)


def _refuse_duplicates(written: Mapping[str, Any], email: str, phone: str) -> None:
    traits = Traits(written["name"], phone, email, written["address_key"], written["tax_id_hash"])
    refuse_duplicates([*same_clients(traits), *same_leads(traits)])


def _refuse_taken_tax_id(tax_id_hash: str) -> None:
    taken = Client.objects.filter(tax_id_hash=tax_id_hash, deleted_at=None).first() if tax_id_hash else None
    if taken is not None:
        sentence = _("%(ref)s has this tax number.") % {"ref": taken.ref}
        raise DomainError("TAX_ID_TAKEN", sentence, field="tax_id", ref=taken.ref)
