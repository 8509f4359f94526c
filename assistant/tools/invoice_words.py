"""An invoice as the model reads it: public refs, amounts in major units as text, nothing that needs arithmetic."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from assistant.tools.party_words import known_by, named
from assistant.tools.subjects import Candidate
from ledger.models import Allocation, Client, CreditNote, Invoice, InvoiceLine
from ledger.money import amount_text, percent_text


def client_of(invoice: Invoice) -> dict[str, Any]:
    """Whose it is: ref, name and city."""
    client: Client = invoice.client
    return {"ref": client.ref, "name": client.name, "city": client.city}


def state_of(invoice: Invoice, today: date) -> str:
    """The status as people speak of it: "overdue" is told by the company's day and never stored (H25)."""
    return "overdue" if invoice.days_late(today) else str(invoice.status)


def brief(invoice: Invoice, today: date) -> dict[str, Any]:
    """One line of a list."""
    return {
        "ref": invoice.ref,
        "client": client_of(invoice),
        "title": invoice.title,
        "status": state_of(invoice, today),
        "total": amount_text(invoice.total_cents),
        "balance": amount_text(invoice.balance_cents),
        "issued_on": _day(invoice.issued_on),
        "due_on": _day(invoice.due_on),
    }


def late(invoice: Invoice, today: date) -> dict[str, Any]:
    """One line of the overdue list, with what is known about the delay."""
    days = invoice.days_late(today)
    return brief(invoice, today) | {
        "days_late": days,
        "bucket": bucket(days),
        "reminders": invoice.reminders,
        "last_reminder_on": _day(invoice.last_reminder_on),
        "promised_on": _day(invoice.promise_on),
        "disputed": invoice.disputed,
    }


def bucket(days: int) -> str:
    """The column of the ageing report that so many days late belong to."""
    for most, name in ((30, "1-30"), (60, "31-60"), (90, "61-90")):
        if days <= most:
            return name
    return "over 90"


def whole(invoice: Invoice, lines: Iterable[InvoiceLine], today: date) -> dict[str, Any]:
    """The invoice with its lines and totals."""
    quote = invoice.quote
    return brief(invoice, today) | {
        "version": invoice.version,
        "number": invoice.number,
        "draft_ref": invoice.draft_ref,
        "quote": quote.ref if quote else None,
        "part_of_quote": percent_text(invoice.quote_percent) if invoice.quote_percent else invoice.quote_part or None,
        "currency": invoice.currency,
        "due_days": invoice.terms_days,
        "po_number": invoice.po_number,
        "notes": invoice.notes,
        "lines": [told_line(line) for line in lines],
        "subtotal": amount_text(invoice.subtotal_total_cents),
        "discount_pct": percent_text(invoice.discount_percent) if invoice.discount_percent is not None else None,
        "discount": amount_text(invoice.discount_total_cents),
        "tax": amount_text(invoice.tax_total_cents),
        "tax_included_in_prices": invoice.tax_mode == "inclusive",
        "paid": amount_text(invoice.allocated_cents),
        "credited": amount_text(invoice.credited_cents),
        "days_late": invoice.days_late(today),
        "promised_on": _day(invoice.promise_on),
        "disputed": invoice.disputed,
        "reminders": invoice.reminders,
        "last_reminder_on": _day(invoice.last_reminder_on),
    }


def told_line(line: InvoiceLine) -> dict[str, Any]:
    return {
        "line": line.position,
        "description": line.description,
        "qty": percent_text(line.quantity),
        "unit": line.unit,
        "unit_price": percent_text(line.unit_price),
        "tax_rate": percent_text(line.tax_rate),
        "net": amount_text(line.net_total_cents),
    }


def told_allocation(allocation: Allocation) -> dict[str, Any]:
    """What a payment pays of the invoice. Reads `payment`."""
    payment = allocation.payment
    return {
        "payment": payment.ref,
        "amount": amount_text(allocation.amount_cents),
        "method": payment.method,
        "received_on": payment.received_on.isoformat(),
        "refunded": amount_text(payment.refunded_cents),
    }


def told_credit(note: CreditNote) -> dict[str, Any]:
    return {
        "ref": note.ref,
        "amount": amount_text(note.amount_cents),
        "issued_on": note.issued_on.isoformat(),
        "reason": note.reason,
    }


def candidate(invoice: Invoice) -> Candidate:
    """The invoice as something that may be meant by somebody's words. Reads the client's contacts."""
    client = invoice.client
    text = " ".join([invoice.title, invoice.draft_ref, client.ref, client.name, client.address, *known_by(client)])
    label = f"{named(client)}: {invoice.title}"
    return Candidate(invoice.ref, label, text, party=client.ref, state=invoice.status)


def others_like(invoice: Invoice) -> list[Candidate]:
    """The company's other newest invoices that are not in the trash."""
    rows = Invoice.objects.filter(deleted_at=None).exclude(pk=invoice.pk).select_related("client")
    return [candidate(row) for row in rows.prefetch_related("client__contacts").order_by("-created_at")[:200]]


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
