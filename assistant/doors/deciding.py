"""A card's own address and the clicks on it. The gate decides; here an answer becomes a page, a fragment or a status.

200 decided, or decided so by the same person before; 409 decided otherwise or changed, with the card as it stands;
422 not taken, with a sentence on the card; 404 not there or not yours. A plain form gets 303 to the card.
"""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages as flash
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from django.utils.timezone import now
from django.views.decorators.http import require_GET, require_POST

from assistant.doors import cards, edit_form, wording
from assistant.doors.access import MemberRequest, members_only, see_other
from assistant.doors.shapes import Card
from assistant.gate import approvals, policy, proposals
from assistant.gate.approvals import Answer, Click, Kind
from assistant.models import OPEN, Decision, PendingAction, Status
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger.errors import DomainError
from ledger.models import StoredDocument

STATUS = {Kind.DECIDED: 200, Kind.REPEATED: 200, Kind.CONFLICT: 409, Kind.REFUSED: 422}
WATCHED = (*OPEN, Status.SCHEDULED, Status.EXECUTING, Status.IN_DOUBT)
SIGNED_IN_AT = "signed_in_at"


@require_GET
@members_only
def action(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """The card, as a page or as a fragment; `?panel=edit|reject` opens that form on it."""
    found = _find(request, conversation_id, action_id)
    if request.htmx and request.GET.get("status") == found.status:
        return HttpResponse(status=204)
    panel = request.GET.get("panel", "")
    return _show(request, found, panel=panel, focus=bool(request.htmx and not request.GET.get("status")))


@require_POST
@members_only
def confirm(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """Yes to exactly what was shown (`hash`); strong cards take `held` or `typed`, `reason` and a fresh sign-in."""
    return _decide(request, approvals.confirm, conversation_id, action_id)


@require_POST
@members_only
def reject(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """No, with `reason_code` and `reason`."""
    return _decide(request, approvals.reject, conversation_id, action_id, panel="reject")


@require_POST
@members_only
def cancel(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """Close the card without deciding."""
    return _decide(request, approvals.cancel, conversation_id, action_id)


@require_POST
@members_only
def undo(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """Take a confirmed action back while it has not begun to run."""
    return _decide(request, approvals.undo, conversation_id, action_id)


@require_POST
@members_only
def edit(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """Change fields: the answer is the new card, which asks again."""
    found = _find(request, conversation_id, action_id)
    made = registry.get(found.tool)
    if made is None:
        raise Http404
    try:
        answer = approvals.edit(_click(request, conversation_id, action_id), edit_form.read(found, made, request.POST))
    except DomainError as error:
        answer = Answer(Kind.REFUSED, found, error.sentence)
    return _answer(request, answer, panel="edit")


@require_POST
@members_only
def seen(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """The card is on this person's screen (settled question 12)."""
    if not approvals.seen(_click(request, conversation_id, action_id)):
        raise Http404
    return HttpResponse(status=204)


@require_POST
@members_only
def again(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """The same request with the records as they are now, as a new card beside this one."""
    found = _find(request, conversation_id, action_id)
    made = registry.get(found.tool)
    if made is None or found.status in WATCHED:
        return _answer(request, Answer(Kind.CONFLICT, found))
    try:
        asked = proposals.ask_again(found, made)
    except DomainError as error:
        return _answer(request, Answer(Kind.REFUSED, found, error.sentence))
    return _answer(request, Answer(Kind.DECIDED, found if request.htmx else asked))


@require_GET
@members_only
def document(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """The file that goes out: exactly the bytes whose hash the card shows."""
    stored, name = _document(request, conversation_id, action_id)
    response = HttpResponse(bytes(stored.content), content_type="application/pdf")
    response["Content-Disposition"] = f'inline; filename="{name}"'
    return _kept(response)


@require_GET
@members_only
def page(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """The file's first page as a picture."""
    stored, _name = _document(request, conversation_id, action_id)
    if request.headers.get("If-None-Match") == f'"{stored.sha256}"':
        return HttpResponseNotModified()
    response = HttpResponse(bytes(stored.preview), content_type="image/png")
    response["ETag"] = f'"{stored.sha256}"'
    return _kept(response)


def _click(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> Click:
    signed_in = request.session.get(SIGNED_IN_AT, 0)
    posted = request.POST
    return Click(
        action_id=action_id,
        conversation_id=conversation_id,
        by=request.member,
        shown_hash=posted.get("hash", "")[:64],
        typed=posted.get("typed", "")[:200],
        held=posted.get("held") == "1",
        reason_code=posted.get("reason_code", "") if posted.get("reason_code") in wording.REASONS else "",
        reason=posted.get("reason", "").replace("\x00", "").strip()[:2000],
        fresh_login=now().timestamp() - signed_in <= policy.FRESH_LOGIN_SECONDS,
    )


def _find(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> PendingAction:
    found = approvals.find(Click(action_id, conversation_id, request.member, ""))
    if found is None:
        raise Http404
    return found


def _decide(
    request: MemberRequest,
    decide: Callable[[Click], Answer],
    conversation_id: uuid.UUID,
    action_id: uuid.UUID,
    *,
    panel: str = "",
) -> HttpResponse:
    return _answer(request, decide(_click(request, conversation_id, action_id)), panel=panel)


def _answer(request: MemberRequest, answer: Answer, *, panel: str = "") -> HttpResponse:
    if answer.kind == Kind.MISSING or answer.action is None:
        raise Http404
    status = STATUS[answer.kind]
    if request.htmx or status == 422:
        shown = panel if answer.kind == Kind.REFUSED else ""
        return _show(request, answer.action, panel=shown, wrong=answer.sentence, status=status)
    if answer.sentence:
        flash.warning(request, answer.sentence)
    return see_other("chat:action", answer.action.conversation_id, answer.action.pk)


def _show(
    request: MemberRequest,
    shown: PendingAction,
    *,
    panel: str = "",
    wrong: str = "",
    status: int = 200,
    focus: bool = True,
) -> HttpResponse:
    made = registry.get(shown.tool)
    card = card_of(request, shown, wrong=wrong)
    editing = panel == "edit" and card.can_edit and made is not None
    stale = made is not None and shown.level >= Level.STRONG and shown.status in OPEN
    context: dict[str, Any] = {
        "card": card,
        "panel": panel,
        "focus": focus,
        "reasons": wording.REASONS,
        "posted": request.POST,
        "watched": WATCHED,
        "sign_in": redirect_to_login(card.url).url if wrong and stale else "",
        "fields": edit_form.fields(shown, made, request.POST or None) if editing and made else [],
    }
    template = "cards/card.html" if request.htmx else "cards/page.html"
    return render(request, template, context, status=status)


def card_of(request: MemberRequest, shown: PendingAction, *, wrong: str = "") -> Card:
    decisions = list(Decision.objects.filter(action=shown).select_related("member").order_by("slot"))
    before = shown.edited_from if shown.edited_from_id and shown.status in OPEN else None
    return cards.card(shown, request.member, decisions=decisions, predecessor=before, wrong=wrong)


def _document(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> tuple[StoredDocument, str]:
    attached = _find(request, conversation_id, action_id).preview.get("document") or {}
    stored = StoredDocument.objects.filter(sha256=attached.get("sha256", "")).first()
    if stored is None:
        raise Http404
    name = "".join(c for c in attached.get("name", "") if c.isalnum() or c in "._- ") or "document.pdf"
    return stored, name


def _kept(response: HttpResponse) -> HttpResponse:
    """The bytes of an address never change, but only this person may have them."""
    response["Cache-Control"] = "private, max-age=3600"
    response["X-Content-Type-Options"] = "nosniff"
    return response
