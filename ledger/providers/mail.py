"""E-mail: the port, its message, and which adapter stands behind it.

An adapter sends a message once under our key and tells acceptance, refusal and doubt apart; it never retries.
"""

import hashlib
import unicodedata
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from email.utils import formataddr
from typing import Protocol

from django.core.mail import EmailMultiAlternatives
from django.utils.translation import gettext as _

from ledger.contacts import email_key, parse_email
from ledger.providers.outcomes import Accepted, Refused


@dataclass(frozen=True, slots=True)
class MailAttachment:
    """A file as the receiver gets it. `sha256` is that of the frozen payload; other bytes raise ValueError (R2)."""

    name: str
    content: bytes
    sha256: str
    content_type: str = "application/pdf"

    def __post_init__(self) -> None:
        if hashlib.sha256(self.content).hexdigest() != self.sha256:
            raise ValueError("the attachment is not the file that was frozen")


@dataclass(frozen=True, slots=True, kw_only=True)
class MailMessage:
    """One e-mail to exactly these people (H32), under the key of the action that sends it.

    Addresses are checked (ContactError); one that is named twice, in whatever case, stays at its first place of
    to, cc, bcc.
    """

    company_id: uuid.UUID
    key: str
    sender: str
    to: tuple[str, ...]
    subject: str
    text: str
    sender_name: str = ""
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    reply_to: tuple[str, ...] = ()
    html: str = ""
    attachments: tuple[MailAttachment, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", str(self.key))
        object.__setattr__(self, "sender", parse_email(self.sender))
        object.__setattr__(self, "reply_to", tuple(map(parse_email, self.reply_to)))
        seen: set[str] = set()
        for field in ("to", "cc", "bcc"):
            object.__setattr__(self, field, tuple(_new_addresses(getattr(self, field), seen)))

    @property
    def message_id(self) -> str:
        """The Message-ID header, the same for every composition: `<key@the sender's domain>`."""
        return f"<{self.key}@{self.sender.rpartition('@')[2]}>"

    @property
    def recipients(self) -> tuple[str, ...]:
        """The envelope: each mailbox once."""
        return self.to + self.cc + self.bcc


class MailPort(Protocol):
    """What the business asks of a mail provider. `name` goes on record with what it did."""

    name: str

    def send(self, message: MailMessage) -> Accepted:
        """Hand one message over, once. Raises Refused (not done) or Uncertain (not known); no transaction open."""

    def find(self, key: str, *, company_id: uuid.UUID) -> Accepted | None:
        """What became of a key by the provider's own record, or None where it has none or keeps none."""


def compose(message: MailMessage) -> EmailMultiAlternatives:
    """The message as Django's mail backends take it. Raises Refused for a header that would not be one line (H33)."""
    one_line = (message.subject, message.sender_name, *(file.name for file in message.attachments))
    if any(map(_has_control, one_line)):
        raise Refused("MAIL_HEADER_UNSAFE", _("The subject or a name holds a line break or a control character."))
    if "\x00" in message.text + message.html:
        raise Refused("MAIL_TEXT_UNSAFE", _("The text holds a character that mail cannot carry."))
    if not message.to:
        raise Refused("MAIL_NO_RECIPIENT", _("Nobody would receive this."))
    composed = EmailMultiAlternatives(
        subject=message.subject,
        body=message.text,
        from_email=formataddr((message.sender_name, message.sender)),
        to=list(message.to),
        cc=list(message.cc),
        bcc=list(message.bcc),
        reply_to=list(message.reply_to),
        headers={"Message-ID": message.message_id},
    )
    if message.html:
        composed.attach_alternative(message.html, "text/html")
    for file in message.attachments:
        composed.attach(file.name, file.content, file.content_type)
    return composed


def on_the_wire(message: MailMessage) -> bytes:
    """The composed message as its bytes travel: headers and parts, lines ended by CR LF, no Bcc."""
    return bytes(compose(message).message().as_bytes(linesep="\r\n"))  # type: ignore[call-arg]


def _new_addresses(addresses: Iterable[str], seen: set[str]) -> Iterable[str]:
    for address in map(parse_email, addresses):
        if email_key(address) not in seen:
            seen.add(email_key(address))
            yield address


def _has_control(text: str) -> bool:
    return any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text)
