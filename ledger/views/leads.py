"""Leads: the list, one lead, its forms. Converting and deleting ask at the gate."""

import uuid
from typing import Any

from django.contrib import messages as flash
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ledger import permissions
from ledger.actions.conversions import clients_like
from ledger.actions.leads import create_lead, move_lead_stage, update_lead
from ledger.actions.notes import notes_of
from ledger.errors import DomainError
from ledger.models import OPEN_STAGES, Lead, QuoteRevision, Stage
from ledger.models.leads import TRANSITIONS
from ledger.once import once
from ledger.text import search_key
from ledger.views.access import MemberRequest, members_only
from ledger.views.answers import record_or_404, require, status_of, sure_of, tell, version_of
from ledger.views.pages import newest_first
from ledger.views.party_forms import LeadForm, MoveForm, NoteForm

SELDOM = {"open": OPEN_STAGES}
DEEDS = ("update_lead", "move_lead_stage", "convert_lead_to_client", "delete_lead", "add_note", "create_quote")


@require_safe
@members_only
def leads(request: MemberRequest) -> HttpResponse:
    """The list, newest first: `stage` (or "open"), `q` (words of name, phone, address …), `after`."""
    found = Lead.objects.filter(deleted_at=None).select_related("owner")
    stage = request.GET.get("stage", "")
    if stage in SELDOM or stage in Stage.values:
        found = found.filter(stage__in=SELDOM.get(stage, (stage,)))
    words = request.GET.get("q", "")[:200]
    for word in search_key(words).split()[:8]:
        found = found.filter(search__contains=word)
    page = newest_first(found, request.GET.get("after", ""))
    context = {
        "rows": page.rows,
        "older": page.older,
        "stage": stage,
        "stages": [("open", _("Open")), *Stage.choices],
        "q": words,
        "currency": request.company.currency,
        "can_create": permissions.allowed(request.member, "create_lead"),
    }
    return render(request, "leads/list.html", context)


@require_safe
@members_only
def lead(request: MemberRequest, ref: str) -> HttpResponse:
    """One lead with its way across the board, its notes and its quotes."""
    return _show(request, _lead(ref))


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def create(request: MemberRequest) -> HttpResponse:
    """A new lead. Probable duplicates are shown and asked about before anything is stored."""
    require(request, "create_lead")
    form = LeadForm(request.POST or None, company=request.company)
    context: dict[str, Any] = {"form": form, "title": _("New lead")}
    if request.method != "POST" or not form.is_valid():
        return _form(request, context, 422 if form.errors else 200)
    sure = sure_of(request)

    def deed() -> str:
        made = create_lead(by=request.member, **form.given(), notes=form.cleaned_data["notes"], on_duplicate=sure)
        return reverse("lead", args=[made.ref])

    try:
        return once(request, deed)
    except DomainError as error:
        tell(form, error)
        return _form(request, context | {"candidates": error.data.get("candidates")}, status_of(error))


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def change(request: MemberRequest, ref: str) -> HttpResponse:
    """Change a lead, under the version that the form was made from."""
    found = _lead(ref)
    require(request, "update_lead")
    form = LeadForm(request.POST or None, company=request.company, lead=found)
    context: dict[str, Any] = {"form": form, "title": found.name, "lead": found, "version": version_of(request, found)}
    if request.method != "POST" or not form.is_valid():
        return _form(request, context, 422 if form.errors else 200)

    def deed() -> str:
        update_lead(found, by=request.member, expected_version=context["version"], changes=form.given())
        return reverse("lead", args=[found.ref])

    try:
        return once(request, deed)
    except DomainError as error:
        tell(form, error)
        return _form(request, context, status_of(error))


@require_POST
@members_only
def move(request: MemberRequest, ref: str) -> HttpResponse:
    """Move a lead on the board."""
    found = _lead(ref)
    require(request, "move_lead_stage")
    form = MoveForm(request.POST)
    if not form.is_valid():
        return _show(request, found, move=form, status=422)

    def deed() -> str:
        moved = move_lead_stage(found, by=request.member, **form.cleaned_data)
        flash.success(request, _("%(ref)s: %(stage)s.") % {"ref": moved.ref, "stage": Stage(moved.stage).label})
        return reverse("lead", args=[found.ref])

    try:
        return once(request, deed)
    except DomainError as error:
        tell(form, error)
        return _show(request, found, move=form, status=status_of(error))


def _lead(ref: str) -> Lead:
    return record_or_404(Lead.objects.select_related("owner", "converted_client"), ref)


def _show(request: MemberRequest, found: Lead, *, move: MoveForm | None = None, status: int = 200) -> HttpResponse:
    quotes = list(found.quotes.filter(deleted_at=None).order_by("-created_at")[:50])
    newest = QuoteRevision.objects.newest_of(quotes)
    may = {deed: permissions.allowed(request.member, deed) for deed in DEEDS}
    goes_to = [to for before, to in TRANSITIONS if before == found.stage and to != Stage.WON]
    convertible = may["convert_lead_to_client"] and found.is_convertible
    context = {
        "lead": found,
        "sites": list(found.sites.filter(deleted_at=None)),
        "steps": list(found.stage_changes.select_related("by").order_by("at", "id")),
        "notes": list(notes_of(found).select_related("created_by")[:50]),
        "quotes": [{"quote": one, "revision": newest.get(one.pk)} for one in quotes],
        "currency": request.company.currency,
        "move": (move or MoveForm(initial={"stage": goes_to[0] if goes_to else ""})) if goes_to else None,
        "note": NoteForm(),
        "record": found,
        "may": may,
        "can_convert": convertible,
        "like": [match.as_json() for match in clients_like(found)] if convertible else [],
        "can_delete": may["delete_lead"] and found.stage != Stage.WON,
        "key": uuid.uuid4(),
        "new_key": uuid.uuid4(),
        "move_key": uuid.uuid4(),
        "note_key": uuid.uuid4(),
    }
    return render(request, "leads/lead.html", context, status=status)


def _form(request: MemberRequest, context: dict[str, Any], status: int) -> HttpResponse:
    key = request.POST.get("key") or uuid.uuid4()
    return render(request, "leads/form.html", {"key": key, **context}, status=status)
