"""Payments: money that came in, and what it pays. What goes back is in refunds.py."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from ledger import audit, dates, permissions, reader
from ledger.actions import columns, rows
from ledger.actions.balances import allocate, give_credit, locked_invoices
from ledger.actions.invoice_issuing import require_open_period
from ledger.cents import MAX_CENTS
from ledger.company_settings import current_settings
from ledger.errors import DomainError
from ledger.models import Client, Invoice, Membership, Payment
from ledger.money import amount_text
from ledger.numbering import take_number
from ledger.text import search_key

LONGEST_REFERENCE = 60


@dataclass(frozen=True)
class Share:
    """How much of a payment goes to an invoice, whose balance is `before` now and `after` then; in cents."""

    invoice: Invoice
    cents: int

    @property
    def before(self) -> int:
        return int(self.invoice.balance_cents)

    @property
    def after(self) -> int:
        return self.before - self.cents


@dataclass(frozen=True)
class PaymentPlan:
    """What recording a payment would do: pay these shares, leave the rest as the client's credit.

    `same` are payments on record that look like this one.
    """

    client: Client
    amount_cents: int
    method: str
    received_on: date
    reference: str
    shares: tuple[Share, ...]
    credit_cents: int
    same: tuple[Payment, ...]


def plan_payment(
    client: Client,
    *,
    by: Membership,
    amount_cents: int,
    method: str,
    received_on: date,
    allocations: Sequence[tuple[Invoice, int]] | None = None,
    reference: str = "",
    allow_credit: bool = False,
) -> PaymentPlan:
    """What a payment recorded by hand would pay: the named invoices, or without any the client's oldest first.

    What is left over becomes the client's credit if a person allows it and the company's settings do (I8, H19).
    Raises OVERPAYMENT with the excess, ALLOCATION_EXCEEDS_BALANCE with balance and excess, ALREADY_PAID (H20),
    NOT_PAYABLE, FUTURE_DATE, PERIOD_CLOSED (I20).
    """
    permissions.require(by, "record_payment")
    columns.choice(method, Payment.BY_HAND, "method")
    if not 0 < amount_cents <= MAX_CENTS:
        raise DomainError("AMOUNT_OUT_OF_RANGE", _("A payment is more than zero."), field="amount")
    _require_day(received_on)
    reference = columns.line(reference, "reference", LONGEST_REFERENCE)
    shares = _oldest_first(client, amount_cents) if allocations is None else _named(client, allocations, amount_cents)
    credit_cents = amount_cents - sum(share.cents for share in shares)
    if credit_cents and not (allow_credit and current_settings().values.overpayment == "credit"):
        raise _overpaid(client, amount_cents, credit_cents)
    return PaymentPlan(
        client,
        amount_cents,
        method,
        received_on,
        reference,
        shares,
        credit_cents,
        _alike(client, amount_cents, reference),
    )


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
    shares = _oldest_first(client, amount_cents) if held is None else _as_far_as_open(held)
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


def rest_of(invoice: Invoice) -> int:
    """What "mark as paid" records: what is left to pay, in cents (H20). Raises ALREADY_PAID or NOT_PAYABLE."""
    _require_payable(invoice)
    return int(invoice.balance_cents)


def open_invoices(client: Client) -> QuerySet[Invoice]:
    """What the client still owes, the oldest first: by the day it is due, then by number."""
    found: QuerySet[Invoice] = Invoice.objects.filter(
        client=client, status__in=Invoice.PAYABLE, balance_cents__gt=0, deleted_at=None
    )
    return found.order_by("due_on", "serial")


def _held(client: Client, allocations: Sequence[tuple[Invoice, int]] | None) -> list[tuple[Invoice, int]] | None:
    """The allocations with their invoices locked; without any, the client's open ones are."""
    if allocations is None:
        locked_invoices(open_invoices(client).values_list("pk", flat=True))
        return None
    held = locked_invoices(invoice.pk for invoice, _cents in allocations)
    return [(held[invoice.pk], cents) for invoice, cents in allocations]


def _oldest_first(client: Client, amount_cents: int) -> tuple[Share, ...]:
    shares, left = [], amount_cents
    for invoice in open_invoices(client):
        cents = min(left, invoice.balance_cents)
        if cents:
            shares.append(Share(invoice, cents))
            left -= cents
    return tuple(shares)


def _named(client: Client, allocations: Sequence[tuple[Invoice, int]], amount_cents: int) -> tuple[Share, ...]:
    seen: set[Any] = set()
    for invoice, cents in allocations:
        if invoice.client_id != client.pk:
            sentence = _("%(ref)s is not an invoice of %(client)s.") % {"ref": invoice.ref, "client": client.ref}
            raise DomainError("INVOICE_OF_ANOTHER", sentence, invoice=invoice.ref)
        _require_payable(invoice)
        if invoice.pk in seen or cents <= 0:
            sentence = _("Name %(ref)s once, with an amount above zero.") % {"ref": invoice.ref}
            raise DomainError("BAD_ALLOCATION", sentence, invoice=invoice.ref)
        seen.add(invoice.pk)
        if cents > invoice.balance_cents:
            raise _too_much(invoice, cents)
    total = sum(cents for _invoice, cents in allocations)
    if total > amount_cents:
        sentence = _("The invoices named take %(total)s, but only %(amount)s came in.")
        raise _refused("ALLOCATIONS_EXCEED_PAYMENT", sentence, total=total, amount=amount_cents)
    return tuple(Share(invoice, cents) for invoice, cents in allocations)


def _as_far_as_open(allocations: Sequence[tuple[Invoice, int]]) -> tuple[Share, ...]:
    open_ones = ((invoice, min(cents, invoice.balance_cents)) for invoice, cents in allocations if invoice.is_open)
    return tuple(Share(invoice, cents) for invoice, cents in open_ones if cents)


def _require_payable(invoice: Invoice) -> None:
    if invoice.status == Invoice.Status.PAID:
        raise DomainError("ALREADY_PAID", _("%(ref)s is already paid.") % {"ref": invoice.ref}, invoice=invoice.ref)
    if not invoice.is_open:
        sentence = _("%(ref)s cannot be paid as it stands: %(status)s.") % {
            "ref": invoice.ref,
            "status": invoice.get_status_display(),
        }
        raise DomainError("NOT_PAYABLE", sentence, invoice=invoice.ref, status=invoice.status)


def _require_day(day: date) -> None:
    if day > dates.today(columns.company().timezone):
        raise DomainError("FUTURE_DATE", _("That day has not come yet."), field="received_on")
    require_open_period(day)


def _too_much(invoice: Invoice, cents: int) -> DomainError:
    left = invoice.balance_cents
    sentence = _("%(invoice)s has %(balance)s left to pay; that is %(excess)s too much.")
    named = {"invoice": invoice.ref}
    return _refused("ALLOCATION_EXCEEDS_BALANCE", sentence, named, balance=left, excess=cents - left)


def _overpaid(client: Client, amount_cents: int, excess: int) -> DomainError:
    if current_settings().values.overpayment == "credit":
        sentence = _("%(excess)s of it pay no invoice of %(client)s; it can be kept as credit if you allow it.")
    else:
        sentence = _("%(excess)s of it pay no invoice of %(client)s, and this company takes no overpayments.")
    return _refused("OVERPAYMENT", sentence, {"client": client.ref}, amount=amount_cents, excess=excess)


def _refused(code: str, sentence: str, named: Mapping[str, str] | None = None, **cents: int) -> DomainError:
    """A refusal with amounts: as the reader writes them in the sentence, in the machine form beside it."""
    currency = columns.company().currency
    shown = {name: reader.amount(value, currency) for name, value in cents.items()}
    told = {name: amount_text(value) for name, value in cents.items()}
    named = named or {}
    return DomainError(code, sentence % {**named, **shown}, **named, **told)


def _alike(client: Client, amount_cents: int, reference: str) -> tuple[Payment, ...]:
    """Payments of the client with the same amount and reference: perhaps this one, recorded before."""
    if not reference:
        return ()
    same = Payment.objects.filter(
        client=client, amount_cents=amount_cents, reference__iexact=reference, status__in=Payment.RECEIVED
    )
    return tuple(same.order_by("-received_on", "-pk")[:5])


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
