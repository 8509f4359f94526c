"""Who might be the same person: found by name, phone, e-mail or address, returned to be chosen from, never chosen."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from ledger.contacts import email_key
from ledger.errors import DomainError
from ledger.models import Client, Lead
from ledger.text import search_key

MOST = 10


@dataclass(frozen=True)
class Traits:
    """What a person is known by; empty parts match nothing."""

    name: str = ""
    phone: str = ""
    email: str = ""
    address_key: str = ""
    tax_id_hash: str = ""


@dataclass(frozen=True)
class Match:
    """A record that may be the same, and by what: "name", "phone", "email", "address", "tax_id"."""

    row: Client | Lead
    by: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """What a person needs to choose."""
        row = self.row
        told = {"ref": row.ref, "kind": row._meta.model_name, "name": row.name, "city": row.city, "same": list(self.by)}
        contact = row.main_contact if isinstance(row, Client) else row
        return told | {"email": contact.email if contact else "", "phone": contact.phone if contact else ""}


def same_clients(traits: Traits, *, by_name: bool = True) -> list[Match]:
    """Clients that share a trait, archived ones too; at most ten, two queries whatever their number."""
    condition = Q(pk=None)
    if traits.phone:
        condition |= Q(contacts__phone=traits.phone)
    if traits.email:
        condition |= Q(contacts__email__iexact=traits.email)
    if traits.address_key:
        condition |= Q(address_key=traits.address_key) | Q(sites__address_key=traits.address_key)
    if traits.tax_id_hash:
        condition |= Q(tax_id_hash=traits.tax_id_hash)
    if by_name and traits.name:
        condition |= Q(name_key=search_key(traits.name))
    ids = Client.objects.filter(condition, deleted_at=None).order_by("pk").values("pk").distinct()[:MOST]
    rows = Client.objects.filter(pk__in=ids).prefetch_related("contacts", "sites").order_by("ref")
    return [Match(row, _shared_with_client(row, traits)) for row in rows]


def same_leads(traits: Traits, *, but: Lead | None = None) -> list[Match]:
    """Leads that share a phone, an e-mail or an address; at most ten, in one query."""
    condition = Q(pk=None)
    if traits.phone:
        condition |= Q(phone=traits.phone)
    if traits.email:
        condition |= Q(email__iexact=traits.email)
    if traits.address_key:
        condition |= Q(address_key=traits.address_key)
    rows = Lead.objects.filter(condition, deleted_at=None, converted_client=None)
    if but is not None:
        rows = rows.exclude(pk=but.pk)
    return [Match(row, _shared_with_lead(row, traits)) for row in rows.order_by("ref")[:MOST]]


def refuse_duplicates(matches: Iterable[Match]) -> None:
    """Raises PROBABLE_DUPLICATE with the candidates if there are any."""
    found = [match.as_json() for match in matches]
    if found:
        refs = ", ".join(match["ref"] for match in found)
        sentence = _("This may already be there: %(refs)s.") % {"refs": refs}
        raise DomainError("PROBABLE_DUPLICATE", sentence, candidates=found)


def _shared_with_client(row: Client, traits: Traits) -> tuple[str, ...]:
    contacts = list(row.contacts.all())
    keys = {row.address_key, *(site.address_key for site in row.sites.all())}
    return _named(
        name=bool(traits.name) and row.name_key == search_key(traits.name),
        phone=any(contact.phone == traits.phone for contact in contacts if contact.phone),
        email=any(email_key(contact.email) == email_key(traits.email) for contact in contacts if contact.email),
        address=bool(traits.address_key) and traits.address_key in keys,
        tax_id=bool(traits.tax_id_hash) and row.tax_id_hash == traits.tax_id_hash,
    )


def _shared_with_lead(row: Lead, traits: Traits) -> tuple[str, ...]:
    return _named(
        name=bool(traits.name) and row.name_key == search_key(traits.name),
        phone=bool(traits.phone) and row.phone == traits.phone,
        email=bool(traits.email) and email_key(row.email) == email_key(traits.email),
        address=bool(traits.address_key) and row.address_key == traits.address_key,
    )


def _named(**shared: bool) -> tuple[str, ...]:
    return tuple(name for name, applies in shared.items() if applies)
