"""Messages: drafted, handed to a provider once, and what became of them.

An e-mail takes two actions around the provider's call (settled question 3): `reserve_…` stores exactly what will go
out and to whom, `record_…` what the provider said. Recording needs no permission: it has already happened.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, links, permissions
from ledger.actions import rows
from ledger.actions.letters import Letter, free_letter
from ledger.actions.recipients import require_reachable
from ledger.contacts import ContactError, parse_email
from ledger.errors import DomainError
from ledger.models import (
    Attachment,
    Channel,
    Client,
    ClientMessage,
    Company,
    DeliveryEvent,
    Invoice,
    Lead,
    Membership,
    PublicLink,
    QuoteRevision,
    StoredDocument,
)
from ledger.numbering import take_number
from ledger.tenancy import current_tenant
from ledger.text import search_key

LONGEST_BODY = 4000
SENDING, SENT, FAILED = ClientMessage.Status.SENDING, ClientMessage.Status.SENT, ClientMessage.Status.FAILED
UNKNOWN = ClientMessage.Status.UNKNOWN


@dataclass(frozen=True)
class Enclosed:
    """A stored document under the name that the receiver sees."""

    document: StoredDocument
    name: str


@dataclass(frozen=True)
class Mailing:
    """Exactly what goes out and to whom: addresses as they stand on the card (H32)."""

    letter: Letter
    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()


@transaction.atomic
def draft_message(
    party: Client | Lead,
    *,
    by: Membership,
    channel: str,
    body: str,
    subject: str = "",
    revision: QuoteRevision | None = None,
) -> ClientMessage:
    """Write a message that nobody gets; a person may look at it and send it later."""
    permissions.require(by, "draft_message")
    company = Company.objects.get(pk=current_tenant())
    letter = free_letter(party, company, subject=subject, body=body)
    check_words(letter, subject_needed=False)
    message = _create(party, by, Mailing(letter, to=()), channel=Channel(channel), revision=revision)
    audit.record("message.drafted", by=by, subject=message, ref=message.ref, party=party.ref, channel=channel)
    return message


@transaction.atomic
def discard_message(message: ClientMessage, *, by: Membership) -> ClientMessage:
    """Give a draft up; what was handed over cannot be discarded."""
    permissions.require(by, "draft_message")
    message = rows.locked(message)
    if message.status != ClientMessage.Status.DRAFT:
        raise DomainError("WRONG_STATUS", _("Only a draft can be discarded."), status=message.status)
    rows.write(message, by=by, status=ClientMessage.Status.DISCARDED, closed_at=timezone.now())
    audit.record("message.discarded", by=by, subject=message, ref=message.ref)
    return message


@transaction.atomic
def reserve_email(
    party: Client | Lead, *, by: Membership, key: uuid.UUID, mailing: Mailing, enclosed: Sequence[Enclosed] = ()
) -> ClientMessage:
    """Store a free e-mail that is about to be handed over under `key`. Raises RECIPIENT_SUPPRESSED, BAD_TEXT."""
    permissions.require(by, "send_email")
    check_words(mailing.letter)
    require_reachable((*mailing.to, *mailing.cc))
    return hold_message(party, by=by, key=key, mailing=mailing, enclosed=enclosed)


def hold_message(
    party: Client | Lead,
    *,
    by: Membership,
    key: uuid.UUID,
    mailing: Mailing,
    enclosed: Sequence[Enclosed] = (),
    kind: ClientMessage.Kind = ClientMessage.Kind.FREE,
    revision: QuoteRevision | None = None,
    invoice: Invoice | None = None,
    link: PublicLink | None = None,
) -> ClientMessage:
    """The message as it will be handed over, in the outbox as `sending`. Once for a key: the database holds it."""
    if not mailing.to:
        raise DomainError("NO_RECIPIENT", _("Nobody would receive this."))
    message = _create(
        party,
        by,
        mailing,
        channel=Channel.EMAIL,
        revision=revision,
        kind=kind,
        invoice=invoice,
        status=SENDING,
        key=key,
        link_id=link.pk if link else None,
        reserved_at=timezone.now(),
    )
    Attachment.objects.bulk_create([Attachment(message=message, document=e.document, name=e.name) for e in enclosed])
    DeliveryEvent.objects.create(message=message, kind=DeliveryEvent.Kind.SENDING)
    audit.record(
        "message.reserved",
        by=by,
        subject=message,
        ref=message.ref,
        key=key,
        to=mailing.to,
        cc=mailing.cc,
        bcc=mailing.bcc,
        text=mailing.letter.subject,
        attachments=[e.document.sha256 for e in enclosed],
    )
    return message


@transaction.atomic
def record_email_sent(
    message: ClientMessage, *, by: Membership | None, provider: str, provider_id: str
) -> ClientMessage:
    """The provider accepted it. Saying so again changes nothing."""
    message = rows.locked(message)
    if message.status in (SENDING, UNKNOWN):
        rows.write(message, by=by, status=SENT, provider_id=provider_id[:200], sent_at=timezone.now())
        DeliveryEvent.objects.create(message=message, kind=DeliveryEvent.Kind.SENT, provider=provider[:24])
        audit.record("message.sent", by=by, subject=message, ref=message.ref, provider_id=provider_id[:200])
    return message


@transaction.atomic
def record_email_failed(message: ClientMessage, *, by: Membership | None, problem: str) -> ClientMessage:
    """It certainly did not go out. `problem` is a code."""
    message = rows.locked(message)
    if message.status in (SENDING, UNKNOWN):
        rows.write(message, by=by, status=FAILED, problem=problem[:40], closed_at=timezone.now())
        DeliveryEvent.objects.create(message=message, kind=DeliveryEvent.Kind.FAILED, detail={"code": problem[:40]})
        audit.record("message.failed", by=by, subject=message, ref=message.ref, problem=problem[:40])
    return message


@transaction.atomic
def record_email_unknown(message: ClientMessage, *, by: Membership | None = None) -> ClientMessage:
    """The provider's answer never came or cannot be read: it may have gone out, and is never sent again (R11)."""
    message = rows.locked(message)
    if message.status == SENDING:
        rows.write(message, by=by, status=UNKNOWN)
        DeliveryEvent.objects.create(message=message, kind=DeliveryEvent.Kind.UNKNOWN)
        audit.record("message.in_doubt", by=by, subject=message, ref=message.ref)
    return message


def sender_of(company: Company) -> tuple[str, str]:
    """From which address the company's mail leaves, and to which answers go. Raises NO_SENDER.

    A mail server lets out what it is responsible for, so with one the address is the installation's own
    (AVAL_MAIL_FROM); in the sandbox it is the company's.
    """
    own = settings.DEFAULT_FROM_EMAIL
    address = own if settings.EMAIL_URL or not company.email else company.email
    try:
        return parse_email(address), company.email
    except ContactError as wrong:
        sentence = _("The company has no e-mail address to write from; give it one in the settings.")
        raise DomainError("NO_SENDER", sentence) from wrong


def text_of(message: ClientMessage) -> str:
    """The body as it goes out, or went out: with the working link in its place."""
    if message.link_id is None:
        return message.body
    link = PublicLink.objects.filter(pk=message.link_id).first()
    return message.body.replace(ClientMessage.LINK, links.address_of(link) if link else "")


def check_words(letter: Letter, *, subject_needed: bool = True) -> None:
    """Raise BAD_TEXT where there is nothing to say, or too much."""
    if subject_needed and not letter.subject:
        raise DomainError("BAD_TEXT", _("Give the message a subject."), field="subject")
    if not letter.body:
        raise DomainError("BAD_TEXT", _("The message says nothing."), field="body")
    if len(letter.body) > LONGEST_BODY:
        sentence = _("The message is too long; %(most)s characters are possible.") % {"most": LONGEST_BODY}
        raise DomainError("BAD_TEXT", sentence, field="body", most=LONGEST_BODY)


def _create(
    party: Client | Lead,
    by: Membership,
    mailing: Mailing,
    *,
    channel: Channel,
    revision: QuoteRevision | None,
    kind: ClientMessage.Kind = ClientMessage.Kind.FREE,
    status: ClientMessage.Status = ClientMessage.Status.DRAFT,
    **columns: object,
) -> ClientMessage:
    company = Company.objects.get(pk=current_tenant())
    letter = mailing.letter
    sender, reply_to = sender_of(company) if status != ClientMessage.Status.DRAFT else ("", "")
    message: ClientMessage = ClientMessage.objects.create(
        **rows.made_by(by),
        ref=take_number("message"),
        client=party if isinstance(party, Client) else None,
        lead=party if isinstance(party, Lead) else None,
        revision=revision,
        channel=channel,
        kind=kind,
        sender_name=company.name,
        sender=sender,
        reply_to=reply_to,
        status=status,
        to=list(mailing.to),
        cc=list(mailing.cc),
        bcc=list(mailing.bcc),
        subject=letter.subject,
        body=letter.body,
        language=letter.language,
        search=search_key(f"{letter.subject} {party.name}"),
        **columns,
    )
    return message
