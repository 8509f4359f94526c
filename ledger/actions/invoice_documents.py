"""An invoice on paper: a draft as it would be today, an issued one from what was frozen when it got its number."""

import uuid
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import transaction

from ledger import dates, money, permissions, tenancy
from ledger.actions.invoices import lines_of
from ledger.actions.quote_documents import (
    addressee,
    letterhead,
    store_document,
    store_rendered,
    tax_name,
    without_bytes,
)
from ledger.documents.papers import Addressee, InvoiceDocument, Letterhead, PaperLine
from ledger.documents.typeset import render
from ledger.models import Company, Invoice, Membership, StoredDocument
from ledger.money import MoneySettings, Portion
from ledger.tenancy import current_tenant

KIND = "invoice"


@dataclass(frozen=True)
class BillDays:
    """The days that an invoice states: of its issue and the last on which it is paid in time (the company's days)."""

    issued_on: date
    due_on: date


def bill_days(invoice: Invoice, company: Company) -> BillDays:
    """The days that it has, or for a draft would have if it were issued today."""
    if invoice.issued_on and invoice.due_on:
        return BillDays(invoice.issued_on, invoice.due_on)
    today = dates.today(company.timezone)
    return BillDays(today, dates.valid_through(today, invoice.terms_days))


def invoice_paper(invoice: Invoice, days: BillDays, *, number: str | None = None) -> InvoiceDocument:
    """What a draft says, from the rows as they are now, in the client's language."""
    company = Company.objects.get(pk=current_tenant())
    lines = lines_of(invoice)
    client, locale = invoice.client, invoice.client.language
    site = invoice.quote.site if invoice.quote else None
    return InvoiceDocument(
        number=number,
        title=invoice.title,
        locale=locale,
        currency=invoice.currency,
        company=letterhead(company),
        client=addressee(client, company.country),
        lines=tuple(PaperLine(line.description, line.as_money(), line.unit, line.group) for line in lines),
        settings=invoice.money_settings,
        totals=money.totals([line.as_money() for line in lines], invoice.money_settings),
        site=site.address if site else "",
        terms=invoice.notes,
        tax_name=tax_name(company, locale),
        issued_on=days.issued_on,
        due_on=days.due_on,
        po_number=invoice.po_number,
    )


def issued_paper(snapshot: dict[str, Any]) -> InvoiceDocument:
    """What an issued invoice says, from its snapshot alone: whatever the client or the company is called since."""
    settings = MoneySettings(
        **{name: snapshot["settings"][name] for name in ("tax_mode", "tax_rounding", "rounding")},
        discount=_portion(snapshot["settings"]["discount"]),
    )
    lines = tuple(
        PaperLine(row["description"], _line(row["money"]), row["unit"], row["group"]) for row in snapshot["lines"]
    )
    texts = ("number", "title", "locale", "currency", "site", "terms", "tax_name", "po_number", "payment")
    return InvoiceDocument(
        **{name: snapshot[name] for name in texts},
        company=Letterhead(**snapshot["company"]),
        client=Addressee(**snapshot["client"]),
        lines=lines,
        settings=settings,
        totals=money.totals([line.money for line in lines], settings),
        issued_on=date.fromisoformat(snapshot["issued_on"]),
        due_on=date.fromisoformat(snapshot["due_on"]),
    )


@transaction.atomic
def preview_invoice_pdf(invoice: Invoice, *, by: Membership) -> StoredDocument:
    """The document as the client has it or, for a draft, would get it today. Sends nothing, assigns no number."""
    permissions.require(by, "view_records")
    if invoice.document_id is not None:
        document: StoredDocument = without_bytes().get(pk=invoice.document_id)
        return document
    if invoice.snapshot is None:
        return draft_document(invoice, bill_days(invoice, Company.objects.get(pk=current_tenant())))
    document = store_document(KIND, issued_paper(invoice.snapshot), invoice)
    _file(invoice.pk, document)
    return document


def draft_document(invoice: Invoice, days: BillDays) -> StoredDocument:
    """The PDF of a draft, stored: without a number, which is assigned when it is issued."""
    return store_document(KIND, invoice_paper(invoice, days), invoice)


def file_invoice_pdf(company_id: uuid.UUID, invoice_id: uuid.UUID) -> str:
    """Render and keep an issued invoice's PDF; gives its SHA-256. Called outside any scope: no lock is held meanwhile.

    The same snapshot gives the same bytes, so doing it twice keeps one document.
    """
    with tenancy.tenant(company_id):
        invoice = Invoice.objects.select_related("document").defer(*BYTES).get(pk=invoice_id)
        if invoice.document is not None:
            return str(invoice.document.sha256)
        snapshot = invoice.snapshot
    if snapshot is None:
        raise ValueError("a draft has no final PDF")
    rendered = render(issued_paper(snapshot))
    with tenancy.tenant(company_id):
        _file(invoice_id, store_rendered(KIND, rendered, invoice))
    return rendered.sha256


BYTES = ("document__content", "document__preview")


def file_name(invoice: Invoice) -> str:
    """The name of the file that the client receives."""
    return f"{invoice.ref}.pdf"


def _file(invoice_id: uuid.UUID, document: StoredDocument) -> None:
    Invoice.objects.filter(pk=invoice_id, document=None).update(document=document)


def _line(row: dict[str, Any]) -> money.Line:
    return money.Line(
        quantity=Decimal(row["quantity"]),
        unit_price=Decimal(row["unit_price"]),
        tax_rate=Decimal(row["tax_rate"]),
        discount=_portion(row["discount"]),
        optional=row["optional"],
        selected=row["selected"],
    )


def _portion(row: dict[str, Any] | None) -> Portion | None:
    if row is None:
        return None
    return Portion(percent=None if row["percent"] is None else Decimal(row["percent"]), cents=row["cents"])
