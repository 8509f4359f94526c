"""Invoices as the company sees them: the list, one invoice, its documents. Every deed asks at the gate."""

import uuid
from datetime import date
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from ledger import dates, permissions
from ledger.actions.invoice_documents import file_name, preview_invoice_pdf
from ledger.actions.invoices import invoice_of, lines_of, overdue
from ledger.actions.quote_documents import without_bytes
from ledger.errors import NotFound
from ledger.models import Invoice, Payment, StoredDocument
from ledger.money import amount_text
from ledger.text import search_key
from ledger.views.access import MemberRequest, members_only
from ledger.views.files import pdf_response, picture_response, stored
from ledger.views.keyset import descending

OVERDUE = "overdue"
MOST_DRAFTS = 50
DEEDS = ("send_invoice", "delete_invoice", "record_payment")


@require_safe
@members_only
def invoices(request: MemberRequest) -> HttpResponse:
    """The list: drafts first, then by number, newest first (H17). `status`, `q` and `after` narrow and turn it."""
    today = dates.today(request.company.timezone)
    status, words, after = (request.GET.get(name, "")[:500] for name in ("status", "q", "after"))
    found = Invoice.objects.filter(deleted_at=None).select_related("client")
    if status == OVERDUE:
        found = found.filter(pk__in=overdue(today).order_by().values("pk"))
    elif status in Invoice.Status.values:
        found = found.filter(status=status)
    for word in search_key(words[:200]).split()[:8]:
        found = found.filter(search__contains=word)
    drafts = found.filter(status=Invoice.Status.DRAFT).order_by("-created_at", "-pk")
    page = descending(found.filter(serial__isnull=False), ("issued_on", "serial", "pk"), after)
    rows = [*([] if after else drafts[:MOST_DRAFTS]), *page.rows]
    context = {
        "rows": [_row(invoice, today) for invoice in rows],
        "older": page.older,
        "status": status,
        "statuses": [(OVERDUE, _("Overdue")), *Invoice.Status.choices],
        "q": words,
        "owed": _owed(today),
        "currency": request.company.currency,
    }
    return render(request, "invoices/list.html", context)


@require_safe
@members_only
def invoice(request: MemberRequest, ref: str) -> HttpResponse:
    """One invoice with its lines, payments, credit notes and messages."""
    found = _invoice(ref)
    if found.ref != ref:
        return redirect("invoice", found.ref)
    today = dates.today(request.company.timezone)
    may = {deed: permissions.allowed(request.member, deed) for deed in DEEDS}
    sendable = found.status not in (Invoice.Status.VOID, Invoice.Status.WRITTEN_OFF)
    context = {
        "invoice": found,
        "row": _row(found, today),
        "lines": lines_of(found),
        "allocations": list(found.allocations.filter(amount_cents__gt=0).select_related("payment").order_by("pk")),
        "credit_notes": list(found.credit_notes.order_by("serial")),
        "mails": list(found.messages.order_by("-created_at")[:20]),
        "keys": [uuid.uuid4() for _deed in DEEDS],
        "can_send": may["send_invoice"] and sendable,
        "can_delete": may["delete_invoice"] and found.status == Invoice.Status.DRAFT,
        "can_record": may["record_payment"] and found.is_open,
        "methods": [(method, Payment.Method(method).label) for method in Payment.BY_HAND],
        "rest": amount_text(found.balance_cents),
        "today": today.isoformat(),
    }
    return render(request, "invoices/invoice.html", context)


@require_POST
@members_only
def preview(request: MemberRequest, ref: str) -> HttpResponse:
    """Open the document: as it was issued, or as a draft would be issued today."""
    found = _invoice(ref)
    document = preview_invoice_pdf(found, by=request.member)
    response = redirect(reverse("invoice_pdf", args=[found.ref, document.sha256]))
    response.status_code = 303
    return response


@require_safe
@members_only
def pdf(request: MemberRequest, ref: str, sha256: str) -> HttpResponse:
    """One document of the invoice, by its fingerprint."""
    found = _invoice(ref)
    return pdf_response(request, _document(found, sha256), file_name(found))


@require_safe
@members_only
def page(request: HttpRequest, ref: str, sha256: str) -> HttpResponse:
    """Its first page as a picture."""
    return picture_response(request, _document(_invoice(ref), sha256))


def _row(found: Invoice, today: date) -> dict[str, Any]:
    """The invoice with what the day makes of it (H25)."""
    days = found.days_late(today)
    label = _("Overdue") if days else found.get_status_display()
    good = found.status == Invoice.Status.PAID
    wrong = days or found.status in (Invoice.Status.VOID, Invoice.Status.WRITTEN_OFF)
    return {"invoice": found, "days": days, "label": label, "look": "is-done" if good else "is-wrong" if wrong else ""}


def _owed(today: date) -> dict[str, Any]:
    """What is open in all, and how much of it is late: one query."""
    open_ones: QuerySet[Invoice] = Invoice.objects.filter(
        status__in=Invoice.PAYABLE, balance_cents__gt=0, deleted_at=None
    )
    late = Q(due_on__lt=today)
    sums = open_ones.aggregate(
        cents=Sum("balance_cents"),
        count=Count("pk"),
        late=Sum("balance_cents", filter=late),
        late_count=Count("pk", filter=late),
    )
    return {name: value or 0 for name, value in sums.items()}


def _invoice(ref: str) -> Invoice:
    try:
        return invoice_of(ref, Invoice.objects.select_related("client", "quote__site", "document").defer(*BYTES))
    except NotFound:
        raise Http404 from None


BYTES = ("document__content", "document__preview")


def _document(found: Invoice, sha256: str) -> StoredDocument:
    if not without_bytes().filter(kind="invoice", sha256=sha256, subject_id=found.pk).exists():
        raise Http404
    return stored(sha256=sha256)
