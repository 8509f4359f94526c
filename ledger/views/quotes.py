"""Quotes as the company sees them: the list, one quote, its documents. Sending and deleting ask at the gate."""

import uuid

from django.contrib import messages as flash
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from ledger import links, permissions
from ledger.actions.quote_documents import file_name, preview_quote_pdf, without_bytes
from ledger.actions.quote_sending import SENDABLE
from ledger.actions.quotes import revise_quote
from ledger.errors import DomainError
from ledger.models import Acceptance, PublicLink, Quote, QuoteRevision, StoredDocument
from ledger.text import search_key
from ledger.views.access import MemberRequest, members_only
from ledger.views.files import pdf_response, picture_response, stored
from ledger.views.pages import newest_first

DEEDS = ("send_quote", "delete_quote", "create_quote", "edit_quote_lines")


@require_safe
@members_only
def quotes(request: MemberRequest) -> HttpResponse:
    """The list, newest first: `status`, `q` (words of ref, title, name) and `after` (where the last page ended)."""
    found = Quote.objects.filter(deleted_at=None).select_related("client", "lead")
    status = request.GET.get("status", "")
    if status in Quote.Status.values:
        found = found.filter(status=status)
    words = request.GET.get("q", "")[:200]
    for word in search_key(words).split()[:8]:
        found = found.filter(search__contains=word)
    page = newest_first(found, request.GET.get("after", ""))
    newest = QuoteRevision.objects.newest_of(page.rows)
    context = {
        "rows": [{"quote": quote, "revision": newest.get(quote.pk)} for quote in page.rows],
        "older": page.older,
        "status": status,
        "statuses": Quote.Status.choices,
        "q": words,
    }
    return render(request, "quotes/list.html", context)


@require_safe
@members_only
def quote(request: MemberRequest, ref: str) -> HttpResponse:
    """One quote: `revision` chooses an older one."""
    found = _quote(ref)
    revisions = list(
        found.revisions.select_related("document").defer("document__content", "document__preview").order_by("-n")
    )
    wanted = request.GET.get("revision", "")
    revision = next((one for one in revisions if str(one.n) == wanted), None) or _current(found, revisions)
    lines = list(revision.lines.select_related("price", "item"))
    may = {deed: permissions.allowed(request.member, deed) for deed in DEEDS}
    is_current = revision.n == found.revision
    context = {
        "quote": found,
        "revision": revision,
        "revisions": revisions,
        "lines": lines,
        "totals": revision.totals(lines),
        "acceptance": Acceptance.objects.filter(revision__quote=found).first(),
        "mails": list(revision.messages.order_by("-created_at")[:20]),
        "client_page": _client_page(revision),
        "key": uuid.uuid4(),
        "can_send": may["send_quote"] and is_current and found.status in SENDABLE,
        "can_delete": may["delete_quote"] and found.status in Quote.DELETABLE,
        "can_edit": may["edit_quote_lines"] and is_current and _is_editable(found, revision),
        "can_revise": may["create_quote"] and found.status in Quote.REVISABLE,
    }
    return render(request, "quotes/quote.html", context)


@require_POST
@members_only
def preview(request: MemberRequest, ref: str) -> HttpResponse:
    """Render the document as the client would get it today, and open it."""
    found = _quote(ref)
    document = preview_quote_pdf(found, by=request.member)
    return _see_other(reverse("quote_pdf", args=[found.ref, document.sha256]))


@require_POST
@members_only
def revise(request: MemberRequest, ref: str) -> HttpResponse:
    """Open the next revision as a draft."""
    found = _quote(ref)
    try:
        revision = revise_quote(found, by=request.member)
        flash.success(request, _("Revision %(n)s is a draft now.") % {"n": revision.n})
    except DomainError as error:
        flash.error(request, error.sentence)
    return _see_other(reverse("quote", args=[found.ref]))


@require_safe
@members_only
def pdf(request: MemberRequest, ref: str, sha256: str) -> HttpResponse:
    """One document of the quote, by its fingerprint."""
    found = _quote(ref)
    document = _document(found, sha256)
    revision = QuoteRevision.objects.get(pk=document.subject_id)
    return pdf_response(request, document, file_name(found, revision))


@require_safe
@members_only
def page(request: HttpRequest, ref: str, sha256: str) -> HttpResponse:
    """Its first page as a picture."""
    return picture_response(request, _document(_quote(ref), sha256))


def _is_editable(found: Quote, revision: QuoteRevision) -> bool:
    return found.status in Quote.EDITABLE and not revision.is_frozen


def _client_page(revision: QuoteRevision) -> str:
    """The address that the client has, as long as it opens something."""
    if revision.sent_at is None:
        return ""
    link = PublicLink.objects.filter(kind=PublicLink.Kind.QUOTE, object_id=revision.pk, closed_at=None).first()
    return links.address_of(link) if link else ""


def _quote(ref: str) -> Quote:
    rows = Quote.objects.select_related("client", "lead", "site", "owner")
    found: Quote | None = rows.filter(ref=ref, deleted_at=None).first()
    if found is None:
        raise Http404
    return found


def _current(found: Quote, revisions: list[QuoteRevision]) -> QuoteRevision:
    return next(one for one in revisions if one.n == found.revision)


def _document(found: Quote, sha256: str) -> StoredDocument:
    own = found.revisions.values("pk")
    if not without_bytes().filter(Q(kind="quote"), sha256=sha256, subject_id__in=own).exists():
        raise Http404
    return stored(sha256=sha256)


def _see_other(url: str) -> HttpResponse:
    response = redirect(url)
    response.status_code = 303
    return response
