"""Invoices of an accepted quote: the whole at once, or percentages and then the rest (H06, H18)."""

from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from ledger import locales, permissions, reader
from ledger.actions import columns, rows
from ledger.actions.invoice_lines import Computation, copied, stored
from ledger.actions.invoices import draft_of, drafted, require_billable
from ledger.actions.quote_documents import locale_of
from ledger.actions.quotes import locked_quote
from ledger.cents import Rounding, share_out
from ledger.errors import DomainError
from ledger.models import Acceptance, Client, Company, Invoice, InvoiceLine, Membership, Quote, QuoteRevision
from ledger.money import Portion, TaxMode, amount_text, percent_text
from ledger.tenancy import current_tenant

BILLABLE = (Quote.Status.ACCEPTED, Quote.Status.CONVERTED)
WHOLE = Decimal(100)


@dataclass(frozen=True)
class Agreed:
    """What the client accepted: the revision, the total, and what each tax rate's lines come to with their tax."""

    revision: QuoteRevision
    selected: frozenset[str]
    total: int
    by_rate: dict[Decimal, int]


@transaction.atomic
def create_invoice_of_quote(
    quote: Quote,
    *,
    by: Membership,
    percent: Decimal | None = None,
    due_days: int | None = None,
    po_number: str = "",
    title: str = "",
    draft_ref: str = "",
) -> Invoice:
    """Draft the invoice of an accepted quote: all that is not billed yet, or with `percent` that part of the whole.

    Without parts before it, it has the quote's own lines, discount, tax and total. Parts carry their tax inside and
    the last one is the remainder, so that together they are the quote's total to the cent. Raises QUOTE_NOT_ACCEPTED,
    ALREADY_INVOICED (with the invoice that is there), OVER_QUOTE.
    """
    permissions.require(by, "create_invoice")
    client = rows.locked(_client_of(quote))  # before its documents, as everybody locks them
    quote = locked_quote(quote)
    agreed = agreed_of(quote)
    require_billable(client)
    parts = _parts_of(quote)
    part = _part(quote, parts, percent)
    is_whole = part == Invoice.Part.WHOLE
    percent = percent if part == Invoice.Part.PERCENT else None
    computation = Computation.of_revision(agreed.revision) if is_whole else Computation.of_part(agreed.revision)
    invoice = draft_of(
        client,
        by,
        computation,
        due_days=due_days,
        po_number=po_number,
        title=columns.line(title or quote.title, "title", 160),
        draft_ref=draft_ref,
        quote=quote,
        quote_part=part,
        quote_percent=percent,
    )
    stored(invoice, _whole_lines(agreed) if is_whole else _part_lines(quote, agreed, parts, percent))
    if is_whole and invoice.total_cents != agreed.total:
        raise DomainError("TOTAL_DIFFERS", _("The invoice does not come to the total that was accepted."))
    if part in Invoice.CLOSING and quote.status == Quote.Status.ACCEPTED:
        rows.write(quote, by=by, status=Quote.Status.CONVERTED)
    return drafted(invoice, by)


def agreed_of(quote: Quote) -> Agreed:
    """What the client accepted. Raises QUOTE_NOT_ACCEPTED."""
    acceptance = Acceptance.objects.select_related("revision").filter(revision__quote=quote).first()
    if acceptance is None or quote.status not in BILLABLE:
        sentence = _("%(ref)s is not accepted, so it cannot be invoiced.") % {"ref": quote.ref}
        raise DomainError("QUOTE_NOT_ACCEPTED", sentence, status=quote.status)
    revision: QuoteRevision = acceptance.revision
    added = revision.tax_mode == TaxMode.EXCLUSIVE
    by_rate = {
        Decimal(row["rate"]): row["base"] + (row["tax"] if added else 0) for row in acceptance.totals["tax_lines"]
    }
    return Agreed(revision, frozenset(acceptance.selected), acceptance.total_cents, by_rate)


def _client_of(quote: Quote) -> Client:
    """Whom it is for. Raises LEAD_NOT_CONVERTED while that is a lead."""
    if quote.client is None:
        sentence = _("%(ref)s is for a lead; make the lead a client first.") % {"ref": quote.ref}
        raise DomainError("LEAD_NOT_CONVERTED", sentence, ref=quote.ref)
    client: Client = quote.client
    return client


def _parts_of(quote: Quote) -> list[Invoice]:
    standing = quote.invoices.filter(deleted_at=None).exclude(status=Invoice.Status.VOID)
    return list(standing.select_for_update(of=("self",), no_key=True).order_by("pk"))


def _part(quote: Quote, parts: list[Invoice], percent: Decimal | None) -> Invoice.Part:
    """Which part of the quote the next invoice is. Raises ALREADY_INVOICED or OVER_QUOTE."""
    for one in parts:
        drafted_already = one.status == Invoice.Status.DRAFT and one.quote_percent == percent
        if one.quote_part in Invoice.CLOSING or (percent is not None and drafted_already):
            sentence = _("%(quote)s is invoiced already: %(ref)s.") % {"quote": quote.ref, "ref": one.ref}
            raise DomainError("ALREADY_INVOICED", sentence, invoice=one.ref, status=one.status)
    billed = sum((one.quote_percent or Decimal(0) for one in parts), Decimal(0))
    left = WHOLE - billed
    if percent is None:
        return Invoice.Part.REST if parts else Invoice.Part.WHOLE
    if not 0 < percent <= WHOLE:
        raise DomainError("BAD_NUMBER", _("A part of a quote is more than 0 and at most 100 %."), field="percent")
    if percent > left:
        sentence = _("%(left)s %% of %(ref)s are not invoiced yet.") % {"left": reader.number(left), "ref": quote.ref}
        raise DomainError("OVER_QUOTE", sentence, left=percent_text(left))
    if percent < left:
        return Invoice.Part.PERCENT
    return Invoice.Part.REST if parts else Invoice.Part.WHOLE


def _whole_lines(agreed: Agreed) -> list[InvoiceLine]:
    lines = agreed.revision.lines.order_by("position")
    return [copied(line) for line in lines if not line.optional or str(line.pk) in agreed.selected]


def _part_lines(quote: Quote, agreed: Agreed, parts: list[Invoice], percent: Decimal | None) -> list[InvoiceLine]:
    """One line for each tax rate, tax inside; what the parts before billed of a rate is not billed again."""
    left = dict(agreed.by_rate)
    for one in parts:
        for row in one.tax_lines:
            rate = Decimal(row["rate"])
            left[rate] = left.get(rate, 0) - row["base"]
    remaining = sum(left.values())
    rounding = Rounding(agreed.revision.rounding)
    wanted = remaining
    if percent is not None:
        wanted = Portion(percent=percent).of(agreed.total, rounding, "percent")
    if not 0 < wanted <= remaining:
        sentence = _("Only %(left)s of %(ref)s are left to invoice.")
        values = {"left": reader.amount(remaining, quote.currency), "ref": quote.ref}
        raise DomainError("OVER_QUOTE", sentence % values, left=amount_text(remaining))
    rates = sorted(left)
    shares = share_out(wanted, [left[rate] for rate in rates])
    billed = [(rate, cents) for rate, cents in zip(rates, shares, strict=True) if cents]
    with translation.override(_language_of(quote)):
        return [
            InvoiceLine(
                description=_described(quote, percent, rate if len(billed) > 1 else None),
                quantity=Decimal(1),
                unit_price=Decimal(cents).scaleb(-2),
                tax_rate=rate,
            )
            for rate, cents in billed
        ]


def _described(quote: Quote, percent: Decimal | None, rate: Decimal | None) -> str:
    facts = {"ref": quote.ref, "title": quote.title, "percent": reader.number(percent or WHOLE)}
    if percent is None:
        text = _("Balance of quote %(ref)s: %(title)s") % facts
    else:
        text = _("%(percent)s%% of quote %(ref)s: %(title)s") % facts
    if rate is None:
        return text[:300]
    return f"{text[:260]} " + _("(taxed at %(rate)s%%)") % {"rate": reader.number(rate)}


def _language_of(quote: Quote) -> str:
    return locales.language_of(locale_of(quote, Company.objects.get(pk=current_tenant())))
