"""Payments as the company sees them: the list, and one with what it pays and what went back."""

import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ledger import permissions
from ledger.actions.refunds import REFUNDABLE
from ledger.models import Payment, Refund
from ledger.money import amount_text
from ledger.text import search_key
from ledger.views.access import MemberRequest, members_only
from ledger.views.keyset import descending


@require_safe
@members_only
def payments(request: MemberRequest) -> HttpResponse:
    """The list, newest first: `status`, `q` (words of ref, name, reference) and `after`."""
    status, words, after = (request.GET.get(name, "")[:500] for name in ("status", "q", "after"))
    found = Payment.objects.select_related("client")
    if status in Payment.Status.values:
        found = found.filter(status=status)
    for word in search_key(words[:200]).split()[:8]:
        found = found.filter(search__contains=word)
    page = descending(found, ("received_on", "pk"), after)
    context = {
        "rows": page.rows,
        "older": page.older,
        "status": status,
        "statuses": Payment.Status.choices,
        "q": words,
    }
    return render(request, "payments/list.html", context)


@require_safe
@members_only
def payment(request: MemberRequest, ref: str) -> HttpResponse:
    """One payment."""
    found = Payment.objects.select_related("client").filter(ref=ref).first()
    if found is None:
        raise Http404
    may_refund = permissions.allowed(request.member, "refund_payment")
    pays = found.allocations.filter(amount_cents__gt=0).select_related("invoice")
    allocations = list(pays.order_by("invoice__serial"))
    context = {
        "payment": found,
        "allocations": allocations,
        "kept_cents": found.net_cents - sum(one.amount_cents for one in allocations),
        "refunds": list(found.refunds.prefetch_related("credit_notes").order_by("created_at")),
        "can_refund": bool(may_refund and found.provider and found.status in REFUNDABLE and found.refundable_cents > 0),
        "reasons": Refund.Reason.choices,
        "refundable": amount_text(found.refundable_cents),
        "key": uuid.uuid4(),
    }
    return render(request, "payments/payment.html", context)
