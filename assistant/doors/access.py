"""Who may come through these doors."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from assistant.doors import frames
from assistant.models import Conversation
from ledger import audit
from ledger.models import Company, Membership

Params = ParamSpec("Params")


class MemberRequest(HttpRequest):
    """A request of a member inside a company's scope (ledger.middleware)."""

    member: Membership
    company: Company
    htmx: Any


View = Callable[Concatenate[Any, Params], HttpResponse]


def members_only(view: View[Params]) -> View[Params]:
    """Strangers are sent to sign in (htmx gets 401: no sign-in page in a fragment); answers are not kept."""

    @wraps(view)
    def guarded(request: Any, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
        if request.member is not None:
            response = view(request, *args, **kwargs)
            response.setdefault("Cache-Control", "no-store")
            return response
        if request.htmx:
            return HttpResponse(status=401, headers={"HX-Refresh": "true"})
        if request.user.is_authenticated:
            return redirect("companies")
        return redirect_to_login(request.get_full_path())

    return guarded


def see_other(name: str, *args: object) -> HttpResponse:
    """303: the answer to a plain form is the page of what it led to, by GET."""
    response = redirect(name, *args)
    response.status_code = 303
    return response


def conversation_of(request: MemberRequest, conversation_id: Any) -> Conversation:
    """The conversation, if this member may read it; the same 404 for another's and for none (R4)."""
    found = frames.find(conversation_id, request.member)
    if found is None:
        raise Http404
    if found.starter_id != request.member.pk:
        audit.record("conversation.read", by=request.member, subject=found)
    return found


def own_conversation(request: MemberRequest, conversation_id: Any) -> Conversation:
    """The conversation, if this member started it: reading along is no right to speak in it."""
    found = Conversation.objects.filter(pk=conversation_id, starter=request.member).first()
    if found is None:
        raise Http404
    return found
