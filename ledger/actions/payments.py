"""Payments: money that came in. What it would pay is in payment_plans.py, what goes back is in refunds.py."""

import uuid
from collections.abc import Sequence
from datetime import date
from typing import Any

from django.db import transaction

from ledger import audit, permissions
from ledger.actions import columns, rows
from ledger.actions.balances import allocate, give_credit, locked_invoices
from ledger.actions.payment_plans import PaymentPlan, as_far_as_open, oldest_first, open_invoices, plan_payment
from ledger.models import Client, Invoice, Membership, Payment
from ledger.numbering import take_number
from ledger.text import search_key


@transaction.atomic
def record_payment(
    client: Client,
    *,
    by: Membership,
    amount_cents: int,
    method: str,
    received_on: date,
    allocations: Sequence[tuple[Invoice, int]] | None = None,
    reference: str = "",
    allow_credit: bool = False,
    key: uuid.UUID | None = None,
    ref: str = "",
) -> Payment:
    """Record money that came in outside the system, and pay invoices with it, as `plan_payment` says.

    `key` is that of the form or action: a second call with it gives the payment of the first and changes nothing
    (H22). A company that brings its numbers along gives `ref`.
    """
    permissions.require(by, "record_payment")
    client = rows.locked(client)
    standing: Payment | None = Payment.objects.filter(key=key).first() if key else None
    if standing is not None:
        return standing
    wanted = _held(client, allocations)
    plan = plan_payment(
        client,
        by=by,
        amount_cents=amount_cents,
        method=method,
        received_on=received_on,
        allocations=wanted,
        reference=reference,
        allow_credit=allow_credit,
    )
    payment = _store(plan, by=by, status=Payment.Status.RECORDED, key=key, ref=ref)
    _pay(payment, plan, by=by)
    audit.record("payment.recorded", by=by, subject=payment, **_told(payment, plan))
    return payment


@transaction.atomic
def receive_payment(
    client: Client,
    *,
    by: Membership | None,
    provider: str,
    provider_id: str,
    method: str,
    amount_cents: int,
    received_on: date,
    allocations: Sequence[tuple[Invoice, int]] | None = None,
    last4: str = "",
    ref: str = "",
) -> Payment:
    """Book money that a provider received for us: once for each of its ids, whatever is owed (I8).

    It pays the named invoices as far as they are open, or the oldest first; what is left over is the client's credit.
    """
    client = rows.locked(client)
    standing: Payment | None = Payment.objects.filter(provider=provider, provider_id=provider_id).first()
    if standing is not None:
        return standing
    held = _held(client, allocations)
    shares = oldest_first(client, amount_cents) if held is None else as_far_as_open(held)
    credit_cents = amount_cents - sum(share.cents for share in shares)
    plan = PaymentPlan(client, amount_cents, method, received_on, "", shares, credit_cents, ())
    payment = _store(
        plan,
        by=by,
        status=Payment.Status.SUCCEEDED,
        ref=ref,
        provider=provider,
        provider_id=provider_id,
        last4=last4,
    )
    _pay(payment, plan, by=by)
    audit.record(
        "payment.received", by=by, subject=payment, provider=provider, provider_id=provider_id, **_told(payment, plan)
    )
    return payment


def _held(client: Client, allocations: Sequence[tuple[Invoice, int]] | None) -> list[tuple[Invoice, int]] | None:
    """The allocations with their invoices locked; without any, the client's open ones are."""
    if allocations is None:
        locked_invoices(open_invoices(client).values_list("pk", flat=True))
        return None
    held = locked_invoices(invoice.pk for invoice, _cents in allocations)
    return [(held[invoice.pk], cents) for invoice, cents in allocations]


def _store(plan: PaymentPlan, *, by: Membership | None, ref: str, **values: Any) -> Payment:
    ref = ref or take_number("payment")
    payment: Payment = Payment.objects.create(
        **rows.made_by(by),
        ref=ref,
        client=plan.client,
        amount_cents=plan.amount_cents,
        currency=columns.company().currency,
        method=plan.method,
        received_on=plan.received_on,
        reference=plan.reference,
        search=search_key(f"{ref} {plan.client.name} {plan.reference}"),
        **values,
    )
    return payment


def _pay(payment: Payment, plan: PaymentPlan, *, by: Membership | None) -> None:
    for share in plan.shares:
        allocate(payment, share.invoice, share.cents, by=by)
    give_credit(plan.client, plan.credit_cents, by=by)


def _told(payment: Payment, plan: PaymentPlan) -> dict[str, Any]:
    return {
        "ref": payment.ref,
        "client": plan.client.ref,
        "amount_cents": plan.amount_cents,
        "method": plan.method,
        "received_on": plan.received_on,
        "reference": plan.reference,
        "pays": {share.invoice.ref: share.cents for share in plan.shares},
        "credit_cents": plan.credit_cents,
    }
