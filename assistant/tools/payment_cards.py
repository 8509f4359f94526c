"""The cards of money: a payment to record, a refund to send back."""

from typing import Any

from django.utils.translation import gettext as _

from assistant.tools.facts import Fact, Phrase, Preview, Target, money
from assistant.tools.registry import Context, Prepared
from assistant.tools.send_facts import party_fact
from ledger import reader
from ledger.actions.payment_plans import PaymentPlan
from ledger.actions.refunds import RefundPlan, Settlement
from ledger.models import Payment


def payment_card(plan: PaymentPlan, ctx: Context) -> Prepared:
    """The card of a payment: every balance before and after, and the excess that becomes credit by its amount (H19)."""
    currency = ctx.company.currency
    amount = money(plan.amount_cents, currency)
    words: dict[str, Any] = {"amount": amount, "who": plan.client.name}
    excess = money(plan.credit_cents, currency)
    return Prepared(
        payload={
            "client": str(plan.client.pk),
            "ref": plan.client.ref,
            "amount_cents": plan.amount_cents,
            "currency": currency,
            "method": plan.method,
            "received_on": plan.received_on.isoformat(),
            "reference": plan.reference,
            "shares": [
                {"invoice": str(share.invoice.pk), "ref": share.invoice.ref, "cents": share.cents}
                for share in plan.shares
            ],
            "credit_cents": plan.credit_cents,
        },
        preview=Preview(
            title=Phrase("record_payment_title", words),
            button=Phrase("record_payment_button", words),
            facts=(
                party_fact(plan.client),
                Fact("amount", "money", amount),
                Fact("method", "code", plan.method),
                *([Fact("reference", "text", plan.reference)] if plan.reference else []),
                Fact("received_on", "date", plan.received_on),
                *([Fact("pays", "changes", _paid(plan, currency))] if plan.shares else []),
                *([Fact("becomes_credit", "money", excess)] if plan.credit_cents else []),
            ),
            consequences=(
                *([Phrase("record_payment_pays")] if plan.shares else []),
                *([Phrase("record_payment_credit", words | {"excess": excess})] if plan.credit_cents else []),
            ),
            warnings=tuple(Phrase("record_payment_alike", {"payment": payment.ref}) for payment in plan.same),
        ),
        summary=_payment_summary(plan, ctx),
        targets=(*(_target(share.invoice) for share in plan.shares), _target(plan.client)),
        amount_cents=plan.amount_cents,
    )


def refund_card(plan: RefundPlan, ctx: Context) -> Prepared:
    """The card of a refund: from where, what is left, what becomes of the invoices."""
    payment, client, currency = plan.payment, plan.payment.client, plan.payment.currency
    amount = money(plan.amount_cents, currency)
    words: dict[str, Any] = {"amount": amount, "who": client.name, "last4": payment.last4, "payment": payment.ref}
    credited = [one for one in plan.settlements if one.credited]
    reopened = [one for one in plan.settlements if not one.credited]
    taken = money(plan.from_credit_cents, currency)
    from_credit = [Phrase("refund_from_credit", words | {"amount": taken})] if plan.from_credit_cents else []
    return Prepared(
        payload={
            "payment": str(payment.pk),
            "ref": payment.ref,
            "version": payment.version,
            "amount_cents": plan.amount_cents,
            "currency": currency,
            "reason": plan.reason,
            "note": plan.note,
            "provider": payment.provider,
            "provider_id": payment.provider_id,
            "settles": [{"ref": one.invoice.ref, "cents": one.cents} for one in plan.settlements],
            "from_credit_cents": plan.from_credit_cents,
            "reader": ctx.language,
        },
        preview=Preview(
            title=Phrase("refund_card_title" if payment.last4 else "refund_payment_title", words),
            button=Phrase("refund_payment_button", words),
            facts=(
                party_fact(client),
                Fact("amount", "money", amount),
                *_where_from(payment),
                Fact("paid", "money", money(payment.amount_cents, currency)),
                Fact("already_refunded", "money", money(payment.refunded_cents, currency)),
                *_when(payment.pending_refund_cents, "on_its_way", currency),
                Fact("left_after", "money", money(plan.left_cents, currency)),
                Fact("reason", "code", plan.reason),
                *([Fact("note", "long", plan.note)] if plan.note else []),
                *([Fact("pix_day", "count", plan.day)] if plan.day else []),
                *_when(plan.from_credit_cents, "from_credit", currency),
                *([Fact("invoices_after", "changes", _balances(plan, currency))] if plan.settlements else []),
            ),
            consequences=(
                Phrase("refund_leaves"),
                *(Phrase("refund_credits", words | _of(one, one.cents, currency)) for one in credited),
                *(Phrase("refund_reopens", words | _of(one, one.balance_after, currency)) for one in reopened),
                *from_credit,
            ),
            typed=reader.bare_amount(plan.amount_cents),
        ),
        summary=_refund_summary(plan),
        targets=(_target(payment), _target(client), *(_target(one.invoice) for one in plan.settlements)),
        amount_cents=plan.amount_cents,
    )


def _paid(plan: PaymentPlan, currency: str) -> list[dict[str, Any]]:
    return [_change(share.invoice.ref, share.before, share.after, currency) for share in plan.shares]


def _balances(plan: RefundPlan, currency: str) -> list[dict[str, Any]]:
    return [
        _change(one.invoice.ref, one.invoice.balance_cents, one.balance_after, currency) for one in plan.settlements
    ]


def _change(name: str, before: int, after: int, currency: str) -> dict[str, Any]:
    return {"name": name, "kind": "money", "before": money(before, currency), "after": money(after, currency)}


def _of(one: Settlement, cents: int, currency: str) -> dict[str, Any]:
    shown = money(cents, currency)
    return {"invoice": one.invoice.ref, "amount": shown, "balance": shown}


def _where_from(payment: Payment) -> list[Fact]:
    facts = [
        Fact("payment", "ref", payment.ref),
        Fact("method", "code", payment.method),
        Fact("received_on", "date", payment.received_on),
    ]
    if payment.last4:
        facts.append(Fact("card", "text", payment.last4))
    return [*facts, Fact("provider_id", "text", payment.provider_id)]


def _payment_summary(plan: PaymentPlan, ctx: Context) -> str:
    def shown(cents: int) -> str:
        return reader.amount(cents, ctx.company.currency)

    text = _("Record a payment of %(amount)s from %(who)s.") % {
        "amount": shown(plan.amount_cents),
        "who": plan.client.name,
    }
    if plan.shares:
        listed = ", ".join(f"{share.invoice.ref} {shown(share.cents)}" for share in plan.shares)
        text += " " + _("It pays %(invoices)s.") % {"invoices": listed}
    if plan.credit_cents:
        text += " " + _("%(excess)s become credit.") % {"excess": shown(plan.credit_cents)}
    return text


def _refund_summary(plan: RefundPlan) -> str:
    payment = plan.payment
    return _("Refund %(amount)s of payment %(ref)s to %(who)s, the way it came.") % {
        "amount": reader.amount(plan.amount_cents, payment.currency),
        "ref": payment.ref,
        "who": payment.client.name,
    }


def _when(cents: int, name: str, currency: str) -> list[Fact]:
    return [Fact(name, "money", money(cents, currency))] if cents else []


def _target(row: Any) -> Target:
    return Target(row._meta.model_name, str(row.pk), row.version)
