"""The card of an invoice that is about to go out: payload, facts, consequences, the one sentence."""

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from assistant.tools.facts import Attached, Fact, Phrase, Preview, money
from assistant.tools.figures import Known, strange_figures
from assistant.tools.registry import Context
from assistant.tools.send_facts import (
    addressed,
    document_warnings,
    frozen_mail,
    letter_facts,
    party_fact,
    people_facts,
    people_warnings,
    words_warnings,
)
from ledger import numbering, reader
from ledger.actions.invoice_documents import file_name
from ledger.actions.invoice_letters import numbered
from ledger.actions.invoice_sending import InvoiceSend
from ledger.actions.invoices import lines_of
from ledger.actions.letters import own_words


def send_payload(plan: InvoiceSend, ctx: Context) -> dict[str, Any]:
    """All that sending will see. `reader` is the language of whoever decides, for what is said of a refusal."""
    invoice = plan.invoice
    return frozen_mail(plan.letter, plan.recipients) | {
        "invoice": str(invoice.pk),
        "ref": invoice.ref,
        "version": invoice.version,
        "channel": "email",
        "issued_on": plan.days.issued_on.isoformat(),
        "due_on": plan.days.due_on.isoformat(),
        "content_hash": plan.content_hash,
        "document_sha256": plan.document.sha256,
        "total_cents": invoice.total_cents,
        "currency": invoice.currency,
        "reader": ctx.language,
    }


def send_preview(plan: InvoiceSend, ctx: Context, written: str) -> Preview:
    """The card. Where the number is not known yet, the text shows its form: INV-····."""
    invoice, client = plan.invoice, plan.invoice.client
    total = money(invoice.total_cents, invoice.currency)
    words = {"invoice": invoice.ref, "who": client.name, "total": total}
    letter = plan.letter if invoice.is_issued else numbered(plan.letter, numbering.unknown_number("invoice"))
    strange = strange_figures(written, _known(plan), client.language)
    name, document = file_name(invoice), plan.document
    return Preview(
        title=Phrase("send_invoice_title", words),
        button=Phrase("send_invoice_button", words),
        facts=(
            party_fact(client),
            *people_facts(plan.recipients),
            *letter_facts(letter),
            *_number_facts(plan),
            Fact("title", "text", invoice.title),
            Fact("subtotal", "money", money(invoice.subtotal_total_cents, invoice.currency)),
            *_when(invoice.discount_total_cents, "discount", invoice.currency),
            Fact("tax", "money", money(invoice.tax_total_cents, invoice.currency)),
            Fact("total", "money", total),
            Fact("balance", "money", money(invoice.balance_cents, invoice.currency)),
            Fact("issue_date", "date", plan.days.issued_on),
            Fact("due_date", "date", plan.days.due_on),
            *([Fact("po_number", "text", invoice.po_number)] if invoice.po_number else []),
            Fact("attachment", "text", name),
            Fact("pages", "count", document.pages),
            Fact("sha256", "hash", document.sha256, () if invoice.is_issued else ("without_number",)),
        ),
        consequences=(
            Phrase("send_invoice_goes_out", {"who": addressed(plan.recipients)}),
            Phrase("send_invoice_again" if invoice.is_issued else "send_invoice_issues"),
            Phrase("cannot_be_undone_once_sent"),
        ),
        warnings=(
            *people_warnings(client, plan.recipients),
            *words_warnings(written, own_words(written), strange),
            *document_warnings(document),
            *([Phrase("send_invoice_uncertain")] if plan.uncertain else []),
        ),
        document=Attached("invoice", str(document.pk), document.sha256, document.pages, name),
    )


def send_summary(plan: InvoiceSend) -> str:
    """The one sentence of the card, in the language of the person who reads it."""
    invoice = plan.invoice
    facts = {
        "ref": invoice.ref,
        "title": invoice.title,
        "total": reader.amount(invoice.total_cents, invoice.currency),
        "who": invoice.client.name,
        "address": addressed(plan.recipients),
    }
    if invoice.is_issued:
        return _("Send invoice %(ref)s, “%(title)s”, for %(total)s to %(who)s (%(address)s).") % facts
    return _("Issue and send invoice %(ref)s, “%(title)s”, for %(total)s to %(who)s (%(address)s).") % facts


def _number_facts(plan: InvoiceSend) -> list[Fact]:
    invoice = plan.invoice
    if invoice.is_issued:
        return [Fact("invoice", "ref", invoice.ref)]
    return [
        Fact("draft", "ref", invoice.ref),
        Fact("number", "ref", plan.next_number, ("assigned_on_confirm",)),
    ]


def _known(plan: InvoiceSend) -> Known:
    """Every figure that the invoice has."""
    invoice, lines = plan.invoice, lines_of(plan.invoice)
    cents = {
        invoice.subtotal_total_cents,
        invoice.discount_total_cents,
        invoice.tax_total_cents,
        invoice.total_cents,
        invoice.balance_cents,
        invoice.allocated_cents,
    }
    cents |= {amount for line in lines for amount in (line.gross_total_cents, line.net_total_cents)}
    cents |= {int(line.unit_price * 100) for line in lines}
    percents = {line.tax_rate for line in lines}
    percents |= {part for part in (invoice.discount_percent, invoice.quote_percent) if part is not None}
    return Known(
        cents=frozenset(cents),
        days=frozenset({plan.days.issued_on, plan.days.due_on}),
        percents=frozenset(Decimal(percent) for percent in percents),
    )


def _when(cents: int, name: str, currency: str) -> list[Fact]:
    return [Fact(name, "money", money(cents, currency))] if cents else []
