"""The company that one of the staff has entered, kept in the session, and the scope in which the site's pages run."""

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import unquote, urlencode

from django.core.exceptions import BadRequest
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from ledger import audit, reader, tenancy
from ledger.models import Company, Via

SESSION_ENTERED = "operator_entered"
ENTRY_SECONDS = 8 * 3600
"""How long an entered company stays open to the session; then it is named again, and recorded again."""

View = Callable[..., HttpResponse]


def enter(request: HttpRequest, company_id: uuid.UUID) -> None:
    """Keep the company for the session's next requests."""
    request.session[SESSION_ENTERED] = {"company": str(company_id), "at": int(timezone.now().timestamp())}


def leave(request: HttpRequest) -> None:
    """Keep none."""
    request.session.pop(SESSION_ENTERED, None)


def entered_company(request: HttpRequest) -> uuid.UUID | None:
    """The company that this session has entered, if that was not too long ago."""
    match request.session.get(SESSION_ENTERED):
        case {"company": str(company), "at": int(at)} if timezone.now().timestamp() - at < ENTRY_SECONDS:
            return uuid.UUID(company)
    return None


def door(request: HttpRequest) -> AbstractContextManager[None]:
    """Name the door "admin" for what is recorded inside the block."""
    return audit.entering(Via.ADMIN, request.META.get("REMOTE_ADDR", ""))


def inside(view: View) -> View:
    """The view inside the entered company: its scope, its clock, the reader's language, the door named.

    Without a company it leads to where one is chosen. An address with what PostgreSQL cannot read is a bad request.
    """

    def scoped(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        company_id = entered_company(request)
        if company_id is None:
            return _choose(request)
        if "\x00" in unquote(request.get_full_path()):
            raise BadRequest("a NUL in the address")
        try:
            with door(request), tenancy.tenant(company_id):
                request.company = Company.objects.filter(pk=company_id).first()
                return _choose(request) if request.company is None else _answer(view, request, *args, **kwargs)
        except DataError as error:
            raise BadRequest("a value that the database cannot read") from error

    return scoped


def go_on_to(request: HttpRequest) -> str:
    """The address to go on to once a company is chosen, if it is one of this site; else ""."""
    wish = request.POST.get("next") or request.GET.get("next") or ""
    ours = wish.startswith(reverse("admin:index")) and url_has_allowed_host_and_scheme(wish, allowed_hosts=None)
    return wish if ours else ""


def _choose(request: HttpRequest) -> HttpResponse:
    back = request.get_full_path() if request.method == "GET" else reverse("admin:index")
    return redirect(f"{reverse('admin:company')}?{urlencode({'next': back})}")


def _answer(view: View, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
    with reader.reading(request.user.language, request.company.timezone):
        response = view(request, *args, **kwargs)
        if hasattr(response, "render") and callable(response.render):
            response = response.render()
    return response
