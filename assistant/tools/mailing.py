"""Handing a stored message to the mail provider and asking what became of it: shared by every tool that sends mail."""

import uuid
from typing import Any

from assistant.tools.registry import Found, Refused
from ledger import tenancy
from ledger.actions.messages import record_email_unknown, text_of
from ledger.compiled import Compiled, an_id
from ledger.errors import DomainError
from ledger.models import Attachment, ClientMessage
from ledger.providers import outcomes
from ledger.providers.mail import MailAttachment, MailMessage
from ledger.providers.ports import mail_port

STORED = Compiled(lambda: ClientMessage.objects.select_related("revision__quote").filter(pk=an_id()))
ENCLOSED = Compiled(
    lambda: Attachment.objects.filter(message=an_id("message")).select_related("document").order_by("pk")
)


def reserved_for(message: ClientMessage) -> dict[str, Any]:
    """What the steps after the reservation need to find the message: ids only."""
    return {"message": str(message.pk), "message_ref": message.ref, "company": str(message.tenant_id)}


def stored_message(reserved: dict[str, Any]) -> ClientMessage:
    """The message of a reservation; the company's scope is open."""
    return STORED.one(pk=uuid.UUID(reserved["message"]))


def hand_over(reserved: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
    """Give exactly the stored message to the provider, once, with no transaction open.

    Raises Refused where nothing was done; anything else leaves the outcome in doubt.
    """
    port = mail_port()
    company_id = uuid.UUID(reserved["company"])
    try:
        with tenancy.tenant(company_id):
            mail = _composed(stored_message(reserved), company_id, key)
        accepted = port.send(mail)
    except outcomes.Refused as refused:
        raise Refused(refused.code, refused.sentence) from refused
    except DomainError as wrong:  # before anything was sent: an address or a text that mail cannot carry
        raise Refused(wrong.code, wrong.sentence) from wrong
    except outcomes.Uncertain:
        with tenancy.tenant(company_id):
            record_email_unknown(stored_message(reserved))
        raise
    return {"provider": port.name, "provider_id": accepted.provider_id}


def look_up(reserved: dict[str, Any], key: uuid.UUID) -> Found | None:
    """The provider's own record of the key."""
    port = mail_port()
    accepted = port.find(str(key), company_id=uuid.UUID(reserved["company"]))
    return None if accepted is None else Found({"provider": port.name, "provider_id": accepted.provider_id})


def _composed(message: ClientMessage, company_id: uuid.UUID, key: uuid.UUID) -> MailMessage:
    return MailMessage(
        company_id=company_id,
        key=str(key),
        sender=message.sender,
        sender_name=message.sender_name,
        reply_to=(message.reply_to,) if message.reply_to else (),
        to=tuple(message.to),
        cc=tuple(message.cc),
        bcc=tuple(message.bcc),
        subject=message.subject,
        text=text_of(message),
        attachments=tuple(
            MailAttachment(one.name, bytes(one.document.content), one.document.sha256)
            for one in ENCLOSED.all(message=message.pk)
        ),
    )
