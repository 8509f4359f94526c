"""The lines of a quote as the model writes them, and what they mean to the business."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Literal

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, StringConstraints

from assistant.tools.fields import FinePercent, Quantity, Ref, UnitPrice
from ledger.actions.quote_lines import AddLine, ChangeLine, LineChange, LineDraft, MoveLine, RemoveLine
from ledger.errors import DomainError, NotFound
from ledger.models import PriceItem
from ledger.money import Portion, parse_money


class Line(BaseModel):
    """One line as the model writes it."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    price_item_ref: Ref | None = None
    description: Annotated[str, StringConstraints(max_length=300)] | None = None
    qty: Quantity
    unit: Annotated[str, StringConstraints(max_length=12)] | None = None
    unit_price: UnitPrice | None = None
    discount_pct: FinePercent | None = None
    tax_code: Annotated[str, StringConstraints(max_length=20)] | None = None
    optional: bool | None = None
    group: Annotated[str, StringConstraints(max_length=60)] | None = None


class LineOperation(BaseModel):
    """One change; `line` and `to` are line numbers as they stand after the operations before it."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    op: Literal["add", "update", "remove", "move"]
    line: int | None = None
    to: int | None = None
    value: Line | None = None


def drafts(lines: Iterable[Line]) -> list[LineDraft]:
    """The lines with their items looked up, all at once. Raises NotFound for an item that isn't there."""
    lines = list(lines)
    refs = {line.price_item_ref for line in lines if line.price_item_ref}
    items = {item.ref: item for item in PriceItem.objects.filter(ref__in=refs, deleted_at=None)}
    for ref in sorted(refs):
        if ref not in items:
            raise NotFound(_("There is no %(ref)s in the price book.") % {"ref": ref}, ref=ref)
    return [_draft(line, items) for line in lines]


def _draft(line: Line, items: dict[str, PriceItem]) -> LineDraft:
    return LineDraft(
        quantity=Decimal(line.qty),
        item=items[line.price_item_ref] if line.price_item_ref else None,
        description=line.description,
        unit=line.unit,
        unit_price=Decimal(line.unit_price) if line.unit_price is not None else None,
        discount=portion(line.discount_pct, None),
        tax_code=line.tax_code,
        optional=line.optional,
        group=line.group,
    )


def change_of(operation: LineOperation, values: list[LineDraft]) -> LineChange:
    """The operation with its value, taken off the front of `values`. Raises INVALID_ARGUMENTS for half of one."""
    value = values.pop(0) if operation.value is not None else None
    match operation.op, operation.line, operation.to, value:
        case "add", at, None, LineDraft() as draft:
            return AddLine(draft, at)
        case "update", int(line), None, LineDraft() as draft:
            return ChangeLine(line, draft)
        case "remove", int(line), None, None:
            return RemoveLine(line)
        case "move", int(line), int(to), None:
            return MoveLine(line, to)
    raise DomainError(
        "INVALID_ARGUMENTS",
        _("add takes value, update line and value, remove line, move line and to."),
        operation=operation.op,
    )


def portion(percent: str | None, amount: str | None) -> Portion | None:
    if percent is None and amount is None:
        return None
    return Portion(
        percent=None if percent is None else Decimal(percent), cents=None if amount is None else parse_money(amount)
    )
