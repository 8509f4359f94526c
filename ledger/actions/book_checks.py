"""The books read over again: what the database's triggers hold at each write, checked over all rows at once."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from django.db.models import Q, Sum

from ledger import money
from ledger.models import Allocation, Client, CreditNote, Invoice, InvoiceLine, Payment, Refund


def wrong_in_books() -> list[str]:
    """Every way in which the books of the company in scope do not agree, each with the ref; empty when all do.

    Numbers without gaps and in the order of their days (I5), totals as their lines come to (I3), sums of payments,
    credit notes and refunds (I6, I7), and the credit of each client (I8).
    """
    return [*_numbers(), *_totals(), *_invoices(), *_payments(), *_credit()]


def _numbers() -> Iterator[str]:
    issued = Invoice.objects.filter(serial__isnull=False, brought=False).order_by("series", "serial")
    notes = CreditNote.objects.order_by("series", "serial")
    found: Any
    for found in (issued, notes):
        for before, after in pairwise(found):
            if before.series == after.series and after.serial != before.serial + 1:
                yield f"{after.ref} does not follow {before.ref}"
            if before.series == after.series and after.issued_on < before.issued_on:
                yield f"{after.ref} is dated before {before.ref}"


def _totals() -> Iterator[str]:
    lines: dict[Any, list[InvoiceLine]] = defaultdict(list)
    for line in InvoiceLine.objects.order_by("invoice", "position"):
        lines[line.invoice_id].append(line)
    for invoice in Invoice.objects.iterator(chunk_size=500):
        computed = money.totals([line.as_money() for line in lines[invoice.pk]], invoice.money_settings)
        if (computed.total, computed.tax) != (invoice.total_cents, invoice.tax_total_cents):
            yield f"{invoice.ref} is not what its lines come to"


def _invoices() -> Iterator[str]:
    allocated = _sums(Allocation.objects.all(), "invoice")
    credited = _sums(CreditNote.objects.all(), "invoice")
    for invoice in Invoice.objects.iterator(chunk_size=500):
        paid, off = allocated.get(invoice.pk, 0), credited.get(invoice.pk, 0)
        if (paid, off) != (invoice.allocated_cents, invoice.credited_cents):
            yield f"{invoice.ref} does not agree with its payments and credit notes"
        if invoice.status != invoice.status_now():
            yield f"{invoice.ref} is {invoice.status}, but its amounts say {invoice.status_now()}"


def _payments() -> Iterator[str]:
    allocated = _sums(Allocation.objects.all(), "payment")
    refunded = _sums(Refund.objects.filter(status=Refund.Status.SUCCEEDED), "payment")
    held = _sums(Refund.objects.filter(status=Refund.Status.RESERVED), "payment")
    for payment in Payment.objects.iterator(chunk_size=500):
        back, on_its_way = refunded.get(payment.pk, 0), held.get(payment.pk, 0)
        if (back, on_its_way) != (payment.refunded_cents, payment.pending_refund_cents):
            yield f"{payment.ref} does not agree with its refunds"
        if allocated.get(payment.pk, 0) > payment.amount_cents - payment.refunded_cents:
            yield f"{payment.ref} pays more than it is"


def _credit() -> Iterator[str]:
    """What no invoice took of a client's payments and did not go back is the client's credit."""
    received = Payment.objects.filter(status__in=Payment.RECEIVED)
    amounts = received.values("client").annotate(kept=Sum("amount_cents") - Sum("refunded_cents"))
    kept = {row["client"]: row["kept"] for row in amounts}
    paid = _sums(Allocation.objects.filter(payment__in=received), "payment__client")
    held = Refund.objects.filter(status=Refund.Status.RESERVED).values("payment__client")
    taken = {row["payment__client"]: row["cents"] for row in held.annotate(cents=Sum("from_credit_cents"))}
    for client in Client.objects.filter(Q(credit_cents__gt=0) | Q(pk__in=kept)):
        left = kept.get(client.pk, 0) - paid.get(client.pk, 0) - taken.get(client.pk, 0)
        if left != client.credit_cents:
            yield f"{client.ref} has another credit than its payments left"


def _sums(rows: Any, by: str) -> dict[Any, int]:
    grouped: Iterable[dict[str, Any]] = rows.order_by().values(by).annotate(cents=Sum("amount_cents"))
    return {row[by]: int(row["cents"]) for row in grouped}
