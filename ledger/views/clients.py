"""Clients: the list, one client, its forms. Deleting asks at the gate."""

import uuid
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ledger import permissions
from ledger.actions.clients import archive_client, create_client, update_client
from ledger.actions.holds import documents_of
from ledger.actions.notes import notes_of
from ledger.errors import DomainError
from ledger.models import Client, QuoteRevision
from ledger.once import once
from ledger.text import search_key
from ledger.views.access import MemberRequest, members_only
from ledger.views.answers import flashing, record_or_404, require, status_of, sure_of, tell, version_of
from ledger.views.pages import newest_first
from ledger.views.party_forms import ClientForm, ContactForm, NoteForm, SiteForm

DEEDS = ("update_client", "archive_client", "delete_client", "add_note", "create_quote")


@require_safe
@members_only
def clients(request: MemberRequest) -> HttpResponse:
    """The list, newest first: `q` (words of name, contact, address …), `tag`, `archived`, `after`."""
    archived = request.GET.get("archived") == "1"
    found = Client.objects.filter(deleted_at=None, archived_at__isnull=not archived).prefetch_related("contacts")
    words, tag = request.GET.get("q", "")[:200], request.GET.get("tag", "")[:40].replace("\x00", "")
    for word in search_key(words).split()[:8]:
        found = found.filter(search__contains=word)
    if tag:
        found = found.filter(tags__contains=[tag])
    page = newest_first(found, request.GET.get("after", ""))
    context = {
        "rows": page.rows,
        "older": page.older,
        "q": words,
        "tag": tag,
        "archived": "1" if archived else "",
        "can_create": permissions.allowed(request.member, "create_client"),
    }
    return render(request, "clients/list.html", context)


@require_safe
@members_only
def client(request: MemberRequest, ref: str) -> HttpResponse:
    """One client with contacts, sites, notes, documents and messages."""
    return show(request, client_or_404(ref))


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def create(request: MemberRequest) -> HttpResponse:
    """A new client. Probable duplicates are shown and asked about before anything is stored."""
    require(request, "create_client")
    form = ClientForm(request.POST or None, company=request.company)
    context: dict[str, Any] = {"form": form, "title": _("New client")}
    if request.method != "POST" or not form.is_valid():
        return _form(request, context, 422 if form.errors else 200)
    sure = sure_of(request)

    def deed() -> str:
        made = create_client(by=request.member, **form.given(), on_duplicate=sure)
        return reverse("client", args=[made.ref])

    try:
        return once(request, deed)
    except DomainError as error:
        tell(form, error)
        return _form(request, context | {"candidates": error.data.get("candidates")}, status_of(error))


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def change(request: MemberRequest, ref: str) -> HttpResponse:
    """Change a client and the main contact, under the version that the form was made from."""
    found = client_or_404(ref)
    require(request, "update_client")
    form = ClientForm(request.POST or None, company=request.company, client=found)
    version = version_of(request, found)
    context: dict[str, Any] = {"form": form, "title": found.name, "client": found, "version": version}
    if request.method != "POST" or not form.is_valid():
        return _form(request, context, 422 if form.errors else 200)

    def deed() -> str:
        update_client(found, by=request.member, expected_version=version, changes=form.changes())
        return reverse("client", args=[found.ref])

    try:
        return once(request, deed)
    except DomainError as error:
        tell(form, error)
        return _form(request, context, status_of(error))


@require_POST
@members_only
@flashing(lambda ref: reverse("client", args=[ref]))
def archive(request: MemberRequest, ref: str) -> HttpResponse:
    """Hide a client from the lists, or show it again (`back`); `force` where something is still open."""
    found = client_or_404(ref)

    def deed() -> str:
        if request.POST.get("back"):
            update_client(found, by=request.member, expected_version=None, changes={"archived": False})
        else:
            archive_client(found, by=request.member, force=request.POST.get("force") == "1")
        return reverse("client", args=[found.ref])

    return once(request, deed)


def client_or_404(ref: str) -> Client:
    return record_or_404(Client.objects.prefetch_related("contacts", "sites"), ref)


def show(
    request: MemberRequest,
    found: Client,
    *,
    contact: ContactForm | None = None,
    site: SiteForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The client's page, with a form on it that did not pass where there is one."""
    quotes = list(found.quotes.filter(deleted_at=None).order_by("-created_at")[:50])
    newest = QuoteRevision.objects.newest_of(quotes)
    documents = documents_of(found)
    may = {deed: permissions.allowed(request.member, deed) for deed in DEEDS}
    context = {
        "client": found,
        "record": found,
        "contacts": sorted(found.contacts.all(), key=lambda one: (not one.main, one.created_at)),
        "sites": [one for one in found.sites.all() if one.deleted_at is None],
        "notes": list(notes_of(found).select_related("created_by")[:50]),
        "quotes": [{"quote": one, "revision": newest.get(one.pk)} for one in quotes],
        "invoices": list(found.invoices.filter(deleted_at=None).order_by("-created_at")[:50]),
        "mails": list(found.messages.filter(deleted_at=None).order_by("-created_at")[:20]),
        "documents": documents,
        "currency": request.company.currency,
        "contact_form": contact or ContactForm(auto_id="contact_%s"),
        "site_form": site or SiteForm(auto_id="site_%s"),
        "note": NoteForm(),
        "may": may,
        "can_delete": may["delete_client"] and not documents.hold,
        "key": uuid.uuid4(),
        "archive_key": uuid.uuid4(),
        "contact_key": uuid.uuid4(),
        "site_key": uuid.uuid4(),
        "note_key": uuid.uuid4(),
    }
    return render(request, "clients/client.html", context, status=status)


def _form(request: MemberRequest, context: dict[str, Any], status: int) -> HttpResponse:
    key = request.POST.get("key") or uuid.uuid4()
    return render(request, "clients/form.html", {"key": key, **context}, status=status)
