"""Why an action was not done, by the code that its record keeps, in words for whoever reads it."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

FAILURES: Final[dict[str, Promise]] = {
    "CHANGED": lazy("A record changed after you confirmed, so nothing was done."),
    "DIGEST": lazy("The stored action is not what was shown."),
    "ERROR": lazy("Something went wrong here; nothing was done."),
    "FORBIDDEN": lazy("Somebody who asked for it or confirmed it may no longer do this."),
    "GAVE_UP": lazy("The worker died several times before anything was done."),
    "MAIL_HEADER_UNSAFE": lazy("The subject or a name holds a line break or a control character."),
    "MAIL_KEY_REUSED": lazy("Another message was sent under this key; nothing more was sent."),
    "MAIL_NO_RECIPIENT": lazy("Nobody would receive this."),
    "MAIL_RATE_LIMITED": lazy("Too many messages for now; nothing was sent."),
    "MAIL_RECIPIENT_REFUSED": lazy("The mail server refused the recipient; nothing was sent."),
    "MAIL_REFUSED": lazy("The mail server refused the message; nothing was sent."),
    "MAIL_SENDER_REFUSED": lazy("The mail server refused the sender; nothing was sent."),
    "MAIL_TEXT_UNSAFE": lazy("The text holds a character that mail cannot carry."),
    "MAIL_UNREACHABLE": lazy("The mail server cannot be reached; nothing was sent."),
    "NO_APPROVAL": lazy("The decision on record does not cover this."),
    "OVER_LIMIT": lazy("It would have gone over a limit of the company."),
    "PAUSED": lazy("The company or its assistant is paused."),
    "PDF_FAILED": lazy("Its PDF could not be made."),
    "POLICY": lazy("The company's rules no longer allow it."),
    "PROMISE": lazy("It did not do what the card promised, so it was taken back."),
    "REFUND_RATE_LIMITED": lazy("Too many requests for now; no money has moved."),
    "REFUND_REFUSED": lazy("The provider refused the refund; no money has moved."),
    "RESTORED": lazy("The database was put back to an earlier moment; nothing of this is in it. Ask again."),
    "RULE_ENDED": lazy("The standing approval was ended before it ran."),
    "SETTLED": lazy("A person looked it up: it was not done."),
    "TOOL_CHANGED": lazy("This kind of action was changed since the card was shown."),
}
"""The gate's own and the providers'. A rule of the books has its words on the card of the attempt that met it."""


def why(code: str) -> str:
    """The words for a code; the code itself, and where its words stand, for a rule of the books."""
    if words := FAILURES.get(code):
        return str(words)
    return _("A rule stood against it (%(code)s); the card before says which.") % {"code": code}
