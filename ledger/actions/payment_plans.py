"""What a payment would pay: which invoices, how much of each, and what is left over. Nothing is written here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from ledger import dates, permissions, reader
from ledger.actions import columns
from ledger.actions.invoice_issuing import require_open_period
from ledger.cents import MAX_CENTS
from ledger.company_settings import current_settings
from ledger.errors import DomainError
from ledger.models import Client, Invoice, Membership, Payment
from ledger.money import amount_text

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
    shares = oldest_first(client, amount_cents) if allocations is None else _named(client, allocations, amount_cents)
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


def oldest_first(client: Client, amount_cents: int) -> tuple[Share, ...]:
    """The client's open invoices that so many cents pay, the oldest first."""
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


def as_far_as_open(allocations: Sequence[tuple[Invoice, int]]) -> tuple[Share, ...]:
    """The named invoices, each paid no further than it is open."""
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
