"""The lines of a draft: from what was asked for to rows with cents, and the changes a person may make to them."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, assert_never

from django.db import transaction
from django.utils.translation import gettext as _

from ledger import audit, dates, permissions
from ledger.actions import rows
from ledger.company_settings import CompanySettings, current_settings
from ledger.errors import DomainError, NotFound
from ledger.models import Company, Membership, PriceItem, PriceVersion, Quote, QuoteLine, QuoteRevision
from ledger.money import Portion, percent_text
from ledger.tenancy import current_tenant
from ledger.text import clean_line

MOST_LINES = 100
MOST_CHANGES = 50
STANDARD_TAX, EXEMPT = "standard", "exempt"


@dataclass(frozen=True)
class LineDraft:
    """What is asked for in a line. What is left out (None) comes from the item, or stays as it is in a change."""

    quantity: Decimal
    item: PriceItem | None = None
    description: str | None = None
    unit: str | None = None
    unit_price: Decimal | None = None
    discount: Portion | None = None
    tax_code: str | None = None
    tax_rate: Decimal | None = None
    optional: bool | None = None
    selected: bool | None = None
    group: str | None = None


@dataclass(frozen=True)
class AddLine:
    value: LineDraft
    at: int | None = None


@dataclass(frozen=True)
class ChangeLine:
    line: int
    value: LineDraft


@dataclass(frozen=True)
class RemoveLine:
    line: int


@dataclass(frozen=True)
class MoveLine:
    line: int
    to: int


LineChange = AddLine | ChangeLine | RemoveLine | MoveLine


class Book:
    """What lines are priced from: the price book of today and the company's standard tax, read once."""

    def __init__(self, drafts: Iterable[LineDraft]) -> None:
        self.settings: CompanySettings = current_settings().values
        company = Company.objects.get(pk=current_tenant())
        items = {draft.item.pk: draft.item for draft in drafts if draft.item is not None}
        self.prices = PriceVersion.objects.standing(items.values(), dates.today(company.timezone))
        for item in items.values():
            if item.deleted_at is not None or not item.active:
                sentence = _("%(item)s is no longer offered.") % {"item": item.name}
                raise DomainError("ITEM_ARCHIVED", sentence, item=item.ref)

    def price_of(self, item: PriceItem) -> PriceVersion:
        if item.pk not in self.prices:
            raise DomainError("NO_PRICE", _("%(item)s has no price yet.") % {"item": item.name}, item=item.ref)
        return self.prices[item.pk]

    def tax_of(self, code: str) -> Decimal:
        """The rate of a tax code. Raises UNKNOWN_TAX_CODE with those that are known."""
        if code == EXEMPT:
            return Decimal(0)
        if code == STANDARD_TAX:
            return self.settings.tax_rate
        known = PriceVersion.objects.exclude(tax_code="")
        rate: Decimal | None = known.filter(tax_code=code).order_by("-pk").values_list("tax_rate", flat=True).first()
        if rate is None:
            codes = [STANDARD_TAX, EXEMPT, *sorted(set(known.values_list("tax_code", flat=True)))]
            sentence = _("There is no tax code %(code)s.") % {"code": clean_line(code)[:20]}
            raise DomainError("UNKNOWN_TAX_CODE", sentence, known=codes)
        return rate


def line_of(draft: LineDraft, book: Book, line: QuoteLine | None = None) -> QuoteLine:
    """The row of a draft, new or changed, with everything but its cents. Raises DomainError with a sentence."""
    is_new = line is None
    line = line or QuoteLine()
    if draft.item is not None and draft.item.pk != line.item_id:
        price = book.price_of(draft.item)
        line.item, line.price = draft.item, price
        line.description, line.unit = draft.item.name, draft.item.unit
        line.unit_price, line.unit_cost = price.unit_price, price.unit_cost
        line.tax_rate, line.tax_code = price.tax_rate, price.tax_code
    elif is_new:
        if draft.unit_price is None:
            raise DomainError("NO_PRICE", _("A line needs an item of the price book or a price of its own."))
        line.tax_code = STANDARD_TAX
        line.tax_rate = book.tax_of(STANDARD_TAX)
    line.quantity = draft.quantity
    if draft.unit_price is not None:
        line.unit_price = draft.unit_price
    if draft.tax_code is not None:
        line.tax_rate, line.tax_code = book.tax_of(draft.tax_code), clean_line(draft.tax_code)[:20]
    if draft.tax_rate is not None:
        line.tax_rate = draft.tax_rate
    if draft.discount is not None:
        line.discount_percent, line.discount_cents = draft.discount.percent, draft.discount.cents
    if draft.optional is not None:
        line.optional = draft.optional
    if draft.selected is not None:
        line.selected = draft.selected
    line.description = _text(draft.description, line.description, 300, "description")
    line.unit = _text(draft.unit, line.unit, 12, "unit")
    line.group = _text(draft.group, line.group, 60, "group")
    if not line.description:
        raise DomainError("BAD_TEXT", _("Say what the line is for."), field="description")
    return line


def put(revision: QuoteRevision, lines: Sequence[QuoteLine]) -> None:
    """Make these the revision's lines, in this order, with totals computed anew (I3). The quote is locked."""
    require_count(len(lines))
    totals = revision.totals(lines)
    for position, (line, row) in enumerate(zip(lines, totals.lines, strict=True), start=1):
        line.revision, line.position = revision, position
        line.gross_total_cents, line.discount_total_cents, line.net_total_cents = row.gross, row.discount, row.net
        line.share_cents, line.taxable_cents = row.discount_share, row.taxable
    stored = {line.pk for line in lines if not line._state.adding}
    QuoteLine.objects.filter(revision=revision).exclude(pk__in=stored).delete()
    columns = [f.name for f in QuoteLine._meta.fields if f.name not in ("id", "tenant", "revision")]
    QuoteLine.objects.bulk_update([line for line in lines if line.pk in stored], columns)
    QuoteLine.objects.bulk_create([line for line in lines if line.pk not in stored])
    revision.subtotal_total_cents, revision.discount_total_cents = totals.subtotal, totals.discount
    revision.tax_total_cents, revision.total_cents = totals.tax, totals.total
    revision.deposit_total_cents = totals.deposit
    revision.tax_lines = totals.as_json()["tax_lines"]
    revision.save(update_fields=[*TOTALS, "tax_lines"])


def require_count(lines: int) -> None:
    """Raise LINES unless a quote may have so many."""
    if not 1 <= lines <= MOST_LINES:
        raise DomainError("LINES", _("A quote has from 1 to %(most)s lines.") % {"most": MOST_LINES}, most=MOST_LINES)


TOTALS = (
    "subtotal_total_cents",
    "discount_total_cents",
    "tax_total_cents",
    "total_cents",
    "deposit_total_cents",
)


@transaction.atomic
def edit_quote_lines(
    quote: Quote, *, by: Membership, expected_version: int, changes: Sequence[LineChange]
) -> QuoteRevision:
    """Add, change, remove or move lines of a draft, one after the other, numbered as they stand at each step.

    Raises STALE_VERSION, WRONG_STATUS (sent or being sent), NOT_FOUND for a line that isn't there.
    """
    permissions.require(by, "edit_quote_lines")
    if not 1 <= len(changes) <= MOST_CHANGES:
        raise DomainError("LINES", _("Change from 1 to %(most)s lines at a time.") % {"most": MOST_CHANGES})
    quote = rows.locked(quote, expected_version=expected_version)
    revision = draft_revision(quote)
    lines = list(revision.lines.select_related("price"))
    before = [told(line) for line in lines]
    book = Book(change.value for change in changes if isinstance(change, AddLine | ChangeLine))
    for change in changes:
        _apply(change, lines, book)
    put(revision, lines)
    status = Quote.Status.DRAFT
    rows.write(quote, by=by, status=status)
    audit.record(
        "quote.lines_edited",
        by=by,
        subject=quote,
        ref=quote.ref,
        revision=revision.n,
        before=before,
        after=[told(line) for line in lines],
        total_cents=revision.total_cents,
    )
    return revision


def draft_revision(quote: Quote) -> QuoteRevision:
    """The revision of a locked quote that may be changed. Raises WRONG_STATUS where there is none."""
    revision: QuoteRevision = quote.revisions.get(n=quote.revision)
    if quote.status not in Quote.EDITABLE or revision.is_frozen:
        sentence = _("%(ref)s was sent or is being sent; make a new revision to change it.") % {"ref": quote.ref}
        raise DomainError("WRONG_STATUS", sentence, status=quote.status)
    return revision


def told(line: QuoteLine) -> dict[str, Any]:
    """The line for the record: enough to write it again."""
    return {
        "item": line.item_id,
        "description": line.description,
        "quantity": percent_text(line.quantity),
        "unit": line.unit,
        "unit_price": percent_text(line.unit_price),
        "discount_percent": line.discount_percent,
        "discount_cents": line.discount_cents,
        "tax_rate": percent_text(line.tax_rate),
        "optional": line.optional,
        "net_cents": line.net_total_cents,
    }


def _apply(change: LineChange, lines: list[QuoteLine], book: Book) -> None:
    match change:
        case AddLine(value, at):
            line = line_of(value, book)
            lines.insert(len(lines) if at is None else _index(at, lines, one_more=True), line)
        case ChangeLine(number, value):
            line_of(value, book, lines[_index(number, lines)])
        case RemoveLine(number):
            del lines[_index(number, lines)]
        case MoveLine(number, to):
            line = lines.pop(_index(number, lines))
            lines.insert(_index(to, lines, one_more=True), line)
        case _:
            assert_never(change)


def _index(number: int, lines: Sequence[QuoteLine], *, one_more: bool = False) -> int:
    most = len(lines) + one_more
    if not 1 <= number <= most:
        raise NotFound(_("There is no line %(number)s.") % {"number": str(number)[:12]}, lines=len(lines))
    return number - 1


def _text(given: str | None, standing: str, most: int, field: str) -> str:
    text = standing if given is None else clean_line(given)
    if len(text) > most:
        sentence = _("That text is too long; %(most)s characters are possible.") % {"most": most}
        raise DomainError("BAD_TEXT", sentence, field=field, most=most)
    return text


def copied(lines: Iterable[QuoteLine]) -> list[QuoteLine]:
    """The same lines, to be stored in another revision."""
    fields = [f.attname for f in QuoteLine._meta.fields if f.name not in ("id", "tenant", "revision")]
    return [QuoteLine(**{name: getattr(line, name) for name in fields}) for line in lines]


def options_of(lines: Iterable[QuoteLine], wished: Iterable[str]) -> frozenset[uuid.UUID]:
    """The optional lines among those wished for by id; anything else is left out."""
    ids = frozenset(wished)
    return frozenset(line.pk for line in lines if line.optional and str(line.pk) in ids)
