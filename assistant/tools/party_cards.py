"""The cards of what happens to leads and clients: facts from the record, what follows, what stays."""

from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext as _

from assistant.tools.facts import Fact, Phrase, Preview, Target, money
from assistant.tools.registry import Prepared
from ledger.actions.conversions import clients_like, refuse_conversion
from ledger.actions.holds import documents_of, refuse_delete_client
from ledger.actions.leads import refuse_delete_lead
from ledger.actions.trash import KEPT
from ledger.models import Client, Lead, Note, Quote
from ledger.text import visible


def conversion_card(lead: Lead, client: Client | None, *, as_new: bool = False) -> Prepared:
    """The card of a conversion. Raises what refuses one: PROBABLE_DUPLICATE with the candidates among it (H29).

    With `as_new` a new client is made although others may be the same: the card names them.
    """
    refuse_conversion(lead, merge_into=client, as_new=as_new)
    like = [match.row for match in clients_like(lead)] if as_new and client is None else []
    words = {"lead": lead.name, "client": client.name if client else lead.name}
    quotes = Quote.objects.filter(lead=lead, deleted_at=None).count()
    notes = Note.objects.filter(record_id=lead.pk, deleted_at=None).count()
    joins = (
        [
            Fact("joins_client", "ref", client.ref),
            _text("client", f"{client.name}, {client.city}" if client.city else client.name),
        ]
        if client
        else []
    )
    title = "convert_into_title" if client else "convert_lead_title"
    return Prepared(
        payload={
            "lead": str(lead.pk),
            "ref": lead.ref,
            "version": lead.version,
            "client": str(client.pk) if client else "",
            "as_new": bool(like),
        },
        preview=Preview(
            title=Phrase(title, words),
            button=Phrase("convert_lead_button", words),
            facts=(
                *_person(lead),
                *joins,
                Fact("quotes_that_move", "count", quotes),
                Fact("notes_that_move", "count", notes),
            ),
            consequences=(
                Phrase("convert_joins" if client else "convert_makes", words),
                Phrase("convert_moves"),
                Phrase("convert_not_reversible"),
            ),
            warnings=tuple(Phrase("convert_like", {"ref": one.ref, "name": one.name}) for one in like),
        ),
        summary=_summary_of_conversion(lead, client),
        targets=(_target(lead), *([_target(client)] if client else [])),
    )


def delete_lead_card(lead: Lead, currency: str) -> Prepared:
    """The card of a lead that goes to the trash. Raises what refuses it."""
    refuse_delete_lead(lead)
    drafts = Quote.objects.filter(lead=lead, deleted_at=None).count()
    words = {"name": lead.name, "ref": lead.ref}
    return Prepared(
        payload={"lead": str(lead.pk), "ref": lead.ref, "version": lead.version},
        preview=Preview(
            title=Phrase("delete_lead_title", words),
            button=Phrase("delete_lead_button", words),
            facts=(
                *_person(lead),
                Fact("stage", "text", str(lead.stage)),
                Fact("created_at", "datetime", lead.created_at),
                Fact("expected_value", "money", money(lead.value_cents, currency)),
                Fact("linked_quotes", "count", drafts),
            ),
            consequences=(_restorable(),),
        ),
        summary=_("Move lead %(ref)s, %(name)s, to the trash.") % words,
        targets=(_target(lead),),
    )


def delete_client_card(client: Client) -> Prepared:
    """The card of a client who goes to the trash. Raises HAS_ISSUED_DOCUMENTS with the counts (H26)."""
    refuse_delete_client(client)
    documents = documents_of(client)
    contact = client.main_contact
    words = {"name": client.name, "ref": client.ref}
    facts = [Fact("client", "ref", client.ref), _text("name", client.name)]
    if client.tax_id_masked:
        facts.append(_text("tax_id", client.tax_id_masked))
    if contact and contact.email:
        facts.append(Fact("email", "email", contact.email))
    if client.city:
        facts.append(_text("city", client.city))
    sites = client.sites.filter(deleted_at=None).aggregate(n=Count("pk"))["n"]
    return Prepared(
        payload={"client": str(client.pk), "ref": client.ref, "version": client.version},
        preview=Preview(
            title=Phrase("delete_client_title", words),
            button=Phrase("delete_client_button", words),
            facts=(
                *facts,
                Fact("created_at", "datetime", client.created_at),
                Fact("draft_quotes", "count", documents.quotes_draft),
                Fact("draft_invoices", "count", documents.invoices_draft),
                Fact("sites", "count", sites),
            ),
            consequences=(_restorable(),),
        ),
        summary=_("Move client %(ref)s, %(name)s, to the trash.") % words,
        targets=(_target(client),),
    )


def _person(lead: Lead) -> list[Fact]:
    facts = [Fact("lead", "ref", lead.ref), _text("name", lead.name)]
    if lead.phone:
        facts.append(_text("phone", lead.phone))
    if lead.email:
        facts.append(Fact("email", "email", lead.email))
    if lead.address:
        facts.append(_text("address", lead.address))
    return facts


def _summary_of_conversion(lead: Lead, client: Client | None) -> str:
    if client is None:
        return _("Make lead %(ref)s, %(name)s, a client.") % {"ref": lead.ref, "name": lead.name}
    words = {"ref": lead.ref, "name": lead.name, "client": client.ref, "client_name": client.name}
    return _("Let lead %(ref)s, %(name)s, join client %(client)s, %(client_name)s.") % words


def _text(name: str, value: str) -> Fact:
    return Fact(name, "text", value, ("hidden_characters",) if visible(value).hidden else ())


def _restorable() -> Phrase:
    until = (timezone.localtime() + KEPT).date()
    return Phrase("restorable_until", {"day": {"date": until.isoformat()}})


def _target(row: Client | Lead) -> Target:
    return Target(row._meta.model_name or "", str(row.pk), row.version)
