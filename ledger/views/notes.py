"""Notes on any record, and the trash: each a button that leads back to where one was."""

import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from ledger import permissions
from ledger.actions.notes import add_note, delete_note
from ledger.actions.records import RECORDS, any_by_ref
from ledger.actions.trash import in_trash, restore_record
from ledger.errors import DomainError, NotFound
from ledger.models import BusinessModel, Note
from ledger.once import once
from ledger.views.access import MemberRequest, members_only
from ledger.views.answers import flashing, record_or_404
from ledger.views.party_forms import NoteForm


def page_of_kind(kind: str, ref: str) -> str:
    """Where a record of that kind is shown; empty for kinds without a page."""
    try:
        return reverse(kind, args=[ref])
    except NoReverseMatch:
        return ""


def page_of(record: BusinessModel) -> str:
    """Where a record is shown; records without a page of their own lead to the desk."""
    return page_of_kind(record._meta.model_name or "", record.ref) or reverse("home")


def _page(ref: str) -> str:
    try:
        return page_of(any_by_ref(ref))
    except NotFound:
        return reverse("home")


@require_POST
@members_only
@flashing(_page)
def new_note(request: MemberRequest, ref: str) -> HttpResponse:
    """Attach a note to the record."""
    record = any_by_ref(ref)
    form = NoteForm(request.POST)
    if not form.is_valid():
        raise DomainError("REQUIRED", _("A note needs words, and at most 4,000 characters fit."))

    def deed() -> str:
        add_note(record, by=request.member, **form.cleaned_data)
        return page_of(record)

    return once(request, deed)


@require_POST
@members_only
@flashing(lambda ref: reverse("home"))
def drop_note(request: MemberRequest, ref: str) -> HttpResponse:
    """Move a note to the trash and go back to its record."""
    note = record_or_404(Note, ref)
    record = RECORDS[note.record_kind].objects.filter(pk=note.record_id).first()

    def deed() -> str:
        delete_note(note, by=request.member)
        return page_of(record) if record else reverse("home")

    return once(request, deed)


@require_safe
@members_only
def trash(request: MemberRequest) -> HttpResponse:
    """What was deleted in the last thirty days, and until when it can come back."""
    if not permissions.allowed(request.member, "restore_record"):
        raise Http404
    rows = [{"record": one, "key": uuid.uuid4()} for one in in_trash()]
    return render(request, "trash/list.html", {"rows": rows})


@require_POST
@members_only
@flashing(lambda ref: reverse("trash"))
def restore(request: MemberRequest, ref: str) -> HttpResponse:
    """Take a record out of the trash and show it. The second click of a form leads to the same page."""

    def deed() -> str:
        return page_of(restore_record(any_by_ref(ref, trashed=True), by=request.member))

    return once(request, deed)
