"""Messages as they went out: to whom, in which words, with which files, and what became of them."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ledger.actions.messages import text_of
from ledger.models import ClientMessage
from ledger.text import search_key
from ledger.views.access import MemberRequest, members_only
from ledger.views.files import pdf_response, stored
from ledger.views.pages import newest_first


@require_safe
@members_only
def outbox(request: MemberRequest) -> HttpResponse:
    """What the company wrote, newest first: `status`, `q` (words of subject and name), `after`."""
    found = ClientMessage.objects.filter(direction="out", deleted_at=None).select_related("client", "lead")
    status = request.GET.get("status", "")
    if status in ClientMessage.Status.values:
        found = found.filter(status=status)
    words = request.GET.get("q", "")[:200]
    for word in search_key(words).split()[:8]:
        found = found.filter(search__contains=word)
    page = newest_first(found, request.GET.get("after", ""))
    context = {
        "rows": page.rows,
        "older": page.older,
        "status": status,
        "statuses": [choice for choice in ClientMessage.Status.choices if choice[0] != "received"],
        "q": words,
    }
    return render(request, "outbox/list.html", context)


@require_safe
@members_only
def message(request: MemberRequest, ref: str) -> HttpResponse:
    """One message, word for word, with the working link in its place."""
    found = _message(ref)
    context = {
        "message": found,
        "text": text_of(found),
        "files": list(found.attachments.select_related("document").defer("document__content", "document__preview")),
        "events": list(found.events.order_by("at")),
        "quote": found.revision.quote if found.revision else None,
    }
    return render(request, "outbox/message.html", context)


@require_safe
@members_only
def attachment(request: MemberRequest, ref: str, sha256: str) -> HttpResponse:
    """A file of the message: exactly the bytes that went out."""
    found = _message(ref).attachments.filter(document__sha256=sha256).first()
    if found is None:
        raise Http404
    return pdf_response(request, stored(pk=found.document_id), found.name)


def _message(ref: str) -> ClientMessage:
    rows = ClientMessage.objects.select_related("client", "lead", "revision__quote")
    found: ClientMessage | None = rows.filter(ref=ref, deleted_at=None).first()
    if found is None:
        raise Http404
    return found
