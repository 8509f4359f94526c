"""The price book, for reading: prices of quotes come from here."""

from typing import Annotated, Any

from django.db.models import Q
from django.utils.translation import gettext_lazy
from pydantic import Field, StringConstraints

from assistant.tools.registry import Context, ToolArguments, tool
from ledger import dates
from ledger.models import PriceItem, PriceVersion
from ledger.money import percent_text
from ledger.text import search_key

Words = Annotated[str, StringConstraints(max_length=200)]


@tool(label=gettext_lazy("Search the price book"), permission="view_records", effects=())
class SearchPriceBook:
    """Find services/materials with unit, price, cost, tax code. Prices for quotes come from here, not from chat."""

    class Arguments(ToolArguments):
        query: Words | None = None
        category: Words | None = None
        active: bool | None = None
        limit: Annotated[int, Field(ge=1, le=50)] = 20

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        items = PriceItem.objects.filter(deleted_at=None, active=arguments.active is not False)
        for word in search_key(arguments.query or "").split():
            items = items.filter(Q(search__contains=word) | Q(ref__iexact=word))
        if arguments.category:
            wanted = arguments.category.replace("\x00", "")
            items = items.filter(Q(category__iexact=wanted) | Q(kind__iexact=wanted))
        found = list(items.order_by("code")[: arguments.limit + 1])
        shown = found[: arguments.limit]
        prices = PriceVersion.objects.standing(shown, dates.today(ctx.company.timezone))
        return {
            "items": [_told(item, prices.get(item.pk)) for item in shown],
            "currency": ctx.company.currency,
            "more": len(found) > len(shown),
        }


def _told(item: PriceItem, price: PriceVersion | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "ref": item.ref,
        "code": item.code,
        "name": item.name,
        "kind": item.kind,
        "category": item.category,
        "unit": item.unit,
    }
    if price is not None:
        told |= {
            "unit_price": f"{price.unit_price:.2f}"
            if price.unit_price * 100 % 1 == 0
            else percent_text(price.unit_price),
            "unit_cost": None if price.unit_cost is None else percent_text(price.unit_cost),
            "tax_rate": percent_text(price.tax_rate),
            "tax_code": price.tax_code,
        }
    return told
