"""Mail by SMTP (EMAIL_URL), told apart at the one moment that matters: before or after the text has gone out.

SMTP keeps no record of our key, so `find` never answers and an uncertain outcome stays in doubt for a person.
"""

import logging
import re
import smtplib
import uuid

from django.core.mail.backends.smtp import EmailBackend
from django.utils.translation import gettext as _

from ledger.providers.mail import MailMessage, on_the_wire
from ledger.providers.outcomes import Accepted, Refused, Uncertain, require_no_transaction

log = logging.getLogger(__name__)

_FAILURES = (smtplib.SMTPException, OSError)
_OK, _GO_ON = range(200, 300), 354


class SmtpMail:
    """Sends by the server of the settings, all recipients or none."""

    name = "smtp"

    def send(self, message: MailMessage) -> Accepted:
        """One SMTP transaction. Refused up to the end of the dialogue before the text, and where the server says so
        after it; Uncertain when the line breaks once the text has begun to leave."""
        require_no_transaction()
        content = on_the_wire(message)
        backend = EmailBackend()
        try:
            server = _connect(backend)
            _address(server, message)
            return Accepted(message.message_id, _deliver(server, content))
        finally:
            _leave(backend)

    def find(self, key: str, *, company_id: uuid.UUID) -> Accepted | None:
        """None: SMTP has no look-up."""
        return None


def _connect(backend: EmailBackend) -> smtplib.SMTP:
    try:
        backend.open()
    except _FAILURES as error:
        log.warning("The mail server cannot be reached: %s", type(error).__name__)
        raise _unreachable() from error
    if backend.connection is None:
        raise _unreachable()
    return backend.connection


def _address(server: smtplib.SMTP, message: MailMessage) -> None:
    """The envelope. One refused recipient refuses the message: nobody gets what another did not (H32)."""
    try:
        server.ehlo_or_helo_if_needed()
        options = ["BODY=8BITMIME"] if server.has_extn("8bitmime") else []
        code, reply = server.mail(message.sender, options)
        if code not in _OK:
            raise _refusal("MAIL_SENDER_REFUSED", code, reply)
        for recipient in message.recipients:
            code, reply = server.rcpt(recipient)
            if code not in _OK:
                raise _refusal("MAIL_RECIPIENT_REFUSED", code, reply, recipient)
        code, reply = server.docmd("DATA")
    except _FAILURES as error:
        raise _unreachable() from error
    if code != _GO_ON:
        raise _refusal("MAIL_REFUSED", code, reply)


def _deliver(server: smtplib.SMTP, content: bytes) -> str:
    """The text itself, and the server's word on it. From the first byte on, silence means doubt."""
    ended = b"" if content.endswith(b"\r\n") else b"\r\n"
    try:
        server.send(re.sub(rb"(?m)^\.", b"..", content) + ended + b".\r\n")
        code, reply = server.getreply()
    except _FAILURES as error:
        sentence = _("The mail server did not answer after it got the message; it may have been sent.")
        raise Uncertain("MAIL_NO_ANSWER", sentence) from error
    if code not in _OK:
        raise _refusal("MAIL_REFUSED", code, reply)
    return _said(reply)


def _unreachable() -> Refused:
    return Refused("MAIL_UNREACHABLE", _("The mail server cannot be reached; nothing was sent."))


def _refusal(code: str, status: int, reply: bytes, recipient: str = "") -> Refused:
    log.warning("The mail server refused: %s %s", code, status)
    said = f"{status} {_said(reply)}"
    if recipient:
        sentence = _("The mail server refused %(recipient)s (%(said)s); nothing was sent.")
        return Refused(code, sentence % {"recipient": recipient, "said": said})
    return Refused(code, _("The mail server refused the message (%(said)s); nothing was sent.") % {"said": said})


def _said(reply: bytes) -> str:
    return " ".join(reply.decode("ascii", "replace").split())[:200]


def _leave(backend: EmailBackend) -> None:
    """What is known is known: a farewell that fails changes nothing."""
    try:
        backend.close()
    except _FAILURES:
        log.debug("The mail server was gone before the farewell.")
