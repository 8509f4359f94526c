"""Who may see a company's pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from ledger import permissions
from ledger.models import Company, Membership

Params = ParamSpec("Params")


class MemberRequest(HttpRequest):
    """A request of a member inside a company's scope (ledger.middleware)."""

    member: Membership
    company: Company


View = Callable[Concatenate[Any, Params], HttpResponse]


def members_only(view: View[Params]) -> View[Params]:
    """Strangers are sent to sign in; a member who may not see records gets 404. Answers are not kept."""

    @wraps(view)
    def guarded(request: Any, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
        if request.member is None:
            if request.user.is_authenticated:
                return redirect("companies")
            return redirect_to_login(request.get_full_path())
        if not permissions.allowed(request.member, "view_records"):
            raise Http404
        response = view(request, *args, **kwargs)
        response.setdefault("Cache-Control", "no-store")
        return response

    return guarded
