"""A lead becomes a client: a new one, or one that is already there. Quotes, sites and notes go along."""

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import rows
from ledger.actions.client_index import refresh
from ledger.actions.clients import create_client
from ledger.actions.contacts import add_contact
from ledger.actions.leads import step
from ledger.actions.matching import Match, Traits, same_clients
from ledger.actions.notes import carry_notes
from ledger.actions.sites import add_site
from ledger.contacts import email_key
from ledger.errors import DomainError
from ledger.models import Client, Lead, Membership, Quote, Site, Stage


def clients_like(lead: Lead) -> list[Match]:
    """The clients that the lead may already be: same name (case, accents and apostrophes aside, H29), phone,
    e-mail or address.
    """
    return same_clients(Traits(lead.name, lead.phone, lead.email, lead.address_key))


@transaction.atomic
def convert_lead_to_client(
    lead: Lead,
    *,
    by: Membership,
    merge_into: Client | None = None,
    as_new: bool = False,
    expected_version: int | None = None,
) -> Client:
    """Turn an open or won lead into a client, or let it join `merge_into`.

    Without `merge_into`, a client who may be the same raises PROBABLE_DUPLICATE with the candidates, unless a
    person said that it is somebody else (`as_new`). Raises WRONG_STATUS for a lead that is lost, junk or converted.
    """
    permissions.require(by, "convert_lead_to_client")
    held = rows.locked(lead, expected_version=expected_version)
    refuse_conversion(held, merge_into=merge_into, as_new=as_new)
    quotes = list(Quote.objects.select_for_update().filter(lead=held).order_by("pk"))
    client = _new_client(held, by) if merge_into is None else _joined(held, rows.locked(merge_into), by)
    moved = Site.objects.filter(lead=held).update(client=client, lead=None, version=F("version") + 1)
    if moved:
        refresh(client, by=by)
    for quote in quotes:
        rows.write(quote, by=by, client=client, lead=None)
    carried = carry_notes(source=held, target=client)
    step(held, Stage.WON, by=by, converted_client=client, converted_at=timezone.now())
    audit.record(
        "lead.converted",
        by=by,
        subject=held,
        ref=held.ref,
        client=client.ref,
        merged=merge_into is not None,
        quotes=[quote.ref for quote in quotes],
        notes=carried,
    )
    return client


def refuse_conversion(lead: Lead, *, merge_into: Client | None, as_new: bool = False) -> None:
    """Raises what `convert_lead_to_client` would; for the card, before anybody is asked."""
    if not lead.is_convertible:
        sentence = _("%(ref)s is not an open lead.") % {"ref": lead.ref}
        raise DomainError("WRONG_STATUS", sentence, status=lead.stage)
    if merge_into is not None and merge_into.archived_at is not None:
        sentence = _("%(ref)s is archived.") % {"ref": merge_into.ref}
        raise DomainError("WRONG_STATUS", sentence, status="archived")
    matches = [] if as_new or merge_into is not None else clients_like(lead)
    if matches:
        refs = ", ".join(match.row.ref for match in matches)
        sentence = _("%(name)s may already be a client: %(refs)s.") % {"name": lead.name, "refs": refs}
        raise DomainError("PROBABLE_DUPLICATE", sentence, candidates=[match.as_json() for match in matches])


def _new_client(lead: Lead, by: Membership) -> Client:
    client = create_client(
        by=by,
        kind=Client.Kind.PERSON,
        name=lead.name,
        email=lead.email,
        phone=lead.phone,
        address=lead.address_parts,
        on_duplicate="create",
    )
    if lead.line1 and not Site.objects.filter(lead=lead).exists():
        add_site(client, by=by, address=lead.address_parts)
    return client


def _joined(lead: Lead, client: Client, by: Membership) -> Client:
    """What the client lacks comes from the lead: a way to reach them, and the property."""
    contacts = list(client.contacts.all())
    email = "" if email_key(lead.email) in {email_key(contact.email) for contact in contacts} else lead.email
    phone = "" if lead.phone in {contact.phone for contact in contacts} else lead.phone
    if email or phone:
        add_contact(client, by=by, name=lead.name, email=email, phone=phone, role="none")
    known = {site.address_key for site in client.sites.all()}
    if lead.line1 and lead.address_key not in known and not Site.objects.filter(lead=lead).exists():
        add_site(client, by=by, address=lead.address_parts)
    return client
