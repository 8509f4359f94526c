"""Sign in, sign out, choose a company. Before a company is known, so outside any scope."""

import uuid
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from ledger import tenancy
from ledger.middleware import SESSION_COMPANY, chosen_company, companies_of
from ledger.models import Company, User
from ledger.views import sign_in_limits

SIGNED_IN_AT = "signed_in_at"
"""When this session's password was last given, in seconds since 1970: strong cards ask for a fresh one."""


class SignIn(LoginView):
    """E-mail and password. A person who is signed in already may give the password again (strong cards ask for it)."""

    template_name = "login.html"

    def post(self, request: HttpRequest, *args: str, **kwargs: Any) -> HttpResponse:
        """429 after too many wrong passwords, whether or not this one is right: it is not looked at."""
        typed = request.POST.get("username", "")
        wait = sign_in_limits.wait_before(request, typed)
        if not wait:
            return super().post(request, *args, **kwargs)
        form = self.form_class(request, initial={"username": typed})
        context = self.get_context_data(form=form, wait_minutes=-(-wait // 60))
        return self.render_to_response(context, status=429, headers={"Retry-After": str(wait)})

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        sign_in_limits.was_right(self.request, self.request.POST["username"])
        response = super().form_valid(form)
        self.request.session[SIGNED_IN_AT] = int(timezone.now().timestamp())
        sign_in_limits.remember(response, self.request, form.get_user())
        return response


sign_in = SignIn.as_view()
sign_in.outside_tenant = True  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def companies(request: HttpRequest) -> HttpResponse:
    """The companies of this person; POST `company` opens one for the session."""
    open_to = companies_of(cast(User, request.user).pk)
    if request.method == "POST":
        if request.POST.get("company") not in {str(company_id) for company_id in open_to}:
            raise Http404
        request.session[SESSION_COMPANY] = request.POST["company"]
        return redirect("/c/")
    here = chosen_company(request)
    return render(request, "companies.html", {"companies": [_named(company_id, here) for company_id in open_to]})


companies.outside_tenant = True  # type: ignore[attr-defined]


def _named(company_id: uuid.UUID, here: uuid.UUID | None) -> dict[str, object]:
    with tenancy.tenant(company_id):
        return {"id": company_id, "name": Company.objects.get(pk=company_id).name, "here": company_id == here}
