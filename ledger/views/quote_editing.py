"""The page on which a draft quote is changed: one form, plain to post; with scripts the sums follow what is typed."""

import uuid
from typing import Any

from django.contrib import messages as flash
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_http_methods, require_POST

from ledger.actions.quote_lines import draft_revision
from ledger.errors import DomainError
from ledger.models import Quote, QuoteRevision
from ledger.once import once, see_other, taken
from ledger.views.access import MemberRequest, members_only
from ledger.views.answers import record_or_404, require, status_of, tell, version_of
from ledger.views.quote_forms import QuoteEditor

AS_SAVED = lazy("These are the sums as last saved: a field cannot be read yet.")


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def edit(request: MemberRequest, ref: str) -> HttpResponse:
    """The draft's form. POST stores all or nothing under `version`, once for each `key`; `more` comes back here."""
    quote = _quote(request, ref)
    try:
        revision = draft_revision(quote)
    except DomainError as error:
        flash.error(request, error.sentence)
        return see_other(reverse("quote", args=[quote.ref]))
    version = version_of(request, quote)
    stale = request.method == "POST" and version != quote.version
    editor = _editor(request, quote, revision)
    before = taken(request)
    if before:
        return see_other(before)
    if stale:
        return _stale(request, quote, revision)
    if request.method != "POST" or not editor.is_valid():
        return _form(request, editor, revision, version, 422 if editor.wrong else 200)

    def deed() -> str:
        editor.save(by=request.member, expected_version=version)
        flash.success(request, _("Saved."))
        return reverse("quote_edit" if request.POST.get("more") else "quote", args=[quote.ref])

    try:
        return once(request, deed)
    except DomainError as error:
        if error.code == "STALE_VERSION":
            return _stale(request, quote, revision)
        tell(editor.terms, error)
        return _form(request, editor, revision, version, status_of(error))


@require_POST
@members_only
def sums(request: MemberRequest, ref: str) -> HttpResponse:
    """What the form would come to: it is stored as it would be, the sums are read, and all of it is taken back."""
    quote = _quote(request, ref)
    problem = ""
    with transaction.atomic():
        try:
            revision = draft_revision(quote)
            editor = _editor(request, quote, revision)
            if editor.is_valid():
                editor.save(by=request.member, expected_version=version_of(request, quote))
                revision = QuoteRevision.objects.get(pk=revision.pk)
            else:
                problem = str(AS_SAVED)
        except DomainError as error:
            problem = error.sentence
            revision = QuoteRevision.objects.get(quote=quote, n=quote.revision)
        context = _sums(quote, revision) | {"problem": problem}
        transaction.set_rollback(True)
    return render(request, "quotes/sums.html", context)


def _quote(request: MemberRequest, ref: str) -> Quote:
    require(request, "edit_quote_lines")
    return record_or_404(Quote.objects.select_related("client", "lead"), ref)


def _editor(request: MemberRequest, quote: Quote, revision: QuoteRevision) -> QuoteEditor:
    data = request.POST if request.method == "POST" else None
    return QuoteEditor(data, quote, revision, list(revision.lines.select_related("price")))


def _stale(request: MemberRequest, quote: Quote, revision: QuoteRevision) -> HttpResponse:
    """The form as the quote stands now: what was typed belonged to other lines, so it is not put beside these."""
    quote.refresh_from_db()
    flash.error(
        request, _("%(ref)s was changed in the meantime, so nothing was saved. Look again.") % {"ref": quote.ref}
    )
    fresh = QuoteEditor(None, quote, revision, list(revision.lines.select_related("price")))
    return _form(request, fresh, revision, quote.version, 409)


def _form(
    request: MemberRequest, editor: QuoteEditor, revision: QuoteRevision, version: int, status: int
) -> HttpResponse:
    context = {"editor": editor, "quote": editor.quote, "version": version, "key": uuid.uuid4()}
    context |= {"problem": AS_SAVED if editor.wrong else ""}
    return render(request, "quotes/edit.html", context | _sums(editor.quote, revision), status=status)


def _sums(quote: Quote, revision: QuoteRevision) -> dict[str, Any]:
    totals = revision.totals(list(revision.lines.all()))
    return {"quote": quote, "revision": revision, "totals": totals}
