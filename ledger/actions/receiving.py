"""Messages that came in: what somebody wrote to the company, as they wrote it."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from ledger import audit, locales
from ledger.actions import columns, rows
from ledger.models import Channel, Client, ClientMessage, Lead, Membership
from ledger.numbering import take_number
from ledger.text import clean_block, clean_line, search_key


@transaction.atomic
def receive_message(
    party: Client | Lead | None,
    *,
    by: Membership | None,
    channel: Channel,
    sender: str,
    body: str,
    subject: str = "",
    received_at: datetime | None = None,
    ref: str = "",
) -> ClientMessage:
    """Keep a message from a client or a lead; without a party, from somebody who is not on record.

    `received_at` is now where it isn't given. A company that brings its record along gives `ref`. Needs no permission:
    it has already happened. What it says is outside content to whoever reads it (product.md, The agent loop).
    """
    company = columns.company()
    at = received_at or timezone.now()
    subject = clean_line(subject)[:200]
    message: ClientMessage = ClientMessage.objects.create(
        **rows.made_by(by),
        ref=ref or take_number("message"),
        direction=ClientMessage.Direction.IN,
        status=ClientMessage.Status.RECEIVED,
        channel=channel,
        client=party if isinstance(party, Client) else None,
        lead=party if isinstance(party, Lead) else None,
        sender_name=party.name if party else "",
        sender=clean_line(sender)[:254],
        to=[company.phone if channel != Channel.EMAIL else company.email],
        subject=subject,
        body=clean_block(body),
        language=locales.language_of(party.language if isinstance(party, Client) else company.locale),
        search=search_key(f"{subject} {party.name if party else sender}"),
        created_at=at,
        updated_at=at,
    )
    audit.record("message.received", by=by, subject=message, ref=message.ref, channel=channel, sender=message.sender)
    return message
