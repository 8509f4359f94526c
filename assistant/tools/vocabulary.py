"""The words of the cards: every fact's label, every mark and every sentence, once, in both languages by gettext.

A tool that uses a word which is not here does not start (registry.complete). Sentences take named parameters.
"""

from django.utils.translation import gettext_lazy as _

LABELS = {
    "client": _("Client"),
    "lead": _("Lead"),
    "recipient": _("To"),
    "cc": _("Copy to"),
    "bcc": _("Company copy to"),
    "subject": _("Subject"),
    "message": _("Message"),
    "quote": _("Quote"),
    "title": _("Title"),
    "subtotal": _("Subtotal"),
    "discount": _("Discount"),
    "tax": _("Tax"),
    "total": _("Total"),
    "deposit": _("Deposit"),
    "valid_until": _("Valid until"),
    "attachment": _("Attachment"),
    "pages": _("Pages"),
    "sha256": _("Fingerprint (SHA-256)"),
}

MARKS = {
    "new_address": _("New address, not used before"),
    "not_on_record": _("This address is not on the client's record"),
    "changed_recently": _("Changed in the last 72 hours"),
    "same_as_last": _("Same address as last time"),
    "hidden_characters": _("Contains hidden characters, shown here as codes"),
    "lookalike": _("This address mixes alphabets"),
}

PHRASES = {
    "cannot_be_undone_once_sent": _("It cannot be undone once sent."),
    "leaves_after": _("It leaves %(seconds)s seconds after you confirm."),
    "read_outside_content": _("Written after reading content from outside: %(sources)s."),
}
