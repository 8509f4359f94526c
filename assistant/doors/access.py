"""Who may come through these doors."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as lazy

from assistant.doors import frames
from assistant.gate import policy
from assistant.models import Conversation
from ledger import audit
from ledger.models import Company, Membership

Params = ParamSpec("Params")


class MemberRequest(HttpRequest):
    """A request of a member inside a company's scope (ledger.middleware)."""

    member: Membership
    company: Company
    htmx: Any


SIGNED_IN_AT = "signed_in_at"
View = Callable[Concatenate[Any, Params], HttpResponse]


def members_only(view: View[Params]) -> View[Params]:
    """Strangers are sent to sign in (htmx gets 401: no sign-in page in a fragment); answers are not kept.

    A program that accepts JSON alone is answered in JSON whatever happens: 403 for strangers, 404, 400.
    """

    @wraps(view)
    def guarded(request: Any, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
        if request.member is not None:
            try:
                response = view(request, *args, **kwargs)
            except (Http404, BadRequest) as error:
                if not wants_json(request):
                    raise
                response = refusal(404 if isinstance(error, Http404) else 400)
            response.setdefault("Cache-Control", "no-store")
            return response
        if wants_json(request):
            return refusal(403)
        if request.htmx:
            return HttpResponse(status=401, headers={"HX-Refresh": "true"})
        if request.user.is_authenticated:
            return redirect("companies")
        return redirect_to_login(request.get_full_path())

    return guarded


SENTENCES = {
    400: lazy("The request cannot be read."),
    403: lazy("Sign in first."),
    404: lazy("There is nothing here."),
}


def refusal(status: int) -> HttpResponse:
    """The JSON of an answer that has nothing but its status."""
    return JsonResponse({"detail": str(SENTENCES[status])}, status=status)


def wants_json(request: Any) -> bool:
    """Whether a program asks: one that takes JSON and would not rather have a page."""
    return not request.htmx and request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def signed_in_lately(request: Any) -> bool:
    """Whether the password was given so lately in this session that it still counts for a strong card."""
    given_at: float = request.session.get(SIGNED_IN_AT, 0)
    return now().timestamp() - given_at <= policy.FRESH_LOGIN_SECONDS


def posted(request: Any) -> Any:
    """The fields of a form, or of a JSON object with the same names. Raises BadRequest for what is neither."""
    if request.content_type != "application/json":
        return request.POST
    try:
        given = json.loads(request.body)
        json.dumps(given, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except (ValueError, RecursionError):
        raise BadRequest("not JSON") from None
    if not isinstance(given, dict):
        raise BadRequest("not an object")
    fields = QueryDict(mutable=True)
    for name, value in given.items():
        fields[name] = _field(value)
    return fields


def _field(value: Any) -> str:
    """A JSON value as a form would write it: yes is 1, no and nothing are empty, a list has a line for each item."""
    match value:
        case bool() | None:
            return "1" if value else ""
        case list() if not any(isinstance(item, list | dict) for item in value):
            return "\n".join(str(item) for item in value)
        case list() | dict():
            raise BadRequest("more than a list within the object")
        case _:
            return str(value)


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
