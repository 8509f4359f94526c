"""Payments: look, and record one that came in by hand, behind a card."""

import uuid
from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, Literal

from django.db.models import Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from assistant.tools.effects import Effect
from assistant.tools.fields import Day, Money, Ref
from assistant.tools.payment_cards import payment_card
from assistant.tools.payment_words import brief, whole
from assistant.tools.registry import Context, Prepared, ReadResult, Receipt, ToolArguments, tool
from ledger import dates, reader
from ledger.actions.invoices import invoice_of
from ledger.actions.payment_plans import plan_payment
from ledger.actions.payments import record_payment
from ledger.actions.records import by_ref
from ledger.models import Client, Invoice, Payment
from ledger.money import amount_text, parse_money

Method = Literal["card", "ach", "pix", "boleto", "check", "cash", "transfer", "credit"]
Status = Literal["pending", "succeeded", "failed", "refunded", "partially_refunded", "reversed", "disputed"]
BY_STATUS = {"succeeded": (Payment.Status.SUCCEEDED, Payment.Status.RECORDED)}


class Allocated(BaseModel):
    """How much of the payment one invoice gets."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    invoice_ref: Ref
    amount: Money


@tool(label=gettext_lazy("List payments"), permission="view_records", effects=())
class ListPayments:
    """Payments received by period, method, client, status."""

    class Arguments(ToolArguments):
        start: Day | None = None
        end: Day | None = None
        method: Method | None = None
        client_ref: Ref | None = None
        status: Status | None = None
        limit: Annotated[int, Field(ge=1, le=50)] = 20

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        found = Payment.objects.all()
        if arguments.start:
            found = found.filter(received_on__gte=dates.parse_iso(arguments.start))
        if arguments.end:
            found = found.filter(received_on__lte=dates.parse_iso(arguments.end))
        if arguments.method:
            found = found.filter(method=arguments.method)
        if arguments.client_ref:
            found = found.filter(client=by_ref(Client, arguments.client_ref))
        if arguments.status:
            found = found.filter(status__in=BY_STATUS.get(arguments.status, (arguments.status,)))
        rows = list(found.select_related("client").order_by("-received_on", "-pk")[: arguments.limit + 1])
        received = found.filter(status__in=Payment.RECEIVED)
        sums = received.aggregate(amount=Sum("amount_cents"), refunded=Sum("refunded_cents"))
        amount, refunded = sums["amount"] or 0, sums["refunded"] or 0
        return {
            "payments": [brief(payment) for payment in rows[: arguments.limit]],
            "received": amount_text(amount),
            "refunded": amount_text(refunded),
            "net": amount_text(amount - refunded),
            "currency": ctx.company.currency,
            "more": len(rows) > arguments.limit,
        }


@tool(label=gettext_lazy("Read a payment"), permission="view_records", effects=())
class GetPayment:
    """Payment with allocations, refunds, fees, provider ids and receipt."""

    class Arguments(ToolArguments):
        payment_ref: Ref

    def run(ctx: Context, arguments: Any) -> ReadResult:
        payment = payment_of(arguments.payment_ref)
        return ReadResult(whole(payment), touched=(payment.ref,))


@tool(
    label=gettext_lazy("Record payment"),
    permission="record_payment",
    effects={Effect.BOOKS},
    compensation="reverse_payment_record",
    editable=("amount", "method", "received_on", "reference", "allow_credit"),
    promises={"payment": "there"},
)
class RecordPayment:
    """Record money received outside the system (check, cash, transfer) and allocate it."""

    class Arguments(ToolArguments):
        client_ref: Ref
        amount: Money
        method: Literal["check", "cash", "transfer", "other"]
        received_on: Day
        allocations: Annotated[list[Allocated], Field(max_length=100)] = Field(default_factory=list)
        reference: Annotated[str, StringConstraints(max_length=60)] = ""
        allow_credit: bool = False

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        client = by_ref(Client, arguments.client_ref)
        plan = plan_payment(
            client,
            by=ctx.member,
            amount_cents=parse_money(arguments.amount),
            method=arguments.method,
            received_on=dates.parse_iso(arguments.received_on),
            allocations=_wanted(arguments.allocations),
            reference=arguments.reference,
            allow_credit=arguments.allow_credit,
        )
        return payment_card(plan, ctx)

    def execute(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> Receipt:
        invoices = Invoice.objects.in_bulk([share["invoice"] for share in payload["shares"]])
        payment = record_payment(
            Client.objects.get(pk=payload["client"]),
            by=ctx.member,
            key=key,
            amount_cents=payload["amount_cents"],
            method=payload["method"],
            received_on=date.fromisoformat(payload["received_on"]),
            allocations=[(invoices[uuid.UUID(share["invoice"])], share["cents"]) for share in payload["shares"]],
            reference=payload["reference"],
            allow_credit=payload["credit_cents"] > 0,
        )
        return Receipt(_told(payment, payload), facts=_facts(payment, payload))


def payment_of(ref: str) -> Payment:
    """The payment of that ref with its client. Raises NotFound."""
    return by_ref(Payment.objects.select_related("client"), ref)


def _wanted(allocations: Iterable[Allocated]) -> list[tuple[Invoice, int]] | None:
    """The invoices that are named; without any the oldest are paid first."""
    found = [(invoice_of(one.invoice_ref), parse_money(one.amount)) for one in allocations]
    return found or None


def _facts(payment: Payment, payload: dict[str, Any]) -> dict[str, Any]:
    """What the receipt shows beside its sentence: the balances as they now are."""
    facts: dict[str, Any] = {
        "payment": payment.ref,
        "amount": {"cents": payment.amount_cents, "currency": payment.currency},
    }
    if payload["shares"]:
        facts["pays"] = ", ".join(share["ref"] for share in payload["shares"])
    if payload["credit_cents"]:
        facts["becomes_credit"] = {"cents": payload["credit_cents"], "currency": payment.currency}
    return facts


def _told(payment: Payment, payload: dict[str, Any]) -> str:
    """The receipt's sentence: what was stored, as it is stored (H19)."""

    def shown(cents: int) -> str:
        return reader.amount(cents, payment.currency)

    told = [
        _("Payment %(ref)s of %(amount)s was recorded.") % {"ref": payment.ref, "amount": shown(payment.amount_cents)}
    ]
    ids = [share["invoice"] for share in payload["shares"]]
    for invoice in Invoice.objects.filter(pk__in=ids).order_by("serial"):
        words = {"ref": invoice.ref, "left": shown(invoice.balance_cents)}
        text = _("%(ref)s: %(left)s left to pay.") if invoice.balance_cents else _("%(ref)s is paid.")
        told.append(text % words)
    if payload["credit_cents"]:
        told.append(_("%(excess)s are kept as credit.") % {"excess": shown(payload["credit_cents"])})
    return " ".join(told)
