"""Who is here and in which company: the scope, the origin, the language and the time zone of a request."""

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware import common
from django.utils.translation import gettext as _

from ledger import audit, reader, tenancy
from ledger.compiled import Compiled, an_id
from ledger.models import Access, Company, Membership, Via

SESSION_COMPANY = "company"
OPEN_TO = Compiled(
    lambda: Access.objects.filter(user_id=an_id("user")).order_by("id").values_list("tenant_id", flat=True)
)
MEMBER = Compiled(lambda: Membership.objects.select_related("tenant").filter(user_id=an_id("user"), active=True))


def companies_of(user_id: uuid.UUID) -> list[uuid.UUID]:
    """The companies that a person may enter, oldest access first."""
    return OPEN_TO.all(user=user_id)


def chosen_company(request: HttpRequest) -> uuid.UUID | None:
    """The company of this session: the one chosen, if still open to the person, else the first."""
    if not request.user.is_authenticated:
        return None
    open_to = getattr(request.user, "open_to", None)  # a person who has just signed in was not read with them
    if open_to is None:
        open_to = companies_of(request.user.pk)
    wish = request.session.get(SESSION_COMPANY)
    return next((c for c in open_to if str(c) == wish), open_to[0] if open_to else None)


def member_of(user_id: uuid.UUID) -> Membership | None:
    """The person's active membership in the company in scope, with the company."""
    return MEMBER.first(user=user_id)


class CommonMiddleware(common.CommonMiddleware):
    """Django's, which sends a page to its address with a slash; a form that was posted without one is a 404 at once.

    A refused method is said in words.
    """

    def should_redirect_with_slash(self, request: HttpRequest) -> bool:
        return request.method in ("GET", "HEAD") and super().should_redirect_with_slash(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code == 405 and isinstance(response, HttpResponse) and not response.content:
            response.content = str(_("This address does not take this kind of request."))
            response["Content-Type"] = "text/plain; charset=utf-8"
        return super().process_response(request, response)


class AfterCommit(HttpResponse):
    """An answer that is rendered when its transaction has committed: whoever waits for the change need not wait for it.

    `content_of` may not read the database.
    """

    def __init__(self, content_of: Callable[[], str], **options: Any) -> None:
        super().__init__(**options)
        self._content_of = content_of

    def write_content(self) -> None:
        self.content = self._content_of()


class TenantMiddleware:
    """Runs each view inside its company's scope; what it streams is made outside it, in scopes of its own.

    Sets `request.member` (None for strangers) and `request.company`.
    """

    def __init__(self, get_response: Callable[..., Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request)

    def process_view(
        self, request: Any, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        request.member = request.company = None
        if getattr(view, "outside_tenant", False):
            return None
        company_id = chosen_company(request)
        if company_id is None:
            return None
        with (
            audit.entering(Via.WEB, request.META.get("REMOTE_ADDR", "")),
            tenancy.tenant(company_id),
        ):
            request.member = member_of(request.user.pk)
            if request.member is None:
                request.company = Company.objects.get(pk=company_id)
                return None
            request.company = request.member.tenant
            request.member.user = request.user
            language, zone = request.user.language, request.member.timezone or request.company.timezone
            with reader.reading(language, zone):
                response = view(request, *args, **kwargs)
                if hasattr(response, "render") and callable(response.render):
                    response = response.render()
        if isinstance(response, AfterCommit):
            with reader.reading(language, zone):
                response.write_content()
        return response
