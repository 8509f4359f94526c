"""What an invoice has received and what was taken off it: one way to change both, so that status and sums agree."""

import datetime
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.db.models import Sum
from django.utils.translation import gettext as _

from ledger import audit, dates, numbering
from ledger.actions import columns, rows
from ledger.cents import Rounding, divided
from ledger.models import Allocation, Client, CreditNote, Invoice, Membership, Payment, Refund


def locked_invoices(ids: Iterable[Any]) -> dict[Any, Invoice]:
    """Invoices by id, held until the transaction ends, locked in one order. Their client is locked before them."""
    held = Invoice.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=list(ids)).order_by("pk")
    return {invoice.pk: invoice for invoice in held}


def allocate(payment: Payment, invoice: Invoice, cents: int, *, by: Membership | None) -> None:
    """Let a payment pay so much more of a locked invoice, or with a negative amount so much less."""
    allocation = Allocation.objects.filter(payment=payment, invoice=invoice).first()
    if allocation is None:
        Allocation.objects.create(payment=payment, invoice=invoice, amount_cents=cents)
    else:
        allocation.amount_cents += cents
        allocation.save(update_fields=["amount_cents"])
    _settle(invoice, by=by, allocated_cents=invoice.allocated_cents + cents)


def credit(
    invoice: Invoice, cents: int, *, by: Membership | None, reason: str, refund: Refund | None = None
) -> CreditNote:
    """Take so much off a locked invoice, under a number of its own, and as much of its tax as belongs to it."""
    company = columns.company()
    number = numbering.take("credit_note")
    tax_lines = _tax_of(invoice, cents)
    note: CreditNote = CreditNote.objects.create(
        **rows.made_by(by),
        ref=number.text,
        series=number.series,
        serial=number.serial,
        invoice=invoice,
        refund=refund,
        amount_cents=cents,
        tax_total_cents=sum(row["tax"] for row in tax_lines),
        tax_lines=tax_lines,
        currency=invoice.currency,
        issued_on=dates.today(company.timezone),
        reason=columns.line(reason, "reason", 500) or _("Credit"),
    )
    _settle(invoice, by=by, credited_cents=invoice.credited_cents + cents)
    audit.record(
        "credit_note.issued", by=by, subject=note, ref=note.ref, invoice=invoice.ref, amount_cents=cents, reason=reason
    )
    return note


def give_credit(client: Client, cents: int, *, by: Membership | None) -> None:
    """Add to a locked client's credit, or with a negative amount take from it; the database keeps it from going
    below zero."""
    if cents:
        rows.write(client, by=by, credit_cents=client.credit_cents + cents)


def received_cents(first: datetime.date, last: datetime.date) -> int:
    """Income of the days from first to last: what was received on them, less what of it was refunded (H21)."""
    received = Payment.objects.filter(status__in=Payment.RECEIVED, received_on__range=(first, last))
    sums = received.aggregate(amount=Sum("amount_cents"), refunded=Sum("refunded_cents"))
    return int(sums["amount"] or 0) - int(sums["refunded"] or 0)


def _settle(invoice: Invoice, *, by: Membership | None, **amounts: int) -> None:
    for name, value in amounts.items():
        setattr(invoice, name, value)
    invoice.balance_cents = (
        invoice.total_cents - invoice.credited_cents - invoice.allocated_cents - invoice.written_off_cents
    )
    rows.write(invoice, by=by, **amounts, balance_cents=invoice.balance_cents, status=invoice.status_now())


def _tax_of(invoice: Invoice, cents: int) -> list[dict[str, Any]]:
    """The tax inside the next `cents` credited, by rate: counted from the first cent ever credited, so that credit
    notes over the whole invoice hold its whole tax."""
    rounding = Rounding(invoice.rounding)
    before, after = invoice.credited_cents, invoice.credited_cents + cents
    taxes = []
    for row in invoice.tax_lines:
        shares = [divided(row["tax"] * upto, invoice.total_cents, rounding) for upto in (before, after)]
        taxes.append({"rate": str(Decimal(row["rate"])), "tax": shares[1] - shares[0]})
    return [tax for tax in taxes if tax["tax"]]
