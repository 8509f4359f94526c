"""A payment as the model reads it: public refs, amounts in major units as text.

A candidate's label may be said to a person, so its amount is written as they write it.
"""

from typing import Any

from assistant.tools.party_words import known_by, named
from assistant.tools.subjects import Candidate
from ledger import reader
from ledger.models import Allocation, Payment, Refund
from ledger.money import amount_text


def brief(payment: Payment) -> dict[str, Any]:
    """One line of a list. Reads `client`."""
    told = {
        "ref": payment.ref,
        "client": {"ref": payment.client.ref, "name": payment.client.name},
        "amount": amount_text(payment.amount_cents),
        "method": payment.method,
        "card": payment.last4,
        "reference": payment.reference,
        "received_on": payment.received_on.isoformat(),
        "status": payment.status,
        "refunded": amount_text(payment.refunded_cents),
    }
    if payment.pending_refund_cents:
        told["refunds_on_their_way"] = amount_text(payment.pending_refund_cents)
    return {name: value for name, value in told.items() if value != ""}


def whole(payment: Payment) -> dict[str, Any]:
    """The payment with what it pays, what went back, and the provider's ids."""
    allocations = payment.allocations.filter(amount_cents__gt=0).select_related("invoice").order_by("pk")
    refunds = payment.refunds.select_related("created_by").prefetch_related("credit_notes").order_by("created_at")
    return brief(payment) | {
        "version": payment.version,
        "currency": payment.currency,
        "net": amount_text(payment.net_cents),
        "refundable": amount_text(payment.refundable_cents if payment.provider else 0),
        "by_hand": payment.is_by_hand,
        "provider": payment.provider,
        "provider_id": payment.provider_id,
        "fee": amount_text(payment.fee_cents),
        "allocations": [_allocation(one) for one in allocations],
        "refunds": [_refund(one) for one in refunds],
    }


def candidate(payment: Payment) -> Candidate:
    """The payment as something that may be meant by somebody's words. Reads the client's contacts."""
    client = payment.client
    label = f"{named(client)}: {reader.amount(payment.amount_cents, payment.currency)}"
    said = [client.name, client.address, payment.method, payment.last4, payment.reference, *known_by(client)]
    text = " ".join([client.ref, *said])
    return Candidate(payment.ref, label, text, party=client.ref, state=payment.status)


def others_like(payment: Payment) -> list[Candidate]:
    """The company's other newest payments."""
    rows = Payment.objects.exclude(pk=payment.pk).select_related("client").order_by("-received_on", "-pk")
    rows = rows.prefetch_related("client__contacts")
    return [candidate(row) for row in rows[:200]]


def _allocation(allocation: Allocation) -> dict[str, Any]:
    invoice = allocation.invoice
    return {
        "invoice": invoice.ref,
        "amount": amount_text(allocation.amount_cents),
        "invoice_status": invoice.status,
        "invoice_balance": amount_text(invoice.balance_cents),
    }


def _refund(refund: Refund) -> dict[str, Any]:
    """A refund that is on its way reads as pending: nobody may claim that it is done."""
    return {
        "ref": refund.ref,
        "amount": amount_text(refund.amount_cents),
        "status": "pending" if refund.status == Refund.Status.RESERVED else refund.status,
        "reason": refund.reason,
        "note": refund.note,
        "by": refund.created_by.name if refund.created_by else "",
        "on": refund.created_at.date().isoformat(),
        "provider_id": refund.provider_id,
        "credit_notes": [note.ref for note in refund.credit_notes.all()],
    }
