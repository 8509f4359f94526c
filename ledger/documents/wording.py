"""The words and figures of a document, in its own language: a dictionary of texts for the template to place.

Every value is text that has been cleaned and formatted here; the template only arranges it. Nothing from outside
is ever joined into markup.
"""

import re
from decimal import Decimal
from typing import Any

from babel.numbers import format_currency, format_decimal
from django.utils import translation
from django.utils.translation import gettext as _

from ledger.dates import format_date
from ledger.documents.papers import Addressee, InvoiceDocument, Letterhead, Paper, PaperLine, QuoteDocument
from ledger.locales import babel_locale, language_of
from ledger.money import LineTotals, Portion, TaxMode, format_money
from ledger.tax_ids import TaxIdError, format_tax_id, parse_tax_id, tax_id_kind
from ledger.text import clean_block, clean_line

Words = dict[str, Any]
_MINUS = "−"
_LONG, _PIECE = re.compile(r"\S{40,}"), re.compile(r"\S{8}")


def words_of(paper: Paper) -> Words:
    """What the template places. Labels are in the paper's locale, whatever language is active."""
    with translation.override(language_of(paper.locale)):
        match paper:
            case QuoteDocument():
                return _quote(paper)
            case InvoiceDocument():
                return _invoice(paper)
    raise TypeError(f"no wording for {type(paper).__name__}")


def _quote(paper: QuoteDocument) -> Words:
    dates = [_fact(_("Date"), format_date(paper.issued_on, paper.locale, "long"))]
    if paper.valid_until:
        dates.append(_fact(_("Valid until"), format_date(paper.valid_until, paper.locale, "long")))
    if paper.revision > 1:
        dates.append(_fact(_("Revision"), str(paper.revision)))
    deposit = []
    if paper.totals.deposit:
        deposit = [
            _sum(paper, _with_percent(paper, _("Deposit to begin"), paper.settings.deposit), paper.totals.deposit),
            _sum(paper, _("Balance on completion"), paper.totals.balance),
        ]
    return _common(paper) | {
        "kind": _("Quote"),
        "client_label": _("Prepared for"),
        "facts": dates,
        "due": None,
        "after": _included(paper) + deposit,
        "total": _sum(paper, _("Total"), paper.totals.total),
        "payment": None,
        "accept": _accept(paper.accept_url),
    }


def _invoice(paper: InvoiceDocument) -> Words:
    facts = [
        _fact(_("Issue date"), format_date(paper.issued_on, paper.locale, "long")),
        _fact(_("Due date"), format_date(paper.due_on, paper.locale, "long")),
    ]
    if paper.po_number:
        facts.append(_fact(_("Purchase order"), _text(paper.po_number)))
    after = []
    if paper.credited_cents:
        after.append(_sum(paper, _("Credited"), -paper.credited_cents))
    if paper.received_cents:
        after.append(_sum(paper, _("Payments received"), -paper.received_cents))
    due = {
        "label": _("Balance due"),
        "amount": _money(paper, paper.balance_cents),
        "note": _("by %(date)s") % {"date": format_date(paper.due_on, paper.locale, "long")},
    }
    return _common(paper) | {
        "kind": _("Invoice"),
        "client_label": _("Billed to"),
        "facts": facts,
        "due": due,
        "after": _included(paper) + after,
        "total": _sum(paper, _("Total"), paper.totals.total),
        "payment": _section(_("How to pay"), paper.payment) if paper.balance_cents and paper.payment else None,
        "accept": None,
    }


def _common(paper: Paper) -> Words:
    locale = babel_locale(paper.locale)
    rows = list(zip(paper.lines, paper.totals.lines, strict=True))
    rates = {line.money.tax_rate for line, row in rows if row.counts}
    return {
        "sheet": "us-letter" if paper.company.country == "US" else "a4",
        "lang": locale.language,
        "region": locale.territory or "",
        "number": _text(paper.number) if paper.number else _("Draft"),
        "title": _text(paper.title),
        "company": _letterhead(paper.company),
        "client": _addressee(paper.client, paper.company.country),
        "site": _section(_("Job site"), paper.site) if paper.site else None,
        "columns": {
            "description": _("Description"),
            "quantity": _("Quantity"),
            "price": _("Unit price"),
            "tax": _("Tax"),
            "amount": _("Amount"),
        },
        "shows_tax": len(rates) > 1,
        "lines": _grouped([_line(paper, line, row) for line, row in rows if row.counts]),
        "options": _grouped([_line(paper, line, row) for line, row in rows if not row.counts]),
        "options_label": _("Options, not in the total"),
        "sums": _sums(paper),
        "terms": _section(_("Terms"), paper.terms) if paper.terms else None,
        "page": _("Page {page} of {pages}"),
    }


def _line(paper: Paper, line: PaperLine, row: LineTotals) -> Words:
    notes = []
    if row.discount:
        label = _with_percent(paper, _("Discount"), line.money.discount)
        notes.append(f"{label}: {_MINUS}{_money(paper, row.discount)}")
    unit = _text(line.unit)
    quantity = format_decimal(line.money.quantity, format="#,##0.###", locale=babel_locale(paper.locale))
    return {
        "description": _text(line.description),
        "group": _text(line.group),
        "notes": notes,
        "quantity": f"{quantity}\u00a0{unit}" if unit else quantity,
        "price": _unit_price(paper, line.money.unit_price),
        "tax": _percent(paper, line.money.tax_rate) if line.money.tax_rate else "–",
        "amount": _money(paper, row.net),
    }


def _grouped(rows: list[Words]) -> list[Words]:
    """A line without a heading of its own does not slip under the one before it."""
    under_heading = False
    for row in rows:
        under_heading = under_heading or bool(row["group"])
        row["group"] = row["group"] or (_("Other") if under_heading else "")
    return rows


def _sums(paper: Paper) -> list[Words]:
    """Subtotal, discount and the taxes that are added, in the order in which they make the total."""
    totals = paper.totals
    added = [] if paper.settings.tax_mode is TaxMode.INCLUSIVE else _taxes(paper, _("%(tax)s %(rate)s on %(base)s"))
    sums = [_sum(paper, _("Subtotal"), totals.subtotal)] if totals.discount or added else []
    if totals.discount:
        label = _with_percent(paper, _("Discount"), paper.settings.discount)
        sums.append(_sum(paper, label, -totals.discount))
    return sums + added


def _included(paper: Paper) -> list[Words]:
    """The taxes that are inside the total already, for information."""
    if paper.settings.tax_mode is TaxMode.EXCLUSIVE:
        return []
    return [row | {"quiet": True} for row in _taxes(paper, _("%(tax)s %(rate)s included"))]


def _taxes(paper: Paper, label: str) -> list[Words]:
    name = _text(paper.tax_name) or _("Tax")
    rows = []
    for tax in paper.totals.tax_lines:
        values = {"tax": name, "rate": _percent(paper, tax.rate), "base": _money(paper, tax.base)}
        rows += [_sum(paper, label % values, tax.tax)] if tax.tax else []
    return rows


def _letterhead(company: Letterhead) -> Words:
    contact = [_text(company.phone), _text(company.email)]
    lines = [*_texts(company.address), *contact, _tax_id(company.tax_id, company.country)]
    return {"name": _text(company.name), "lines": [line for line in lines if line]}


def _addressee(client: Addressee, country: str) -> Words:
    reach = [_text(client.email), _text(client.phone), _tax_id(client.tax_id, country)]
    lines = [_text(client.contact), *_texts(client.address), *reach]
    return {"name": _text(client.name), "lines": [line for line in lines if line]}


def _tax_id(text: str, country: str) -> str:
    """With the name of its kind and its punctuation, where it is one that the country knows."""
    kind = tax_id_kind(text, country)
    try:
        return f"{kind} {format_tax_id(parse_tax_id(text, kind), kind)}" if kind else _text(text)
    except TaxIdError:
        return _text(text)


def _accept(url: str) -> Words | None:
    return {"label": _("See and accept this quote online"), "url": _text(url)} if url else None


def _section(label: str, text: str) -> Words:
    return {"label": label, "paragraphs": _texts(text)}


def _fact(label: str, text: str) -> Words:
    return {"label": label, "text": text}


def _sum(paper: Paper, label: str, cents: int) -> Words:
    sign = _MINUS if cents < 0 else ""
    return {"label": label, "amount": f"{sign}{_money(paper, abs(cents))}", "quiet": False}


def _with_percent(paper: Paper, label: str, portion: Portion | None) -> str:
    if portion is None or portion.percent is None:
        return label
    return f"{label} ({_percent(paper, portion.percent)})"


def _money(paper: Paper, cents: int) -> str:
    return _printed(format_money(cents, paper.currency, paper.locale))


def _unit_price(paper: Paper, price: Decimal) -> str:
    """A unit price with its four places where it has them, so that the line can be checked by hand (H08)."""
    locale = babel_locale(paper.locale)
    pattern = locale.currency_formats["standard"].pattern.replace("0.00", "0.00##")
    return _printed(format_currency(price, paper.currency, pattern, locale, currency_digits=False))


def _percent(paper: Paper, percent: Decimal) -> str:
    return f"{format_decimal(percent, format='#,##0.###', locale=babel_locale(paper.locale))}%"


def _text(text: str) -> str:
    """One line as it is printed: clean, and a run of forty letters without a space may break."""
    return _LONG.sub(lambda run: _PIECE.sub("\\g<0>\u200b", run[0]), clean_line(text))


def _texts(text: str) -> list[str]:
    return [printed for line in clean_block(text).split("\n") if (printed := _text(line))]


def _printed(text: str) -> str:
    """The typeface has no narrow no-break space."""
    return text.replace("\u202f", "\u00a0")


def printed_lines(text: str) -> list[str]:
    """A text line by line as it can be set: clean, and a run of forty letters without a space may break."""
    return [_printed(_text(line)) for line in clean_block(text).split("\n")]
