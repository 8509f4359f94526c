"""`/audit/actions/<id>/`: one page that answers "I did not ask for this", and the same on paper.

For whoever asked for the action, and for those who may read the record. Everybody else gets the 404 of what is not
there. Since the page shows words of a conversation, each reading by somebody else than its starter goes on record
(settled question 17).
"""

import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.utils import translation
from django.views.decorators.http import require_safe

from assistant.doors import wording
from assistant.doors.access import MemberRequest, members_only
from assistant.doors.record import events, evidence, paper, story
from assistant.doors.record.readers import may_read
from assistant.doors.record.story import Story
from assistant.models import PendingAction
from ledger import audit, chain, permissions
from ledger.documents import dossier
from ledger.models import ChainCheck, StoredDocument


@require_safe
@members_only
def action(request: MemberRequest, action_id: uuid.UUID) -> HttpResponse:
    """The story as a page."""
    whole = _story(request, action_id)
    with translation.override(whole.action.language):
        shown = evidence.as_shown(whole.action, image="audit_action_page", file="audit_action_document")
        card = render_to_string("audit/card.html", {"card": shown})
    context = {
        "story": whole,
        "card": card,
        "label": wording.tool_label(whole.action.tool),
        "standing": events.standing(ChainCheck.objects.first(), chain.head().seq),
        "may_list": permissions.allowed(request.member, "read_audit"),
    }
    return render(request, "audit/story.html", context)


@require_safe
@members_only
def on_paper(request: MemberRequest, action_id: uuid.UUID) -> HttpResponse:
    """The story as a PDF, in the reader's language."""
    whole = _story(request, action_id)
    standing = events.standing(ChainCheck.objects.first(), chain.head().seq)
    content = dossier.pdf(paper.words(whole, company=request.company, reader=request.member, standing=standing))
    response = HttpResponse(content, content_type="application/pdf")
    response["Content-Disposition"] = f'inline; filename="{action_id}.pdf"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


@require_safe
@members_only
def document(request: MemberRequest, action_id: uuid.UUID) -> HttpResponse:
    """The file that was to go out: exactly the bytes whose hash the card shows."""
    stored = _stored(request, action_id)
    return _bytes(stored.content, "application/pdf", f'inline; filename="{stored.sha256[:12]}.pdf"')


@require_safe
@members_only
def page(request: MemberRequest, action_id: uuid.UUID) -> HttpResponse:
    """Its first page as a picture."""
    return _bytes(_stored(request, action_id).preview, "image/png", "inline")


def _story(request: MemberRequest, action_id: uuid.UUID) -> Story:
    found = _find(request, action_id)
    whole = story.of(found)
    if whole.action.conversation.starter_id != request.member.pk:
        audit.record("action.story_read", by=request.member, subject=found, digest=found.digest)
    return whole


def _find(request: MemberRequest, action_id: uuid.UUID) -> PendingAction:
    found = PendingAction.objects.filter(pk=action_id).first()
    if found is None or not may_read(found, request.member):
        raise Http404
    return found


def _stored(request: MemberRequest, action_id: uuid.UUID) -> StoredDocument:
    attached = _find(request, action_id).preview.get("document") or {}
    found: StoredDocument = get_object_or_404(StoredDocument, sha256=attached.get("sha256", ""))
    return found


def _bytes(content: Any, kind: str, disposition: str) -> HttpResponse:
    response = HttpResponse(bytes(content), content_type=kind)
    response["Content-Disposition"] = disposition
    response["Cache-Control"] = "private, max-age=3600"
    response["X-Content-Type-Options"] = "nosniff"
    return response
