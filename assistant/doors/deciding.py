"""A card's own address and the clicks on it. The gate decides; answering.py says what a click is answered with."""

import uuid
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseNotModified
from django.utils.http import content_disposition_header
from django.utils.translation import get_language
from django.views.decorators.http import require_GET, require_POST

from assistant.doors import edit_form, wording
from assistant.doors.access import MemberRequest, members_only, posted, see_other, signed_in_lately, wants_json
from assistant.doors.answering import WATCHED, another, answer_of, show, told
from assistant.gate import approvals, asking, clicks, renewing, reversing
from assistant.gate.approvals import Answer, Click, Kind
from assistant.gate.evidence import PDF, Given
from assistant.models import EvidenceFile, PendingAction
from assistant.models.evidence import MOST_BYTES
from assistant.tools import registry
from ledger.errors import DomainError, NotFound
from ledger.models import StoredDocument, Via
from ledger.text import clean_block
from ledger.webauthn import MOST_CHARS


@require_GET
@members_only
def action(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """The card, as a page or as a fragment; `?panel=edit|reject` opens that form on it."""
    found = _read(request, conversation_id, action_id)
    if wants_json(request):
        return told(found, outcome="read")
    if request.htmx and request.GET.get("status") == found.status:
        return HttpResponse(status=204)
    panel = request.GET.get("panel", "")
    return show(request, found, panel=panel, focus=bool(request.htmx and not request.GET.get("status")))


@require_POST
@members_only
def confirm(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """Yes to exactly what was shown (`hash`). Strong cards take `held` or `typed`, a `reason`, and a passkey's
    `assertion` or else a fresh sign-in; with them may come `evidence` and a file, `evidence_file`.
    """
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
        fields = edit_form.read(found, made, posted(request))
        answer = approvals.edit(_click(request, conversation_id, action_id), fields)
    except DomainError as error:
        answer = Answer(Kind.REFUSED, found, error.sentence)
    return answer_of(request, answer, panel="edit")


@require_POST
@members_only
def seen(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """The card is on this person's screen (settled question 12)."""
    if not approvals.seen(_click(request, conversation_id, action_id)):
        raise Http404
    if wants_json(request):
        return told(_find(request, conversation_id, action_id), outcome="seen")
    return HttpResponse(status=204)


@require_POST
@members_only
def ask(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """A question about the card (`question`, a word of gate.asking), which the records answer; it decides nothing."""
    try:
        asking.ask(_click(request, conversation_id, action_id), posted(request).get("question", ""))
    except NotFound:
        raise Http404 from None
    except DomainError as error:
        kind = Kind.CONFLICT if error.code == "CARD_CHANGED" else Kind.REFUSED
        return answer_of(request, Answer(kind, _find(request, conversation_id, action_id), error.sentence))
    found = _find(request, conversation_id, action_id)
    if wants_json(request):
        return told(found, outcome="asked")
    if request.htmx:
        return show(request, found, panel="asked")
    return see_other("chat:action", conversation_id, action_id)


@require_POST
@members_only
def again(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """The same request with the records as they are now, as a new card beside this one."""
    found = _find(request, conversation_id, action_id)
    made = registry.get(found.tool)
    if made is None or found.status in WATCHED:
        return answer_of(request, Answer(Kind.CONFLICT, found))
    try:
        asked = renewing.ask_again(found, made)
    except DomainError as error:
        return answer_of(request, Answer(Kind.REFUSED, found, error.sentence))
    return another(request, found, asked)


@require_POST
@members_only
def reverse(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """Take back what was done: a new card, or at once where the tool's reverse needs none."""
    found = _find(request, conversation_id, action_id)
    try:
        made = reversing.reverse(found, by=request.member, language=get_language() or "en", door=Via.WEB)
    except DomainError as error:
        kind = Kind.CONFLICT if error.code in ("NOT_REVERSIBLE", "ALREADY_REVERSED") else Kind.REFUSED
        return answer_of(request, Answer(kind, found, error.sentence))
    return another(request, made if made.pk == found.pk else found, made)


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


@require_GET
@members_only
def evidence(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID, slot: int) -> HttpResponse:
    """The file that a person gave with a strong yes, for whoever may read the card. A PDF is only ever downloaded."""
    found = _read(request, conversation_id, action_id)
    kept = EvidenceFile.objects.select_related("decision").filter(decision__action=found, decision__slot=slot).first()
    if kept is None:
        raise Http404
    described: dict[str, Any] = kept.decision.attachment or {}
    response = HttpResponse(bytes(kept.content), content_type=described["kind"])
    way = "attachment" if described["kind"] == PDF else "inline"
    response["Content-Disposition"] = content_disposition_header(way == "attachment", described["name"]) or way
    response["Content-Security-Policy"] = "default-src 'none'; sandbox; frame-ancestors 'none'"
    return _kept(response)


def _click(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> Click:
    given = posted(request)
    return Click(
        action_id=action_id,
        conversation_id=conversation_id,
        by=request.member,
        shown_hash=given.get("hash", "")[:64],
        typed=given.get("typed", "")[:200],
        held=given.get("held") == "1",
        reason_code=given.get("reason_code", "") if given.get("reason_code") in wording.REASONS else "",
        reason=given.get("reason", "").replace("\x00", "").strip()[:2000],
        evidence=clean_block(given.get("evidence", ""))[:2000],
        file=_file(request),
        assertion=given.get("assertion", "")[: MOST_CHARS + 1],
        fresh_login=signed_in_lately(request),
    )


def _file(request: MemberRequest) -> Given | None:
    """The file that came with a form; no more of it is read than it takes to know that it is too large."""
    file = request.FILES.get("evidence_file")
    return Given(file.name or "", file.read(MOST_BYTES + 1)) if file else None


def _find(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> PendingAction:
    found = approvals.find(Click(action_id, conversation_id, request.member, ""))
    if found is None:
        raise Http404
    return found


def _read(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> PendingAction:
    """To read the card takes less than to answer it."""
    found = clicks.read(Click(action_id, conversation_id, request.member, ""))
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
    return answer_of(request, decide(_click(request, conversation_id, action_id)), panel=panel)


def _document(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> tuple[StoredDocument, str]:
    attached = _read(request, conversation_id, action_id).preview.get("document") or {}
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
