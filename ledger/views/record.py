"""The record leaves as a signed file, and what it says of a person is erased. Both take the password in the form."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.contrib import messages as flash
from django.db import connection
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from ledger import permissions
from ledger.actions import erasing
from ledger.errors import DomainError
from ledger.models import Membership
from ledger.once import once, taken
from ledger.record import export, signing
from ledger.views.access import MemberRequest, members_only
from ledger.views.answers import status_of

WRITERS = 2
_writers = ThreadPoolExecutor(max_workers=WRITERS, thread_name_prefix="export")
"""So many exports are read at the same time in one process; a further one waits between two of its pieces."""


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def export_record(request: MemberRequest) -> Any:
    """What an export is; POST `password` answers with the zip, made while it is sent."""
    _require(request, "export_audit")
    problem = ""
    if request.method == "POST":
        try:
            _check_password(request)
            begun = export.begin(request.company, by=request.member)
        except DomainError as error:
            problem = error.sentence
        else:
            return _download(begun)
    context = {"problem": problem, "fingerprint": signing.fingerprint()}
    return render(request, "audit/export.html", context, status=422 if problem else 200)


@require_safe
@members_only
def public_key(request: MemberRequest) -> HttpResponse:
    """The key that exports are signed with, to be kept elsewhere."""
    _require(request, "export_audit")
    response = HttpResponse(signing.public_pem(), content_type="application/x-pem-file")
    response["Content-Disposition"] = 'attachment; filename="aval-record-key.pem"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def erase(request: MemberRequest) -> HttpResponse:
    """`about` names a client, lead or member: how much is said of them. POST `reason`, `password`, `key` erases it."""
    _require(request, "erase_audit")
    given = request.POST if request.method == "POST" else request.GET
    person, problem = None, ""
    try:
        if given.get("about", "").strip():
            person = erasing.person_of(given["about"].replace("\x00", ""))
        if request.method == "POST" and taken(request):
            return once(request, lambda: "")
        if request.method == "POST":
            _check_password(request)
            return once(request, lambda: _erased(request, person))
    except DomainError as error:
        problem, status = error.sentence, status_of(error)
    else:
        status = 200
    context: dict[str, Any] = {
        "about": given.get("about", "")[:24],
        "person": person,
        "count": erasing.events_about(person).count() if person else 0,
        "reason": given.get("reason", "")[:500],
        "problem": problem,
        "key": uuid.uuid4(),
    }
    return render(request, "audit/erase.html", context, status=status)


def _erased(request: MemberRequest, person: erasing.Person | None) -> str:
    """Do it, and say so; where to go on."""
    if person is None:
        raise DomainError("REQUIRED", _("Write the number of a client, a lead or a member."))
    deed = erasing.erase_person(person, by=request.member, reason=request.POST.get("reason", "").replace("\x00", ""))
    count = deed.told["count"]
    erased = ngettext("%(count)s event was erased.", "%(count)s events were erased.", count) % {"count": count}
    flash.success(request, erased)
    return f"{reverse('audit')}?kind={deed.kind}"


def _download(begun: export.Begun) -> StreamingHttpResponse:
    response = StreamingHttpResponse(_sent(export.pieces(begun)), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{export.name_of(begun)}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["X-Accel-Buffering"] = "no"
    return response


async def _sent(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces as they are made, each in a thread of its own time; no connection is held between two."""

    def following() -> bytes | None:
        try:
            return next(pieces, None)
        finally:
            connection.close()

    while (piece := await asyncio.get_running_loop().run_in_executor(_writers, following)) is not None:
        yield piece


def _require(request: MemberRequest, deed: str) -> None:
    """404 for whoever may not: for them there is nothing here."""
    if not permissions.allowed(request.member, deed):
        raise Http404


def _check_password(request: MemberRequest) -> None:
    """Raise WRONG_PASSWORD unless the form carries this person's own: a session alone takes nothing away."""
    member: Membership = request.member
    if not member.user.check_password(request.POST.get("password", "")[:4096]):
        raise DomainError("WRONG_PASSWORD", _("That is not your password."), field="password")
