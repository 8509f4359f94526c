"""How a client is reached: contacts added, changed, taken away."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import columns, rows
from ledger.actions.client_index import refresh
from ledger.errors import DomainError, NotFound
from ledger.models import Client, Contact, Membership

FIELDS = ("name", "email", "phone", "role")


@transaction.atomic
def add_contact(
    client: Client, *, by: Membership, name: str = "", email: str = "", phone: str = "", role: str = "to"
) -> Contact:
    """Add a way to reach a client: `to` receives documents, `cc` copies, `none` neither. Raises CONTACT_TAKEN."""
    permissions.require(by, "update_client")
    held = rows.locked(client)
    contact = insert_contact(
        held, columns.company().country, {"name": name, "email": email, "phone": phone, "role": role}
    )
    refresh(held, by=by)
    audit.record("client.contact_added", by=by, subject=held, ref=held.ref, email=contact.email, phone=contact.phone)
    return contact


@transaction.atomic
def update_contact(contact: Contact, *, by: Membership, changes: Mapping[str, Any]) -> Contact:
    """Change a contact's name, e-mail, phone or role. A replaced e-mail or phone is marked with the time."""
    permissions.require(by, "update_client")
    columns.only(changes, FIELDS)
    held = rows.locked(contact.client)
    kept = _contact_of(held, contact)
    differing = change_contact(kept, columns.company().country, changes)
    if differing:
        refresh(held, by=by)
        audit.record("client.contact_changed", by=by, subject=held, ref=held.ref, changes=differing)
    return kept


@transaction.atomic
def remove_contact(contact: Contact, *, by: Membership) -> None:
    """Take a contact away; messages that went to it keep the address they went to. The next one becomes the main."""
    permissions.require(by, "update_client")
    held = rows.locked(contact.client)
    kept = _contact_of(held, contact)
    kept.delete()
    if kept.main:
        heir = held.contacts.order_by("created_at", "pk").first()
        if heir is not None:
            heir.main = True
            heir.save(update_fields=["main"])
    refresh(held, by=by)
    audit.record("client.contact_removed", by=by, subject=held, ref=held.ref, email=kept.email, phone=kept.phone)


def insert_contact(client: Client, country: str, given: Mapping[str, Any]) -> Contact:
    """The row of a new contact of a locked client, the main one if it is the first."""
    written = contact_columns(given, country)
    _refuse_taken(client, written.get("email", ""))
    if not (written.get("name") or written.get("email") or written.get("phone")):
        raise DomainError("REQUIRED", _("Give a name, an e-mail or a phone."), field="email")
    return client.contacts.create(**written, main=not client.contacts.exists())


def change_contact(contact: Contact, country: str, given: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Write what differs; returns it as `{column: [before, after]}`. A known address that is replaced is marked."""
    written = contact_columns(given, country)
    differing = {name: [getattr(contact, name), new] for name, new in written.items() if getattr(contact, name) != new}
    if not differing:
        return {}
    if "email" in differing:
        _refuse_taken(contact.client, written["email"], but=contact)
    for way in ("email", "phone"):
        if way in differing and differing[way][0]:
            written[f"{way}_changed_at"] = timezone.now()
    for name, value in written.items():
        setattr(contact, name, value)
    if not (contact.name or contact.email or contact.phone):
        raise DomainError("REQUIRED", _("Give a name, an e-mail or a phone."), field="email")
    contact.save(update_fields=list(written))
    return differing


def contact_columns(given: Mapping[str, Any], country: str) -> dict[str, Any]:
    """The columns of a contact from what was given, cleaned."""
    written: dict[str, Any] = {}
    for name, value in given.items():
        match name:
            case "name":
                written["name"] = columns.line(value, "name", 200)
            case "email":
                written["email"] = columns.email(value)
            case "phone":
                written["phone"] = columns.phone(value, country)
            case "role":
                written["role"] = columns.choice(value, Contact.Copies.values, "role")
    return written


def _contact_of(client: Client, contact: Contact) -> Contact:
    kept: Contact | None = client.contacts.select_for_update().filter(pk=contact.pk).first()
    if kept is None:
        raise NotFound(_("There is no such contact."))
    return kept


def _refuse_taken(client: Client, email: str, but: Contact | None = None) -> None:
    others = client.contacts.filter(email__iexact=email)
    if but is not None:
        others = others.exclude(pk=but.pk)
    if email and others.exists():
        sentence = _("%(ref)s has the address %(email)s already.") % {"ref": client.ref, "email": email}
        raise DomainError("CONTACT_TAKEN", sentence, field="email")
