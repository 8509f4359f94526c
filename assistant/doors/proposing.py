"""A page's button for a deed that needs a card: it asks at the same gate as the agent, and shows the same card."""

import json
import uuid

from django.contrib import messages as flash
from django.db import connection
from django.http import Http404, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assistant.doors import edit_form
from assistant.doors.access import MemberRequest, members_only, see_other
from assistant.gate import proposals
from assistant.models import Conversation, PendingAction
from assistant.tools import registry
from assistant.tools.registry import Context
from ledger import permissions
from ledger.errors import DomainError
from ledger.models import Membership


@require_POST
@members_only
def propose(request: MemberRequest, tool: str) -> HttpResponse:
    """Put up the card of a gated tool: the form's fields are its arguments, `key` a UUID, `back` where a no leads.

    Answers 303 to the card; the same key again leads to the same card. What a rule refuses is said on the page that
    the form came from.
    """
    made = registry.get(tool)
    if made is None or not made.gated or not permissions.allowed(request.member, made.permission):
        raise Http404
    desk = desk_of(request.member)
    try:
        action = _once(request, made, desk)
    except DomainError as error:
        flash.error(request, error.sentence)
        return see_other(_back(request))
    return see_other("chat:action", desk.pk, action.pk)


def desk_of(member: Membership) -> Conversation:
    """The member's own desk: the conversation of what they start on pages."""
    desk, _made = Conversation.objects.get_or_create(starter=member, desk=True, defaults={"title": _("Desk")})
    return desk


def _once(request: MemberRequest, made: registry.Tool, desk: Conversation) -> PendingAction:
    """One card for each key: clicks of the same form wait for each other, until the first has committed."""
    try:
        key = uuid.UUID(request.POST.get("key", ""))
    except ValueError:
        raise DomainError("NO_KEY", _("This form is incomplete. Reload the page and try again.")) from None
    call_id = f"form:{key}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key.int >> 65])
    before = PendingAction.objects.filter(conversation=desk, call_id=call_id).order_by("pk").last()
    if before is not None:
        return before
    ctx = Context(
        member=request.member,
        company=request.company,
        language=get_language() or "en",
        door="web",
        conversation_id=desk.pk,
    )
    arguments = json.dumps(edit_form.read_all(made, request.POST), ensure_ascii=False)
    return proposals.propose(ctx, made, arguments, conversation_id=desk.pk, call_id=call_id).action


def _back(request: MemberRequest) -> str:
    """The page that the form came from, if it is one of ours."""
    back = request.POST.get("back", "")
    ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, {request.get_host()})
    return back if ours else "/"
