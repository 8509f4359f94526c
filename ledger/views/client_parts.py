"""What hangs on a client: contacts and sites, added on its page, changed on theirs."""

import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from ledger.actions.contacts import add_contact, remove_contact, update_contact
from ledger.actions.sites import add_site
from ledger.errors import DomainError
from ledger.models import Client, Contact
from ledger.once import once
from ledger.views.access import MemberRequest, members_only
from ledger.views.answers import flashing, require, status_of, tell
from ledger.views.clients import client_or_404, show
from ledger.views.party_forms import ContactForm, SiteForm


@require_POST
@members_only
def new_contact(request: MemberRequest, ref: str) -> HttpResponse:
    """Add a way to reach the client."""
    found = client_or_404(ref)
    require(request, "update_client")
    form = ContactForm(request.POST, auto_id="contact_%s")
    if not form.is_valid():
        return show(request, found, contact=form, status=422)

    def deed() -> str:
        add_contact(found, by=request.member, **form.cleaned_data)
        return reverse("client", args=[found.ref])

    try:
        return once(request, deed)
    except DomainError as error:
        tell(form, error)
        return show(request, found, contact=form, status=status_of(error))


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def contact(request: MemberRequest, ref: str, contact_id: uuid.UUID) -> HttpResponse:
    """Change a contact. A replaced e-mail or phone is shown on cards for three days."""
    found = client_or_404(ref)
    require(request, "update_client")
    kept = _contact(found, contact_id)
    values = {"name": kept.name, "email": kept.email, "phone": kept.phone, "role": kept.role}
    form = ContactForm(request.POST or None, initial=values)
    context: dict[str, Any] = {"form": form, "client": found, "contact": kept, "remove_key": uuid.uuid4()}
    if request.method != "POST" or not form.is_valid():
        return _form(request, context, 422 if form.errors else 200)

    def deed() -> str:
        update_contact(kept, by=request.member, changes=form.cleaned_data)
        return reverse("client", args=[found.ref])

    try:
        return once(request, deed)
    except DomainError as error:
        tell(form, error)
        return _form(request, context, status_of(error))


@require_POST
@members_only
@flashing(lambda ref, contact_id: reverse("client", args=[ref]))
def remove(request: MemberRequest, ref: str, contact_id: uuid.UUID) -> HttpResponse:
    """Take a contact away. A second click finds it gone and leads to the same page."""
    found = client_or_404(ref)

    def deed() -> str:
        remove_contact(_contact(found, contact_id), by=request.member)
        return reverse("client", args=[found.ref])

    return once(request, deed)


@require_POST
@members_only
def new_site(request: MemberRequest, ref: str) -> HttpResponse:
    """Add a property."""
    found = client_or_404(ref)
    require(request, "update_client")
    form = SiteForm(request.POST, auto_id="site_%s")
    if not form.is_valid():
        return show(request, found, site=form, status=422)

    def deed() -> str:
        words = {name: form.cleaned_data[name] for name in ("label", "access_notes")}
        add_site(found, by=request.member, address=form.address(), **words)
        return reverse("client", args=[found.ref])

    try:
        return once(request, deed)
    except DomainError as error:
        tell(form, error)
        return show(request, found, site=form, status=status_of(error))


def _contact(client: Client, contact_id: uuid.UUID) -> Contact:
    found = next((one for one in client.contacts.all() if one.pk == contact_id), None)
    if found is None:
        raise Http404
    return found


def _form(request: MemberRequest, context: dict[str, Any], status: int) -> HttpResponse:
    key = request.POST.get("key") or uuid.uuid4()
    return render(request, "clients/contact.html", {"key": key, **context}, status=status)
