"""Deeds on invoices that a person has to confirm: send one, throw a draft away."""

import logging
import uuid
from datetime import date
from typing import Annotated, Any, Literal

from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field, StringConstraints

from assistant.tools.effects import Effect
from assistant.tools.facts import Fact, Phrase, Preview, Target, money
from assistant.tools.fields import EmailText, Ref, SubjectHint
from assistant.tools.invoice_cards import send_payload, send_preview, send_summary
from assistant.tools.invoice_words import candidate, others_like
from assistant.tools.invoices import whole_invoice
from assistant.tools.mailing import hand_over, look_up, reserved_for
from assistant.tools.registry import Context, Found, OnReject, Prepared, Receipt, Refused, ToolArguments, tool
from assistant.tools.send_facts import party_fact, thawed_mail
from assistant.tools.subjects import require_subject
from ledger.actions.invoice_documents import BillDays
from ledger.actions.invoice_sending import (
    FrozenInvoice,
    enclose_invoice,
    invoice_in,
    plan_invoice_send,
    record_invoice_send_failed,
    record_invoice_sent,
    reserve_invoice_send,
)
from ledger.actions.invoices import delete_invoice, refuse_delete_invoice
from ledger.actions.trash import KEPT
from ledger.models import ClientMessage, Invoice

log = logging.getLogger(__name__)


@tool(
    label=gettext_lazy("Send invoice"),
    permission="send_invoice",
    effects={Effect.DOCUMENT, Effect.MONEY_IN},
    compensation="void_and_reissue_invoice",
    irreversible=True,
    on_reject=OnReject.KEEP_DRAFT,
    undo_seconds=10,
    editable=("to", "cc", "message"),
    promises={"invoice": "there", "message": "there"},
)
class SendInvoice:
    """Issue (assign the next number) if still draft, and send PDF + payment link to the client."""

    class Arguments(ToolArguments):
        invoice_ref: Ref
        channel: Literal["email", "sms", "whatsapp"]
        to: Annotated[str, StringConstraints(max_length=200)] | None = None
        cc: Annotated[list[EmailText], Field(max_length=3)] | None = None
        message: Annotated[str, StringConstraints(max_length=1500)] | None = None
        subject_hint: SubjectHint | None = None

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        invoice = whole_invoice(arguments.invoice_ref)
        if arguments.subject_hint:
            require_subject(arguments.subject_hint, candidate(invoice), others_like(invoice))
        words = arguments.message or ""
        plan = plan_invoice_send(
            invoice,
            by=ctx.member,
            channel=arguments.channel,
            to=arguments.to or "",
            cc=arguments.cc or (),
            words=words,
        )
        return Prepared(
            payload=send_payload(plan, ctx),
            preview=send_preview(plan, ctx, words),
            summary=send_summary(plan),
            targets=(target(invoice), target(invoice.client)),
            more_effects=frozenset({Effect.STRANGER}) if plan.recipients.strangers else frozenset(),
            amount_cents=invoice.total_cents,
            messages=1,
        )

    def reserve(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
        frozen = FrozenInvoice(
            mailing=thawed_mail(payload),
            days=BillDays(date.fromisoformat(payload["issued_on"]), date.fromisoformat(payload["due_on"])),
            content_hash=payload["content_hash"],
            version=payload["version"],
        )
        message = reserve_invoice_send(whole_invoice(payload["ref"]), by=ctx.member, key=key, frozen=frozen)
        return reserved_for(message) | {"invoice_ref": invoice_in(message).ref}

    def call(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
        with translation.override(payload["reader"]):
            try:
                sha256 = _enclosed(reserved)
                return hand_over(reserved, key) | {"sha256": sha256}
            except Refused as refused:
                sentence = _("%(ref)s was issued and keeps its number, but it was not sent. %(why)s")
                words = {"ref": reserved["invoice_ref"], "why": refused.sentence}
                raise Refused(refused.code, sentence % words) from refused

    def record(
        ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], result: dict[str, Any], key: uuid.UUID
    ) -> Receipt:
        message = record_invoice_sent(
            _message(reserved), by=ctx.member, provider=result["provider"], provider_id=result["provider_id"]
        )
        ref = reserved["invoice_ref"]
        text = _("Invoice %(ref)s was issued and sent to %(who)s (message %(message)s).")
        words = {"ref": ref, "who": ", ".join(payload["to"]), "message": message.ref}
        facts = {"invoice": ref, "message": message.ref}
        enclosed = message.attachments.values_list("document__sha256", flat=True).first()
        facts |= {"sha256": enclosed} if enclosed else {}
        return Receipt(text % words, facts=facts, provider_ref=result["provider_id"])

    def release(ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> None:
        record_invoice_send_failed(_message(reserved), by=ctx.member, problem="REFUSED")

    def reconcile(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> Found | None:
        return look_up(reserved, key)


@tool(
    label=gettext_lazy("Delete invoice"),
    permission="delete_invoice",
    effects={Effect.REMOVAL},
    compensation="restore_record",
    promises={"draft": "trashed"},
)
class DeleteInvoice:
    """Delete a DRAFT invoice. Issued invoices can only be voided."""

    class Arguments(ToolArguments):
        invoice_ref: Ref
        subject_hint: SubjectHint

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        invoice = whole_invoice(arguments.invoice_ref)
        require_subject(arguments.subject_hint, candidate(invoice), others_like(invoice))
        refuse_delete_invoice(invoice)
        words = {"invoice": invoice.ref, "who": invoice.client.name}
        until = (timezone.localtime() + KEPT).date()
        by = invoice.created_by
        return Prepared(
            payload={"invoice": str(invoice.pk), "ref": invoice.ref, "version": invoice.version},
            preview=Preview(
                title=Phrase("delete_invoice_title", words),
                button=Phrase("delete_invoice_button", words),
                facts=(
                    Fact("draft", "ref", invoice.ref),
                    Fact("title", "text", invoice.title),
                    party_fact(invoice.client),
                    Fact("total", "money", money(invoice.total_cents, invoice.currency)),
                    Fact("created_at", "datetime", invoice.created_at),
                    *([Fact("created_by", "text", by.name)] if by else []),
                ),
                consequences=(Phrase("restorable_until", {"day": {"date": until.isoformat()}}),),
            ),
            summary=_("Move draft invoice %(invoice)s for %(who)s to the trash.") % words,
            targets=(target(invoice),),
        )

    def execute(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> Receipt:
        invoice = delete_invoice(
            Invoice.objects.get(pk=payload["invoice"]), by=ctx.member, expected_version=payload["version"]
        )
        return Receipt(_("Draft invoice %(ref)s is in the trash.") % {"ref": invoice.ref}, facts={"draft": invoice.ref})

    def reverse(payload: dict[str, Any], receipt: dict[str, Any]) -> dict[str, Any]:
        return {"record_ref": payload["ref"]}


def _enclosed(reserved: dict[str, Any]) -> str:
    """The final PDF is in the message; gives its SHA-256. Whatever fails here, nothing was handed over yet."""
    try:
        return enclose_invoice(uuid.UUID(reserved["company"]), uuid.UUID(reserved["message"]))
    except Exception as error:
        log.exception("The PDF of %s could not be enclosed", reserved["invoice_ref"])
        raise Refused("PDF_FAILED", _("Its PDF could not be made.")) from error


def target(row: Any) -> Target:
    return Target(row._meta.model_name, str(row.pk), row.version)


def _message(reserved: dict[str, Any]) -> ClientMessage:
    message: ClientMessage = ClientMessage.objects.select_related("invoice__client").get(pk=reserved["message"])
    return message
