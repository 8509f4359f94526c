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
    "revision": _("Revision"),
    "discount_given": _("Discount in all, against the price book"),
    "status": _("Status"),
    "created_at": _("Made on"),
    "created_by": _("Owner"),
    "links": _("Links in the text"),
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
    "send_quote_title": _("Send quote %(quote)s over %(total)s to %(who)s?"),
    "send_quote_button": _("Send quote for %(total)s"),
    "send_quote_goes_out": _("This message goes to %(who)s with the PDF and a link to accept the quote."),
    "send_quote_freezes": _(
        "This revision of %(quote)s can no longer be changed; once accepted, it binds the company."
    ),
    "send_quote_again": _("%(who)s has this revision already; the same document goes out once more."),
    "send_email_title": _("Send “%(subject)s” to %(who)s?"),
    "send_email_button": _("Send e-mail to %(who)s"),
    "send_email_goes_out": _("This message goes to %(who)s."),
    "delete_quote_title": _("Move quote %(quote)s for %(who)s to the trash?"),
    "delete_quote_button": _("Delete quote %(quote)s"),
    "restorable_until": _("It can be restored until %(day)s."),
    "address_not_on_record": _("%(address)s is not on the record of %(who)s."),
    "address_changed": _("%(address)s was changed in the last 72 hours."),
    "address_lookalike": _("%(address)s has a domain that may not be what it looks like."),
    "hidden_characters_removed": _("The text held characters that cannot be seen; they were taken out."),
    "figures_not_on_record": _("The text names figures that are not on record: %(figures)s."),
    "cannot_be_undone_once_sent": _("It cannot be undone once sent."),
    "leaves_after": _("It leaves %(seconds)s seconds after you confirm."),
    "read_outside_content": _("Written after reading content from outside: %(sources)s."),
}
