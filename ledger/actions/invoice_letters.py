"""What the message says that carries an invoice. While the number is unknown, NUMBER stands in its place."""

from dataclasses import replace
from typing import Final

from django.utils import translation
from django.utils.translation import gettext as _

from ledger import locales
from ledger.actions.invoice_documents import BillDays
from ledger.actions.letters import Letter, one_line, own_words, signature
from ledger.dates import format_date
from ledger.models import Company, Invoice, Membership
from ledger.money import format_money

NUMBER: Final = "[[number]]"


def invoice_letter(
    invoice: Invoice, company: Company, *, sender: Membership, days: BillDays, words: str = ""
) -> Letter:
    """The letter in the client's language. `words` stand in place of its opening sentence."""
    locale = invoice.client.language
    with translation.override(locales.language_of(locale)):
        facts = {
            "client": _own(invoice.client.name),
            "company": _own(company.name),
            "title": _own(invoice.title),
            "number": invoice.number or NUMBER,
            "total": _amount(invoice.total_cents, invoice, locale),
            "balance": _amount(invoice.balance_cents, invoice, locale),
            "day": format_date(days.due_on, locale, "long"),
        }
        parts = [
            _("Hello %(client)s,") % facts,
            own_words(_own(words)) or _("Here is our invoice for “%(title)s”. Thank you for your business.") % facts,
            _sum(invoice) % facts,
            _("The invoice is attached as a PDF."),
            signature(company, sender),
        ]
        subject = _("Invoice %(number)s from %(company)s: %(title)s") % facts
        return Letter(one_line(subject), "\n\n".join(parts), translation.get_language() or "en")


def numbered(letter: Letter, number: str) -> Letter:
    """The letter with the number in its place."""
    subject, body = (text.replace(NUMBER, number) for text in (letter.subject, letter.body))
    return replace(letter, subject=one_line(subject), body=body)


def _sum(invoice: Invoice) -> str:
    if invoice.balance_cents == 0:
        return _("Invoice %(number)s: %(total)s in total; nothing is left to pay.")
    if invoice.balance_cents == invoice.total_cents:
        return _("Invoice %(number)s: %(total)s in total, due by %(day)s.")
    return _("Invoice %(number)s: %(total)s in total, of which %(balance)s are left to pay by %(day)s.")


def _own(text: str) -> str:
    """A text of the record or a person's, without the place of the number."""
    return text.replace(NUMBER, "")


def _amount(cents: int, invoice: Invoice, locale: str) -> str:
    return locales.plain(format_money(cents, invoice.currency, locale))
