"""Sending an invoice: plan it, issue and hold it, and record what the provider said (settled question 3).

`plan_invoice_send` computes what would go out; nothing changes. `reserve_invoice_send` issues a draft (its number is
used from then on, whatever becomes of the mail) and puts the message into the outbox. The final PDF is rendered after
that commit, by `enclose_invoice`, and goes along. One of the two records follows the provider's answer.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, numbering, permissions, tenancy
from ledger.actions import columns, rows
from ledger.actions.invoice_documents import (
    BillDays,
    bill_days,
    draft_document,
    file_invoice_pdf,
    file_name,
    invoice_paper,
    preview_invoice_pdf,
)
from ledger.actions.invoice_issuing import issue, locked_invoice, require_today
from ledger.actions.invoice_letters import invoice_letter, numbered
from ledger.actions.invoices import require_billable
from ledger.actions.letters import Letter
from ledger.actions.messages import Mailing, hold_message, record_email_failed, record_email_sent
from ledger.actions.quote_documents import content_hash, without_bytes
from ledger.actions.recipients import Recipients, recipients_for, require_reachable
from ledger.contacts import email_key
from ledger.errors import DomainError, NotFound
from ledger.models import Attachment, Channel, ClientMessage, Invoice, Membership, StoredDocument

AGAIN_AFTER = timedelta(minutes=10)
WENT_OUT = (
    ClientMessage.Status.SENDING,
    ClientMessage.Status.SENT,
    ClientMessage.Status.DELIVERED,
    ClientMessage.Status.READ,
    ClientMessage.Status.UNKNOWN,
)


@dataclass(frozen=True)
class InvoiceSend:
    """Everything that would go out, computed from the record. `next_number` is a hint, empty once there is one.

    `document` is the PDF as it stands: for a draft without its number. `uncertain` tells that an earlier message with
    this invoice may or may not have arrived.
    """

    invoice: Invoice
    recipients: Recipients
    letter: Letter
    days: BillDays
    document: StoredDocument
    content_hash: str
    next_number: str
    uncertain: bool


@dataclass(frozen=True)
class FrozenInvoice:
    """What was shown to the person who decided, and nothing else goes out."""

    mailing: Mailing
    days: BillDays
    content_hash: str
    version: int


def plan_invoice_send(
    invoice: Invoice,
    *,
    by: Membership,
    channel: str = Channel.EMAIL,
    to: str = "",
    cc: Sequence[str] = (),
    words: str = "",
) -> InvoiceSend:
    """What sending this invoice now would do. Raises DomainError where a rule already says no.

    WRONG_STATUS, CLIENT_ARCHIVED, CLIENT_BLOCKED, CHANNEL_UNAVAILABLE, ALREADY_SENT, what `recipients_for` raises.
    """
    permissions.require(by, "send_invoice")
    if channel != Channel.EMAIL:
        raise DomainError("CHANNEL_UNAVAILABLE", _("Invoices go out by e-mail only, for now."), channel=channel)
    _require_sendable(invoice)
    company = columns.company()
    days = bill_days(invoice, company)
    recipients = recipients_for(invoice.client, to=to, cc=cc)
    _refuse_again(invoice, [recipient.address for recipient in recipients.to])
    document = preview_invoice_pdf(invoice, by=by) if invoice.is_issued else draft_document(invoice, days)
    return InvoiceSend(
        invoice=invoice,
        recipients=recipients,
        letter=invoice_letter(invoice, company, sender=by, days=days, words=words),
        days=days,
        document=document,
        content_hash="" if invoice.is_issued else content_hash(invoice_paper(invoice, days)),
        next_number="" if invoice.is_issued else numbering.next_number("invoice"),
        uncertain=invoice.messages.filter(status=ClientMessage.Status.UNKNOWN).exists(),
    )


@transaction.atomic
def reserve_invoice_send(invoice: Invoice, *, by: Membership, key: uuid.UUID, frozen: FrozenInvoice) -> ClientMessage:
    """Issue the invoice if it is a draft, and put the message into the outbox under `key`.

    Everything is checked again. Raises STALE_VERSION, DOCUMENT_CHANGED, DAY_CHANGED, WRONG_STATUS, ALREADY_SENT,
    RECIPIENT_SUPPRESSED, PERIOD_CLOSED; then nothing has changed and no number is used.
    """
    permissions.require(by, "send_invoice")
    held = locked_invoice(invoice, expected_version=frozen.version)
    _require_sendable(held)
    require_reachable((*frozen.mailing.to, *frozen.mailing.cc))
    _refuse_again(held, frozen.mailing.to)
    if held.is_issued:
        rows.write(held, by=by)
    else:
        require_today(frozen.days)
        if content_hash(invoice_paper(held, frozen.days)) != frozen.content_hash:
            sentence = _("What the invoice says has changed since, so nothing was sent.")
            raise DomainError("DOCUMENT_CHANGED", sentence)
        held = issue(held, frozen.days, by=by)
    message = hold_message(
        held.client,
        by=by,
        key=key,
        mailing=replace(frozen.mailing, letter=numbered(frozen.mailing.letter, held.ref)),
        kind=ClientMessage.Kind.INVOICE,
        invoice=held,
    )
    audit.record("invoice.send_reserved", by=by, subject=held, ref=held.ref, message=message.ref)
    return message


def enclose_invoice(company_id: uuid.UUID, message_id: uuid.UUID) -> str:
    """Render the issued invoice's PDF and put it into its message; gives its SHA-256. Called outside any scope."""
    with tenancy.tenant(company_id):
        invoice = invoice_in(ClientMessage.objects.select_related("invoice").get(pk=message_id))
    sha256 = file_invoice_pdf(company_id, invoice.pk)
    with tenancy.tenant(company_id):
        message = ClientMessage.objects.get(pk=message_id)
        document = without_bytes().get(sha256=sha256)
        Attachment.objects.get_or_create(message=message, document=document, defaults={"name": file_name(invoice)})
    return sha256


@transaction.atomic
def record_invoice_sent(
    message: ClientMessage, *, by: Membership | None, provider: str, provider_id: str
) -> ClientMessage:
    """The provider accepted it: the invoice is with the client."""
    invoice = locked_invoice(invoice_in(message))
    already = message.status == ClientMessage.Status.SENT
    message = record_email_sent(message, by=by, provider=provider, provider_id=provider_id)
    if already:
        return message
    invoice.sent_at = invoice.sent_at or timezone.now()
    rows.write(invoice, by=by, sent_at=invoice.sent_at, status=invoice.status_now())
    audit.record("invoice.sent", by=by, subject=invoice, ref=invoice.ref, message=message.ref, to=message.to)
    return message


@transaction.atomic
def record_invoice_send_failed(message: ClientMessage, *, by: Membership | None, problem: str) -> ClientMessage:
    """It certainly did not go out. The invoice stays issued under its number, which is used for good (I5)."""
    invoice = locked_invoice(invoice_in(message))
    message = record_email_failed(message, by=by, problem=problem)
    if message.status == ClientMessage.Status.FAILED:
        rows.write(invoice, by=by)
        audit.record(
            "invoice.send_failed", by=by, subject=invoice, ref=invoice.ref, message=message.ref, problem=problem
        )
    return message


def invoice_in(message: ClientMessage) -> Invoice:
    """The invoice that a message carries. Raises NotFound for any other message."""
    if message.invoice is None:
        raise NotFound(_("This message carries no invoice."))
    invoice: Invoice = message.invoice
    return invoice


def _require_sendable(invoice: Invoice) -> None:
    if invoice.deleted_at is not None or invoice.status in (Invoice.Status.VOID, Invoice.Status.WRITTEN_OFF):
        sentence = _("%(ref)s cannot be sent as it stands: %(status)s.") % {
            "ref": invoice.ref,
            "status": invoice.get_status_display(),
        }
        raise DomainError("WRONG_STATUS", sentence, status=invoice.status)
    require_billable(invoice.client)


def _refuse_again(invoice: Invoice, addresses: Sequence[str]) -> None:
    """The same invoice does not go to the same address twice within ten minutes."""
    lately = invoice.messages.filter(status__in=WENT_OUT, reserved_at__gt=timezone.now() - AGAIN_AFTER)
    reached = {email_key(address) for to in lately.values_list("to", flat=True) for address in to}
    again = [address for address in addresses if email_key(address) in reached]
    if again:
        sentence = _("%(ref)s went to %(address)s less than ten minutes ago.")
        raise DomainError("ALREADY_SENT", sentence % {"ref": invoice.ref, "address": again[0]}, address=again[0])
