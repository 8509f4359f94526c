"""Money by way of a provider: send some of it back, behind a strong card."""

import uuid
from typing import Annotated, Any, Literal

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import StringConstraints

from assistant.tools.effects import Effect
from assistant.tools.fields import Money, Ref, SubjectHint
from assistant.tools.payment_cards import refund_card
from assistant.tools.payment_words import candidate, others_like
from assistant.tools.payments import payment_of
from assistant.tools.registry import Context, Found, Prepared, Receipt, Refused, ToolArguments, tool
from assistant.tools.subjects import require_subject
from ledger import reader
from ledger.actions.refunds import plan_refund, record_refund, record_refund_failed, reserve_refund
from ledger.models import Refund
from ledger.money import parse_money
from ledger.providers import outcomes
from ledger.providers.cards import RefundRequest
from ledger.providers.ports import refund_port

Reason = Literal["duplicate", "service_issue", "cancelled", "overcharge", "goodwill", "other"]


@tool(
    label=gettext_lazy("Refund payment"),
    permission="refund_payment",
    effects={Effect.MONEY_OUT},
    irreversible=True,
    editable=("amount", "reason", "note"),
    promises={"refund": "there", "payment": "there"},
)
class RefundPayment:
    """Refund part or all of a received payment to where it came from."""

    class Arguments(ToolArguments):
        payment_ref: Ref
        amount: Money
        reason: Reason
        note: Annotated[str, StringConstraints(max_length=500)]
        subject_hint: SubjectHint | None = None

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        payment = payment_of(arguments.payment_ref)
        if arguments.subject_hint:
            require_subject(arguments.subject_hint, candidate(payment), others_like(payment))
        plan = plan_refund(
            payment,
            by=ctx.member,
            amount_cents=parse_money(arguments.amount),
            reason=arguments.reason,
            note=arguments.note,
        )
        return refund_card(plan, ctx)

    def reserve(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
        refund = reserve_refund(
            payment_of(payload["ref"]),
            by=ctx.member,
            key=key,
            amount_cents=payload["amount_cents"],
            reason=payload["reason"],
            note=payload["note"],
            expected_version=payload["version"],
        )
        return {"refund": str(refund.pk), "refund_ref": refund.ref, "company": str(refund.tenant_id)}

    def call(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
        port = refund_port(payload["provider"])
        with translation.override(payload["reader"]):
            try:
                accepted = port.refund(_request(payload, reserved, key))
            except outcomes.Refused as refused:
                raise Refused(refused.code, refused.sentence) from refused
        return {"provider": port.name, "provider_id": accepted.provider_id}

    def record(
        ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], result: dict[str, Any], key: uuid.UUID
    ) -> Receipt:
        refund = record_refund(_refund(reserved), by=ctx.member, provider_id=result["provider_id"])
        return _receipt(refund)

    def release(ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> None:
        record_refund_failed(_refund(reserved), by=ctx.member, problem="REFUSED")

    def reconcile(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> Found | None:
        port = refund_port(payload["provider"])
        accepted = port.find(_request(payload, reserved, key))
        return None if accepted is None else Found({"provider": port.name, "provider_id": accepted.provider_id})


def _request(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> RefundRequest:
    """What the provider is asked, from the frozen payload alone; the key is the action's id (R3)."""
    return RefundRequest(
        company_id=uuid.UUID(reserved["company"]),
        key=str(key),
        payment_id=payload["provider_id"],
        amount_cents=payload["amount_cents"],
        currency=payload["currency"],
    )


def _refund(reserved: dict[str, Any]) -> Refund:
    refund: Refund = Refund.objects.select_related("payment__client").get(pk=reserved["refund"])
    return refund


def _receipt(refund: Refund) -> Receipt:
    notes = [note.ref for note in refund.credit_notes.order_by("serial")]
    payment = refund.payment
    text = _("%(amount)s of %(payment)s were refunded to %(who)s (%(refund)s).") % {
        "amount": reader.amount(refund.amount_cents, refund.currency),
        "payment": payment.ref,
        "who": payment.client.name,
        "refund": refund.ref,
    }
    if notes:
        text += " " + _("Credit note: %(notes)s.") % {"notes": ", ".join(notes)}
    elif refund.settles:
        reopened = ", ".join(row["ref"] for row in refund.settles)
        text += " " + _("Open again: %(invoices)s.") % {"invoices": reopened}
    facts = {"refund": refund.ref, "payment": payment.ref}
    if notes:
        facts["credit_note"] = ", ".join(notes)
    return Receipt(text, facts=facts, provider_ref=refund.provider_id)
