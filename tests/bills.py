"""Invoices and payments of the cast, made by the actions that people use, in the scope that the caller holds."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from ledger.actions.invoice_issuing import bring_invoice, issue_invoice
from ledger.actions.invoices import create_invoice
from ledger.actions.payments import receive_payment, record_payment
from ledger.actions.quote_answers import Signature, accept_quote
from ledger.dates import today
from ledger.models import Client, Invoice, Payment, Quote
from tests.cast import Cast, john_smith
from tests.offers import lines_of, send


def the_client(cast: Cast) -> Client:
    """The only client of the cast, made if there is none."""
    return Client.objects.first() or john_smith(cast)


def draft(cast: Cast, *amounts: str, client: Client | None = None, tax: Decimal = Decimal(0), **given: Any) -> Invoice:
    """A draft with one line for each amount."""
    client = client or the_client(cast)
    values: dict[str, Any] = {"by": cast.owner, "title": "Leak repair", "lines": lines_of(*amounts, tax=tax)}
    return create_invoice(client, **values | given)


def issued(cast: Cast, *amounts: str, **given: Any) -> Invoice:
    """An invoice that was issued today."""
    return issue_invoice(draft(cast, *amounts, **given), by=cast.owner)


def brought(cast: Cast, number: str, amount: str, *, issued_on: date, due_on: date, **given: Any) -> Invoice:
    """An invoice from books kept elsewhere."""
    invoice = draft(cast, amount, draft_ref=f"OLD-{number}", **given)
    return bring_invoice(invoice, by=cast.owner, number=number, issued_on=issued_on, due_on=due_on)


def accepted(cast: Cast, quote: Quote, *options: Any) -> Quote:
    """The quote after it went out and the client said yes, with these optional lines."""
    revision = send(cast, quote)
    totals = revision.totals(list(revision.lines.all()), options)
    signature = Signature("John Smith", revision.document.sha256, frozenset(options), totals.total)
    accept_quote(revision, signature=replace(signature, address="203.0.113.9"))
    return Quote.objects.get(pk=quote.pk)


def paid(cast: Cast, amount_cents: int, *invoices: Invoice, **given: Any) -> Payment:
    """A check that arrived today, for these invoices in their order, or the oldest first."""
    left, allocations = amount_cents, []
    for invoice in invoices:
        cents = min(left, Invoice.objects.get(pk=invoice.pk).balance_cents)
        allocations.append((invoice, cents))
        left -= cents
    values: dict[str, Any] = {
        "by": cast.owner,
        "amount_cents": amount_cents,
        "method": "check",
        "received_on": today(cast.company.timezone),
        "allocations": allocations or None,
    }
    client = invoices[0].client if invoices else the_client(cast)
    return record_payment(client, **values | given)


def charged(cast: Cast, amount_cents: int, *invoices: Invoice, **given: Any) -> Payment:
    """Money that came by the card provider."""
    values: dict[str, Any] = {
        "by": cast.owner,
        "provider": "cards",
        "provider_id": f"pi_{Payment.objects.count() + 1}",
        "method": "card",
        "last4": "4242",
        "amount_cents": amount_cents,
        "received_on": today(cast.company.timezone),
        "allocations": [(invoice, amount_cents) for invoice in invoices] or None,
    }
    client = invoices[0].client if invoices else the_client(cast)
    return receive_payment(client, **values | given)


def fresh(row: Any) -> Any:
    """The row as it is now."""
    return type(row).objects.get(pk=row.pk)
