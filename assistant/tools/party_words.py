"""Leads and clients as the model reads them: public refs, no tax id in the clear, outside text named as such."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from assistant.tools.facts import Outside
from assistant.tools.subjects import Candidate
from ledger.actions.notes import notes_of
from ledger.models import BusinessModel, Client, Contact, Lead, StageChange, Via
from ledger.money import amount_text

FROM_OUTSIDE = (Via.PORTAL, Via.WEBHOOK, Via.WHATSAPP, Via.IMPORT)
MOST_NOTES = 10


def outside_of(*rows: BusinessModel) -> tuple[Outside, ...]:
    """The rows whose texts were written by somebody outside the company."""
    return tuple(Outside(row._meta.model_name or "", row.ref) for row in rows if row.created_via in FROM_OUTSIDE)


def lead_line(lead: Lead) -> dict[str, Any]:
    """One line of a list. Reads `owner`."""
    told = {
        "ref": lead.ref,
        "name": lead.name,
        "stage": lead.stage,
        "source": lead.source,
        "value": amount_text(lead.value_cents),
        "city": lead.city,
        "phone": lead.phone,
        "email": lead.email,
        "owner": lead.owner.name if lead.owner else "",
        "created_on": timezone.localdate(lead.created_at).isoformat(),
        "version": lead.version,
    }
    return {name: value for name, value in told.items() if value != ""}


def lead_whole(lead: Lead) -> dict[str, Any]:
    """The lead with its way across the board, its site, notes and quotes."""
    told = lead_line(lead) | {"service": lead.service, "address": lead.address, "lost_reason": lead.lost_reason}
    client = lead.converted_client
    return {name: value for name, value in told.items() if value != ""} | {
        "client": client.ref if client else None,
        "sites": [{"ref": site.ref, "address": site.address} for site in lead.sites.filter(deleted_at=None)],
        "stages": [_stage(step) for step in lead.stage_changes.select_related("by").order_by("at")],
        "notes": notes_told(lead),
    }


def client_line(client: Client) -> dict[str, Any]:
    """One line of a list. Reads the contacts."""
    contact = client.main_contact
    told = {
        "ref": client.ref,
        "name": client.name,
        "kind": client.kind,
        "city": client.city,
        "email": contact.email if contact else "",
        "phone": contact.phone if contact else "",
        "tags": client.tags,
        "archived": client.archived_at is not None,
        "version": client.version,
    }
    return {name: value for name, value in told.items() if value not in ("", [], False)}


def client_whole(client: Client) -> dict[str, Any]:
    """The client with contacts, sites and notes. The tax id comes masked."""
    return client_line(client) | {
        "tax_id": client.tax_id_masked,
        "language": client.language,
        "terms_days": client.terms_days,
        "blocked": client.blocked,
        "credit": amount_text(client.credit_cents),
        "billing_address": client.address,
        "contacts": [_contact(contact) for contact in client.contacts.all()],
        "sites": [
            {"ref": site.ref, "label": site.label, "address": site.address, "access_notes": site.access_notes}
            for site in client.sites.all()
            if site.deleted_at is None
        ],
        "notes": notes_told(client),
    }


def notes_told(record: BusinessModel) -> list[dict[str, Any]]:
    """The newest notes of a record."""
    found = notes_of(record).select_related("created_by")[:MOST_NOTES]
    return [
        {
            "ref": note.ref,
            "body": note.body,
            "pinned": note.pinned,
            "by": note.created_by.name if note.created_by else "",
            "on": timezone.localdate(note.created_at).isoformat(),
        }
        for note in found
    ]


def named(party: Client | Lead) -> str:
    """The party in a list of candidates, told from another of the same name: "John Smith (C-0102), Boise"."""
    return f"{party.name} ({party.ref}), {party.city}".rstrip(", ")


def known_by(party: Client | Lead) -> list[str]:
    """Who answers for the party and under which address. Reads a client's contacts."""
    if isinstance(party, Lead):
        return [party.email]
    return [word for contact in party.contacts.all() for word in (contact.name, contact.email)]


def party_candidate(party: Client | Lead) -> Candidate:
    """The party as somebody that a person's words may mean."""
    return Candidate(party.ref, named(party), f"{party.name} {party.search}", party=party.ref)


def namesakes(party: Client | Lead) -> Iterable[Candidate]:
    """Others of the same kind who share a word of the name, in one query."""
    words = [word for word in party.name_key.split() if len(word) > 1][:4]
    if not words:
        return []
    shared = reduce(or_, (Q(name_key__contains=word) for word in words))
    rows: QuerySet[Any] = type(party).objects.filter(shared, deleted_at=None).exclude(pk=party.pk)
    return [party_candidate(row) for row in rows.order_by("ref")[:20]]


def _contact(contact: Contact) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": contact.name,
        "email": contact.email,
        "phone": contact.phone,
        "documents": contact.role,
        "main": contact.main,
    }
    if contact.email_is_fresh or contact.phone_is_fresh:
        told["changed_recently"] = True
    return told


def _stage(step: StageChange) -> dict[str, Any]:
    told = {
        "to": step.to_stage,
        "from": step.from_stage,
        "reason": step.lost_reason,
        "note": step.note,
        "by": step.by.name if step.by else "",
        "at": step.at.isoformat(timespec="minutes"),
    }
    return {name: value for name, value in told.items() if value != ""}
