"""Invoices: draft one, find one, throw a draft away. From a quote: invoice_quotes; issuing: invoice_issuing."""

import datetime
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import columns, rows
from ledger.actions.invoice_lines import Computation, priced, stored
from ledger.actions.quote_lines import LineDraft
from ledger.company_settings import current_settings
from ledger.errors import DomainError, NotFound
from ledger.models import Client, Invoice, InvoiceLine, Membership
from ledger.money import Portion
from ledger.numbering import take_number
from ledger.text import search_key

MOST_DAYS = 365


@transaction.atomic
def create_invoice(
    client: Client,
    *,
    by: Membership,
    lines: Sequence[LineDraft],
    title: str = "",
    discount: Portion | None = None,
    due_days: int | None = None,
    po_number: str = "",
    notes: str = "",
    draft_ref: str = "",
) -> Invoice:
    """Draft an invoice with lines of its own. A draft has no number; totals are computed here (I3).

    It is due `due_days` after the day of issue; without, the client's terms or else the company's hold. A company
    that brings its drafts along gives `draft_ref`. Raises DomainError for what an invoice cannot hold.
    """
    permissions.require(by, "create_invoice")
    require_billable(client)
    made = priced(lines)
    invoice = draft_of(
        client,
        by,
        Computation.of_company(current_settings(), discount),
        title=columns.line(title or made[0].description[:160], "title", 160),
        due_days=due_days,
        po_number=po_number,
        notes=columns.block(notes, "notes", 2000),
        draft_ref=draft_ref,
    )
    return drafted(stored(invoice, made), by)


def draft_of(
    client: Client,
    by: Membership,
    computation: Computation,
    *,
    due_days: int | None,
    po_number: str,
    draft_ref: str = "",
    **values: Any,
) -> Invoice:
    """A draft that isn't stored yet, with its ref taken."""
    number = columns.line(po_number, "po_number", 40)
    ref = draft_ref or take_number("draft_invoice")
    return Invoice(
        **rows.made_by(by),
        **computation.columns(),
        ref=ref,
        draft_ref=ref,
        client=client,
        currency=columns.company().currency,
        terms_days=_terms_of(client, due_days),
        po_number=number,
        search=search_of(ref, "", str(values.get("title", "")), client),
        **values,
    )


def drafted(invoice: Invoice, by: Membership) -> Invoice:
    """Put the new draft on record."""
    audit.record(
        "invoice.created",
        by=by,
        subject=invoice,
        ref=invoice.ref,
        client=invoice.client.ref,
        quote=invoice.quote.ref if invoice.quote else None,
        part=invoice.quote_part,
        total_cents=invoice.total_cents,
        currency=invoice.currency,
    )
    return invoice


@transaction.atomic
def delete_invoice(invoice: Invoice, *, by: Membership, expected_version: int | None = None) -> Invoice:
    """Move a draft to the trash, for thirty days. Issued invoices stay: they can be voided (I9, H16)."""
    permissions.require(by, "delete_invoice")
    held = rows.locked(invoice, expected_version=expected_version)
    refuse_delete_invoice(held)
    rows.trash(held, by=by)
    audit.record("invoice.deleted", by=by, subject=held, ref=held.ref, total_cents=held.total_cents)
    return held


def refuse_delete_invoice(invoice: Invoice) -> None:
    """Raises WRONG_STATUS for an invoice that is more than a draft; for the card, and for the deed."""
    if invoice.status != Invoice.Status.DRAFT:
        sentence = _("%(ref)s was issued, so it cannot be deleted; it can be voided.") % {"ref": invoice.ref}
        raise DomainError("WRONG_STATUS", sentence, status=invoice.status)


def invoice_of(ref: str, among: "QuerySet[Invoice] | None" = None) -> Invoice:
    """The invoice of that number; the ref of its draft finds it too, for as long as there is it. Raises NotFound."""
    wanted = ref.strip().upper()
    known: QuerySet[Invoice] = Invoice.objects.all() if among is None else among
    invoice = known.filter(Q(ref=wanted) | Q(draft_ref=wanted), deleted_at=None).first()
    if invoice is None:
        raise NotFound(_("There is no record %(ref)s.") % {"ref": ref.strip()[:24]}, ref=ref.strip()[:24])
    return invoice


def lines_of(invoice: Invoice) -> list[InvoiceLine]:
    """The lines in their order."""
    return list(invoice.lines.order_by("position"))


def newest_first(found: QuerySet[Invoice]) -> QuerySet[Invoice]:
    """Drafts first, then what was issued last: by the numeric part, so that 10000 comes before 9999 (H17)."""
    return found.order_by(F("issued_on").desc(nulls_first=True), "-serial", "-created_at", "-pk")


def overdue(today: datetime.date) -> QuerySet[Invoice]:
    """What should have been paid before this day of the company, the longest late first (H25)."""
    late: QuerySet[Invoice] = Invoice.objects.filter(
        status__in=Invoice.PAYABLE, balance_cents__gt=0, due_on__lt=today, deleted_at=None
    )
    return late.order_by("due_on", "serial")


def require_billable(client: Client) -> None:
    """Raises PARTY_GONE, CLIENT_ARCHIVED or CLIENT_BLOCKED where no invoice may go to the client."""
    if client.deleted_at is not None:
        raise DomainError("PARTY_GONE", _("%(ref)s is in the trash.") % {"ref": client.ref}, ref=client.ref)
    if client.archived_at is not None:
        raise DomainError("CLIENT_ARCHIVED", _("%(ref)s is archived.") % {"ref": client.ref}, ref=client.ref)
    if client.blocked:
        raise DomainError("CLIENT_BLOCKED", _("%(ref)s is blocked.") % {"ref": client.ref}, ref=client.ref)


def search_of(draft_ref: str, number: str, title: str, client: Client) -> str:
    """What an invoice is found by."""
    return search_key(f"{draft_ref} {number} {title} {client.name}")


def _terms_of(client: Client, due_days: int | None) -> int:
    if due_days is None:
        return client.terms_days if client.terms_days is not None else current_settings().values.terms_days
    if not 0 <= due_days <= MOST_DAYS:
        raise DomainError("BAD_NUMBER", _("An invoice is due within 0 to 365 days."), field="due_days")
    return due_days
