"""Deeds that are looked at afterwards: the drawn ones, one by one, and receipts that somebody says are wrong."""

import uuid
from dataclasses import dataclass

from django.contrib import messages as flash
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assistant.doors import wording
from assistant.doors.access import MemberRequest, members_only, see_other
from assistant.gate import reading, sight
from assistant.insight import checks
from assistant.models import PendingAction, SpotCheck, Status
from ledger import permissions
from ledger.errors import DomainError, NotFound

SHOWN = 10


@dataclass(frozen=True)
class Deed:
    """A drawn deed as it is asked about: what was done, for whom, when, and what the receipt says."""

    id: uuid.UUID
    label: str
    summary: SafeString
    receipt: SafeString
    by: str
    at: str
    url: str


@require_safe
@members_only
def review(request: MemberRequest) -> HttpResponse:
    """The drawn deeds that this member may judge, oldest first, and what was found wrong last."""
    if not permissions.allowed(request.member, "add_note"):
        raise Http404
    waiting = checks.waiting_for(request.member)
    shown = list(waiting[: SHOWN + 1])
    return render(
        request,
        "inbox/review.html",
        {
            "deeds": [_deed(one) for one in shown[:SHOWN]],
            "more": len(shown) > SHOWN,
            "wrong": [(_deed(one), one) for one in checks.found_wrong(request.member)[:SHOWN]],
        },
    )


@require_POST
@members_only
def mark(request: MemberRequest, check_id: uuid.UUID) -> HttpResponse:
    """`mark` (right or wrong), `note`."""
    word = request.POST.get("mark", "")
    if word not in SpotCheck.Mark.values:
        raise Http404
    try:
        checks.mark(check_id, by=request.member, right=word == SpotCheck.Mark.RIGHT, note=request.POST.get("note", ""))
    except NotFound:
        raise Http404 from None
    except DomainError as error:
        flash.error(request, error.sentence)
    else:
        flash.success(request, _("It is marked, and on record."))
    return see_other("chat:review")


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def wrong(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """A receipt is wrong, says whoever may read it: `note` says what. Once for each person."""
    found = reading.IN_CONVERSATION.first(pk=action_id, conversation=conversation_id)
    if found is None or found.status != Status.EXECUTED or not sight.readable(found, request.member):
        raise Http404
    sentence = ""
    if request.method == "POST":
        try:
            checks.report_wrong(found, by=request.member, note=request.POST.get("note", ""))
        except DomainError as error:
            sentence = error.sentence
        else:
            flash.success(request, _("It is marked, and on record."))
            return see_other("chat:action", conversation_id, action_id)
    context = {"action": found, "label": wording.tool_label(found.tool), "summary": wording.shown_text(found.summary)}
    context |= {"wrong": sentence, "note": request.POST.get("note", "")[:2000]}
    return render(request, "inbox/wrong.html", context, status=422 if sentence else 200)


def _deed(check: SpotCheck) -> Deed:
    action, call = check.action, check.call
    label = wording.tool_label(check.tool)
    if action is not None:
        return Deed(
            check.pk,
            label,
            wording.shown_text(action.summary),
            wording.shown_text(str((action.receipt or {}).get("text", ""))),
            action.requester.name,
            wording.moment(action.closed_at) if action.closed_at else "",
            _url(action),
        )
    if call is None:
        raise LookupError("a spot check is of an action or of a call")
    written = wording.shown_text(call.arguments[:2000], lines=True)
    at = wording.moment(call.ended_at) if call.ended_at else ""
    return Deed(check.pk, label, written, SafeString(""), call.turn.member.name, at, "")


def _url(action: PendingAction) -> str:
    return reverse("chat:action", args=[action.conversation_id, action.pk])
