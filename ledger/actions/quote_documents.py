"""A quote on paper: what it would say on a day, rendered and stored once by its fingerprint."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from ledger import audit, dates, locales, permissions
from ledger.contacts import format_phone
from ledger.documents.papers import Addressee, Letterhead, Paper, PaperLine, QuoteDocument
from ledger.documents.typeset import Rendered, render
from ledger.models import Client, Company, Lead, Membership, Quote, QuoteRevision, StoredDocument
from ledger.tenancy import TenantModel, current_tenant

TAX_NAMES = {"US": _("Sales tax"), "BR": "ISS"}


@dataclass(frozen=True)
class Days:
    """The days that a quote states: of its making and the last on which it can be accepted (the company's days)."""

    issued_on: date
    valid_until: date


def days_of(quote: Quote, company: Company) -> Days:
    """The days that it would state if it went out today."""
    today = dates.today(company.timezone)
    return Days(today, dates.valid_through(today, quote.valid_days))


def quote_paper(quote: Quote, revision: QuoteRevision, days: Days) -> QuoteDocument:
    """What the document says: the rows as they are now, in the client's language."""
    company = Company.objects.get(pk=current_tenant())
    party, locale = quote.party, locale_of(quote, company)
    lines = list(revision.lines.all())
    return QuoteDocument(
        number=quote.ref,
        title=quote.title,
        locale=locale,
        currency=quote.currency,
        company=letterhead(company),
        client=addressee(party, company.country),
        lines=tuple(PaperLine(line.description, line.as_money(), line.unit, line.group) for line in lines),
        settings=revision.money_settings,
        totals=revision.totals(lines),
        site=quote.site.address if quote.site else "",
        terms=revision.terms,
        tax_name=tax_name(company, locale),
        revision=revision.n,
        issued_on=days.issued_on,
        valid_until=days.valid_until,
    )


def snapshot(paper: Paper) -> dict[str, Any]:
    """Everything that the document says, as strings, integers, lists and dictionaries."""
    plain: dict[str, Any] = json.loads(audit.canonical(asdict(paper)))
    return plain


def content_hash(paper: Paper) -> str:
    """SHA-256 of what the document says: equal as long as nothing that is printed has changed."""
    return hashlib.sha256(audit.canonical(asdict(paper)).encode()).hexdigest()


def store_document(kind: str, paper: Paper, subject: TenantModel) -> StoredDocument:
    """Render the document and keep it; equal bytes are kept once."""
    return store_rendered(kind, render(paper), subject)


def store_rendered(kind: str, rendered: Rendered, subject: TenantModel) -> StoredDocument:
    """Keep a document that was rendered outside of the transaction."""
    StoredDocument.objects.bulk_create(
        [
            StoredDocument(
                kind=kind,
                subject_id=subject.pk,
                sha256=rendered.sha256,
                content=rendered.content,
                pages=rendered.pages,
                preview=rendered.preview,
                complete=rendered.complete,
            )
        ],
        ignore_conflicts=True,
    )
    document: StoredDocument = without_bytes().get(sha256=rendered.sha256)
    return document


def without_bytes() -> Any:
    """Stored documents, without reading their bytes."""
    return StoredDocument.objects.defer("content", "preview")


@transaction.atomic
def preview_quote_pdf(quote: Quote, *, by: Membership) -> StoredDocument:
    """The document as the client has it or, for a draft, would get it today. Sends nothing."""
    permissions.require(by, "view_records")
    revision: QuoteRevision = quote.revisions.get(n=quote.revision)
    if revision.document_id is not None:
        document: StoredDocument = without_bytes().get(pk=revision.document_id)
        return document
    company = Company.objects.get(pk=current_tenant())
    return store_document("quote", quote_paper(quote, revision, days_of(quote, company)), revision)


def locale_of(quote: Quote, company: Company) -> str:
    """The locale of whom it is for: the client's own, or the company's for a lead."""
    return quote.client.language if quote.client else company.locale


def file_name(quote: Quote, revision: QuoteRevision) -> str:
    """The name of the file that the client receives."""
    return f"{quote.ref}-{revision.n}.pdf" if revision.n > 1 else f"{quote.ref}.pdf"


def tax_name(company: Company, locale: str) -> str:
    """The company's word for its tax, in the language of a document."""
    with translation.override(locales.language_of(locale)):
        return str(TAX_NAMES[company.country])


def letterhead(company: Company) -> Letterhead:
    """The company as it stands at the head of its papers."""
    return Letterhead(
        name=company.name,
        country=company.country,
        address=company.address,
        phone=_phone(company.phone, company.country),
        email=company.email,
        tax_id=company.tax_id,
    )


def addressee(party: Client | Lead, country: str) -> Addressee:
    """Whom a paper is for, with the main contact."""
    if isinstance(party, Lead):
        return Addressee(name=party.name, address=party.address, email=party.email, phone=_phone(party.phone, country))
    contact = party.main_contact
    return Addressee(
        name=party.name,
        contact=contact.name if contact and contact.name != party.name else "",
        address=party.address,
        email=contact.email if contact else "",
        phone=_phone(contact.phone, country) if contact else "",
    )


def _phone(number: str, country: str) -> str:
    return format_phone(number, country) if number.startswith("+") else number
