"""The price book as a list."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ledger import dates
from ledger.models import PriceItem, PriceVersion
from ledger.text import search_key
from ledger.views.access import MemberRequest, members_only

MOST = 200


@require_safe
@members_only
def price_book(request: MemberRequest) -> HttpResponse:
    """What is offered, by code, with the price of today: `q` looks in code and name."""
    words = request.GET.get("q", "")[:200]
    found = PriceItem.objects.filter(deleted_at=None, active=True)
    for word in search_key(words).split()[:8]:
        found = found.filter(search__contains=word)
    items = list(found.order_by("code")[:MOST])
    prices = PriceVersion.objects.standing(items, dates.today(request.company.timezone))
    context = {
        "rows": [{"item": item, "price": prices.get(item.pk)} for item in items],
        "currency": request.company.currency,
        "q": words,
        "most": MOST if len(items) == MOST else 0,
    }
    return render(request, "pricebook/list.html", context)
