"""What became of an action in doubt, by a person who knows: with a note that stays on record (R11)."""

import uuid
from dataclasses import replace

from django.contrib import messages as flash
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assistant.doors import inbox_frames
from assistant.doors.access import MemberRequest, members_only, posted, see_other, wants_json
from assistant.doors.answering import told
from assistant.doors.inbox_entries import entries
from assistant.doors.inbox_lists import Tab
from assistant.gate import reading, reconciliation
from assistant.models import Status
from ledger import permissions
from ledger.errors import DomainError


@require_POST
@members_only
def settle(request: MemberRequest, conversation_id: uuid.UUID, action_id: uuid.UUID) -> HttpResponse:
    """`done` (1 it was done, 0 it was not), `note` (how one knows), `reference` (the provider's own, if known).

    404 but for those who may settle; 409 where it is settled already; 422 with a sentence.
    """
    found = reading.IN_CONVERSATION.first(pk=action_id, conversation=conversation_id)
    if found is None or not permissions.allowed(request.member, "reconcile_action"):
        raise Http404
    given = posted(request)
    if found.status != Status.IN_DOUBT and not found.closed_at:
        raise Http404
    status, outcome, sentence = 200, "decided", ""
    try:
        if given.get("done") not in ("0", "1"):
            raise DomainError("DONE_OR_NOT", _("Say whether it was done or not."))
        found = reconciliation.settle(
            found.pk,
            by=request.member,
            done=given["done"] == "1",
            note=given.get("note", "").replace("\x00", ""),
            reference=given.get("reference", "").replace("\x00", ""),
        )
    except DomainError as error:
        sentence = error.sentence
        status, outcome = (409, "conflict") if error.code == "NOT_IN_DOUBT" else (422, "refused")
    if wants_json(request):
        return told(found, outcome=outcome, sentence=sentence, status=status)
    if request.htmx:
        (entry,) = entries([found.pk], request.member)
        entry = replace(entry, wrong=sentence, note=given.get("note", "")[:2000])
        return HttpResponse(inbox_frames.placed(entry), status=status)
    if sentence:
        flash.error(request, sentence)
    return see_other("chat:inbox_tab", Tab.DOUBT)
