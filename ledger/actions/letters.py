"""What a message says. Its facts come from the record; words that a person or the model added are put between them."""

from dataclasses import dataclass

from django.utils import translation
from django.utils.translation import gettext as _

from ledger import locales
from ledger.actions.quote_documents import Days, locale_of
from ledger.contacts import format_phone
from ledger.dates import format_date
from ledger.models import Client, ClientMessage, Company, Lead, Membership, Quote, QuoteRevision
from ledger.money import format_money
from ledger.text import clean_block, clean_line

LONGEST_SUBJECT = 200


@dataclass(frozen=True)
class Letter:
    """Subject (one line) and body (plain text); `language` is Django's code. The body may hold ClientMessage.LINK."""

    subject: str
    body: str
    language: str


def quote_letter(
    quote: Quote, revision: QuoteRevision, company: Company, *, sender: Membership, days: Days, words: str = ""
) -> Letter:
    """The letter that carries a quote, in the client's language. `words` stand in place of its opening sentence."""
    locale = locale_of(quote, company)
    with translation.override(locales.language_of(locale)):
        facts = {
            "ref": quote.ref,
            "title": quote.title,
            "client": quote.party.name,
            "company": company.name,
            "total": locales.plain(format_money(revision.total_cents, quote.currency, locale)),
            "day": format_date(days.valid_until, locale, "long"),
        }
        parts = [
            _("Hello %(client)s,") % facts,
            own_words(words) or _("Thank you for asking us. Here is our quote for “%(title)s”.") % facts,
            _("Quote %(ref)s: %(total)s in total, valid until %(day)s.") % facts,
            _("See it and accept it here:") + f"\n{ClientMessage.LINK}",
            _("The quote is attached as a PDF."),
            signature(company, sender),
        ]
        subject = _("Quote %(ref)s for %(client)s: %(title)s") % facts
        return Letter(one_line(subject), "\n\n".join(parts), translation.get_language() or "en")


def free_letter(party: Client | Lead, company: Company, *, subject: str, body: str) -> Letter:
    """A letter in somebody's own words, with nothing added; its language is the receiver's."""
    locale = party.language if isinstance(party, Client) else company.locale
    return Letter(one_line(subject), own_words(body), locales.language_of(locale))


def own_words(text: str) -> str:
    """Words from a person or the model: cleaned of what cannot be seen, and without the place of the link."""
    return clean_block(text.replace(ClientMessage.LINK, "")).strip()


def one_line(subject: str) -> str:
    """A subject that cannot break out of its header (H33)."""
    return clean_line(subject)[:LONGEST_SUBJECT].strip()


def signature(company: Company, sender: Membership) -> str:
    """Who writes: name, company, telephone."""
    phone = format_phone(company.phone, company.country) if company.phone.startswith("+") else company.phone
    return "\n".join(line for line in (sender.name, company.name, phone) if line)
