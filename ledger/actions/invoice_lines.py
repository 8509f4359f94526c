"""What an invoice is made of: its lines priced, its totals computed, the row and its lines stored together (I3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from ledger import money
from ledger.actions.quote_lines import Book, LineDraft, line_of, require_count
from ledger.company_settings import Current
from ledger.errors import DomainError
from ledger.models import Invoice, InvoiceLine, QuoteLine, QuoteRevision
from ledger.money import Portion, TaxMode

COPIED = (
    "item_id",
    "price_id",
    "description",
    "unit",
    "quantity",
    "unit_price",
    "unit_cost",
    "discount_percent",
    "discount_cents",
    "tax_rate",
    "tax_code",
    "group",
)


@dataclass(frozen=True)
class Computation:
    """How an invoice's totals come about; stored with it."""

    settings_id: Any
    tax_mode: str
    tax_rounding: str
    rounding: str
    discount: Portion | None = None

    @classmethod
    def of_company(cls, settings: Current, discount: Portion | None = None) -> "Computation":
        """By the company's settings as they are now."""
        values = settings.values
        return cls(settings.version.pk, values.tax_mode, values.tax_rounding, values.rounding, discount)

    @classmethod
    def of_revision(cls, revision: QuoteRevision) -> "Computation":
        """As the quote was computed: so that lines, discount, tax and total are the quote's (H18)."""
        return cls(revision.settings_id, revision.tax_mode, revision.tax_rounding, revision.rounding, revision.discount)

    @classmethod
    def of_part(cls, revision: QuoteRevision) -> "Computation":
        """For a part of a quote: amounts with their tax inside, so that parts add up to the whole (H06)."""
        return cls(revision.settings_id, TaxMode.INCLUSIVE, revision.tax_rounding, revision.rounding)

    def columns(self) -> dict[str, Any]:
        return {
            "settings_id": self.settings_id,
            "tax_mode": self.tax_mode,
            "tax_rounding": self.tax_rounding,
            "rounding": self.rounding,
            "discount_percent": self.discount.percent if self.discount else None,
            "discount_cents": self.discount.cents if self.discount else None,
        }


def priced(drafts: Sequence[LineDraft]) -> list[InvoiceLine]:
    """The lines that were asked for, priced from the book of today. Raises DomainError with a sentence."""
    require_count(len(drafts))
    if any(draft.optional for draft in drafts):
        raise DomainError("OPTIONAL_LINE", _("An invoice has no optional lines."), field="optional")
    book = Book(drafts)
    return [copied(line_of(draft, book)) for draft in drafts]


def copied(line: QuoteLine) -> InvoiceLine:
    """A quote's line as the line of an invoice, still without its cents."""
    return InvoiceLine(**{name: getattr(line, name) for name in COPIED})


def stored(invoice: Invoice, lines: Sequence[InvoiceLine]) -> Invoice:
    """Store a new draft with these lines, in this order, with the totals that they come to."""
    totals = money.totals([line.as_money() for line in lines], invoice.money_settings)
    for position, (line, row) in enumerate(zip(lines, totals.lines, strict=True), start=1):
        line.invoice, line.position = invoice, position
        line.gross_total_cents, line.discount_total_cents, line.net_total_cents = row.gross, row.discount, row.net
        line.share_cents, line.taxable_cents = row.discount_share, row.taxable
    invoice.subtotal_total_cents, invoice.discount_total_cents = totals.subtotal, totals.discount
    invoice.tax_total_cents, invoice.total_cents = totals.tax, totals.total
    invoice.tax_lines = totals.as_json()["tax_lines"]
    invoice.balance_cents = totals.total
    invoice.save(force_insert=True)
    InvoiceLine.objects.bulk_create(lines)
    return invoice
