"""Refunds: money on its way back to where it came from.

`plan_refund` says what it would do; `reserve_refund` holds the amount under the payment's row lock before the
provider is asked (I7); one of the two records follows the provider's answer (settled question 3).
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, dates, permissions, reader
from ledger.actions import columns, rows
from ledger.actions.balances import allocate, credit, give_credit, locked_invoices
from ledger.errors import DomainError
from ledger.models import Client, Invoice, Membership, Payment, Refund
from ledger.money import amount_text
from ledger.numbering import take_number
from ledger.text import search_key

REFUNDABLE = (Payment.Status.SUCCEEDED, Payment.Status.PARTIALLY_REFUNDED)
PIX_DAYS = 90
"""The Central Bank's limit for sending a Pix back (Pix regulation; domain I7)."""


@dataclass(frozen=True)
class Settlement:
    """What a refund takes from an invoice's payment; `credited` where a credit note of the amount goes with it."""

    invoice: Invoice
    cents: int
    credited: bool

    @property
    def balance_after(self) -> int:
        """What the client owes for the invoice then: the same as now where it is credited."""
        return int(self.invoice.balance_cents) + (0 if self.credited else self.cents)


@dataclass(frozen=True)
class RefundPlan:
    """What a refund would do, in cents: first the client's unused credit from this payment, then its invoices, the
    last one paid first. `day` is the day of a Pix within its limit, 0 for other money."""

    payment: Payment
    amount_cents: int
    reason: str
    note: str
    from_credit_cents: int
    settlements: tuple[Settlement, ...]
    day: int

    @property
    def left_cents(self) -> int:
        """What could still be refunded afterwards."""
        return int(self.payment.refundable_cents) - self.amount_cents


def plan_refund(payment: Payment, *, by: Membership, amount_cents: int, reason: str, note: str = "") -> RefundPlan:
    """What refunding so much of a payment would do.

    With the reasons in `Refund.CREDITED` a credit note of the same amount goes with it, so that the client owes
    nothing again; with the others the invoice is open again by that amount. Raises REFUND_EXCEEDS_PAID with what
    is left, MANUAL_PAYMENT, NOT_REFUNDABLE, OPEN_DISPUTE, PIX_REFUND_WINDOW.
    """
    permissions.require(by, "refund_payment")
    columns.choice(reason, Refund.Reason, "reason")
    note = columns.line(note, "note", 500)
    _require_refundable(payment)
    if amount_cents <= 0:
        raise DomainError("AMOUNT_OUT_OF_RANGE", _("A refund is more than zero."), field="amount")
    if amount_cents > payment.refundable_cents:
        left = payment.refundable_cents
        words = {"left": reader.amount(left, payment.currency), "ref": payment.ref}
        sentence = _("Only %(left)s of %(ref)s can still be refunded.") % words
        raise DomainError("REFUND_EXCEEDS_PAID", sentence, left=amount_text(left), ref=payment.ref)
    credited = reason in Refund.CREDITED
    from_credit = min(amount_cents, _spare_credit(payment))
    settlements = _settlements(payment, amount_cents - from_credit, credited)
    covered = from_credit + sum(settlement.cents for settlement in settlements)
    if covered < amount_cents:
        sentence = _("Part of %(ref)s was kept as credit and has been used since; it cannot be refunded.")
        raise DomainError("CREDIT_USED", sentence % {"ref": payment.ref}, left=amount_text(covered))
    return RefundPlan(payment, amount_cents, reason, note, from_credit, settlements, _pix_day(payment))


@transaction.atomic
def reserve_refund(
    payment: Payment,
    *,
    by: Membership,
    key: uuid.UUID,
    amount_cents: int,
    reason: str,
    note: str = "",
    expected_version: int | None = None,
) -> Refund:
    """Hold the amount under `key`, before the provider is asked. Raises what `plan_refund` does, and STALE_VERSION."""
    permissions.require(by, "refund_payment")
    client, payment = _locked(payment)
    if expected_version is not None and payment.version != expected_version:
        rows.locked(payment, expected_version=expected_version)
    plan = plan_refund(payment, by=by, amount_cents=amount_cents, reason=reason, note=note)
    ref = take_number("refund")
    refund: Refund = Refund.objects.create(
        **rows.made_by(by),
        ref=ref,
        payment=payment,
        amount_cents=amount_cents,
        currency=payment.currency,
        reason=reason,
        note=plan.note,
        key=key,
        provider=payment.provider,
        from_credit_cents=plan.from_credit_cents,
        settles=[
            {"invoice": str(one.invoice.pk), "ref": one.invoice.ref, "cents": one.cents} for one in plan.settlements
        ],
        search=search_key(f"{ref} {payment.ref} {client.name}"),
    )
    give_credit(client, -plan.from_credit_cents, by=by)
    rows.write(payment, by=by, pending_refund_cents=payment.pending_refund_cents + amount_cents)
    audit.record("refund.reserved", by=by, subject=refund, **_told(refund, payment), key=key, note=plan.note)
    return refund


@transaction.atomic
def record_refund(refund: Refund, *, by: Membership | None, provider_id: str) -> Refund:
    """The provider took it: what was held is refunded, and the invoices say so. Saying so again changes nothing."""
    _client, payment = _locked(refund.payment)
    held = locked_invoices(row["invoice"] for row in refund.settles)
    refund = rows.locked(refund)
    if refund.status != Refund.Status.RESERVED:
        return refund
    rows.write(
        refund,
        by=by,
        status=Refund.Status.SUCCEEDED,
        provider_id=provider_id[:80],
        settled_at=timezone.now(),
    )
    refunded = payment.refunded_cents + refund.amount_cents
    whole = refunded == payment.amount_cents
    rows.write(
        payment,
        by=by,
        refunded_cents=refunded,
        pending_refund_cents=payment.pending_refund_cents - refund.amount_cents,
        status=Payment.Status.REFUNDED if whole else Payment.Status.PARTIALLY_REFUNDED,
    )
    for row in refund.settles:
        invoice = held[uuid.UUID(row["invoice"])]
        allocate(payment, invoice, -row["cents"], by=by)
        if refund.reason in Refund.CREDITED:
            reason = _("Refund %(ref)s: %(reason)s") % {"ref": refund.ref, "reason": refund.get_reason_display()}
            credit(invoice, row["cents"], by=by, reason=reason, refund=refund)
    audit.record("refund.succeeded", by=by, subject=refund, **_told(refund, payment), provider_id=provider_id[:80])
    return refund


@transaction.atomic
def record_refund_failed(refund: Refund, *, by: Membership | None, problem: str) -> Refund:
    """It certainly did not go out: what was held is free again. `problem` is a code."""
    client, payment = _locked(refund.payment)
    refund = rows.locked(refund)
    if refund.status != Refund.Status.RESERVED:
        return refund
    rows.write(refund, by=by, status=Refund.Status.FAILED, problem=problem[:40], settled_at=timezone.now())
    rows.write(payment, by=by, pending_refund_cents=payment.pending_refund_cents - refund.amount_cents)
    give_credit(client, refund.from_credit_cents, by=by)
    audit.record("refund.failed", by=by, subject=refund, **_told(refund, payment), problem=problem[:40])
    return refund


def _locked(payment: Payment) -> tuple[Client, Payment]:
    """Client and payment, held in the order in which everybody locks them."""
    client = rows.locked(payment.client)
    held = rows.locked(payment)
    held.client = client
    return client, held


def _require_refundable(payment: Payment) -> None:
    if payment.is_by_hand:
        sentence = _("%(ref)s was recorded by hand (%(method)s); pay it back by hand and reverse its record.")
        values = {"ref": payment.ref, "method": payment.get_method_display()}
        raise DomainError("MANUAL_PAYMENT", sentence % values, ref=payment.ref, method=payment.method)
    if payment.status == Payment.Status.DISPUTED:
        raise DomainError("OPEN_DISPUTE", _("%(ref)s is disputed at its bank.") % {"ref": payment.ref}, ref=payment.ref)
    if payment.status not in (*REFUNDABLE, Payment.Status.REFUNDED):
        sentence = _("%(ref)s cannot be refunded as it stands: %(status)s.") % {
            "ref": payment.ref,
            "status": payment.get_status_display(),
        }
        raise DomainError("NOT_REFUNDABLE", sentence, ref=payment.ref, status=payment.status)
    _pix_day(payment)


def _pix_day(payment: Payment) -> int:
    if payment.method != Payment.Method.PIX:
        return 0
    day = (dates.today(columns.company().timezone) - payment.received_on) // timedelta(days=1)
    if day > PIX_DAYS:
        sentence = _("%(ref)s is %(day)s days old; a Pix can be sent back for %(most)s days.")
        values = {"ref": payment.ref, "day": day, "most": PIX_DAYS}
        raise DomainError("PIX_REFUND_WINDOW", sentence % values, **values)
    return day


def _on_its_way(payment: Payment) -> list[Refund]:
    return list(payment.refunds.filter(status=Refund.Status.RESERVED))


def _spare_credit(payment: Payment) -> int:
    """What of this payment became the client's credit, is not on its way back, and is still there."""
    allocated = sum(payment.allocations.values_list("amount_cents", flat=True))
    taken = sum(refund.from_credit_cents for refund in _on_its_way(payment))
    spare = payment.amount_cents - payment.refunded_cents - allocated - taken
    return int(min(spare, payment.client.credit_cents))


def _settlements(payment: Payment, cents: int, credited: bool) -> tuple[Settlement, ...]:
    """From which invoices the money is taken, the newest first, past what other refunds are taking."""
    taken: dict[str, int] = {}
    for refund in _on_its_way(payment):
        for row in refund.settles:
            taken[row["invoice"]] = taken.get(row["invoice"], 0) + row["cents"]
    settlements = []
    paid = payment.allocations.filter(amount_cents__gt=0).select_related("invoice")
    for allocation in paid.order_by("-invoice__serial", "-pk"):
        part = min(cents, allocation.amount_cents - taken.get(str(allocation.invoice_id), 0))
        if part > 0:
            settlements.append(Settlement(allocation.invoice, part, credited))
            cents -= part
    return tuple(settlements)


def _told(refund: Refund, payment: Payment) -> dict[str, Any]:
    return {
        "ref": refund.ref,
        "payment": payment.ref,
        "amount_cents": refund.amount_cents,
        "reason": refund.reason,
        "settles": {row["ref"]: row["cents"] for row in refund.settles},
        "from_credit_cents": refund.from_credit_cents,
    }
