"""Mail that goes nowhere: a provider of our own making that keeps what it is asked and fails as told to."""

import uuid

from django.utils.translation import gettext as _

from ledger import tenancy
from ledger.models import SandboxDelivery
from ledger.providers import sandbox
from ledger.providers.mail import MailMessage, on_the_wire
from ledger.providers.outcomes import Accepted, Refused, Uncertain, require_no_transaction
from ledger.providers.sandbox import Mode

PORT = "mail"


class SandboxMail:
    """Accepts, refuses or falls silent by the company's knob; each call is committed at once, as on a remote host."""

    name = "sandbox"

    def send(self, message: MailMessage) -> Accepted:
        """As the port. The same key with the same message answers as the first time and sends nothing more."""
        require_no_transaction()
        raw = on_the_wire(message).decode(errors="replace").replace("\r\n", "\n")
        with tenancy.tenant(message.company_id):
            behaviour = sandbox.next_behaviour(PORT)
            refuse = behaviour.mode in (Mode.REFUSE, Mode.RATE_LIMIT)
            delivery = None
            if behaviour.mode != Mode.TIMEOUT_BEFORE:
                delivery = sandbox.take(PORT, message.key, _payload(message), raw, refuse=refuse)
        behaviour.wait()
        return _answer(behaviour.mode, delivery)

    def find(self, key: str, *, company_id: uuid.UUID) -> Accepted | None:
        """The sandbox's own record of the key, if it accepted it."""
        with tenancy.tenant(company_id):
            delivery = sandbox.kept(PORT, key)
        if delivery is None or delivery.status == sandbox.Status.REFUSED:
            return None
        return _accepted(delivery)


def _answer(mode: Mode, delivery: SandboxDelivery | None) -> Accepted:
    match mode:
        case Mode.REFUSE:
            raise Refused("MAIL_RECIPIENT_REFUSED", _("The sandbox refused the recipient; nothing was sent."))
        case Mode.RATE_LIMIT:
            raise Refused("MAIL_RATE_LIMITED", _("Too many messages for now; nothing was sent."))
        case Mode.TIMEOUT_BEFORE | Mode.TIMEOUT_AFTER_ACCEPT:
            raise Uncertain("MAIL_NO_ANSWER", _("The provider did not answer; the message may have been sent."))
        case Mode.GARBAGE:
            sentence = _("The provider's answer cannot be read; the message may have been sent.")
            raise Uncertain("MAIL_BAD_ANSWER", sentence)
    if delivery is None:
        raise Refused("MAIL_KEY_REUSED", _("Another message was sent under this key; nothing more was sent."))
    return _accepted(delivery)


def _accepted(delivery: SandboxDelivery) -> Accepted:
    return Accepted(f"sandbox-{delivery.pk}", delivery.status)


def _payload(message: MailMessage) -> dict[str, object]:
    return {
        "message_id": message.message_id,
        "from": message.sender,
        "from_name": message.sender_name,
        "to": list(message.to),
        "cc": list(message.cc),
        "bcc": list(message.bcc),
        "reply_to": list(message.reply_to),
        "subject": message.subject,
        "text": message.text,
        "html": message.html,
        "attachments": [
            {"name": file.name, "type": file.content_type, "size": len(file.content), "sha256": file.sha256}
            for file in message.attachments
        ],
    }
