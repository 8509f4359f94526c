"""The operator's site: Django's admin for staff, inside one company at a time (settled question 31).

Staff name a company first; the choice lives in the session for some hours and stands in that company's audit chain.
Every other page runs inside that company's scope, under the door "admin". For anybody else the site isn't there.
"""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.views import LogoutView, redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from ledger import operators, tenancy
from ledger.admin_scope import View, door, enter, go_on_to, inside, leave
from ledger.errors import DomainError
from ledger.models import Company

SECTIONS: dict[str, Promise] = {
    "actions": lazy("Actions"),
    "record": lazy("Record"),
    "clients": lazy("Leads and clients"),
    "quotes": lazy("Quotes"),
    "money": lazy("Invoices and payments"),
    "prices": lazy("Price book"),
    "messages": lazy("Messages"),
    "company": lazy("Company"),
    "sandbox": lazy("Sandbox"),
    "staff": lazy("Staff"),
}
"""The sections of the index, in their order; each ModelAdmin and each page names its own."""

UNUSED = {"login", "logout", "autocomplete", "view_on_site"}


@dataclass(frozen=True)
class Page:
    """A page of the site that is not about one model."""

    route: str
    view: View
    name: str
    section: str
    label: Promise


class CompanyForm(forms.Form):
    """Which company to enter."""

    company = forms.CharField(
        label=lazy("Company"),
        max_length=254,
        help_text=lazy("Its id, or the e-mail address of somebody who belongs to it."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autofocus": True, "class": "vTextField"}),
    )
    slug = forms.CharField(
        label=lazy("Short name"),
        max_length=40,
        required=False,
        help_text=lazy("Needed only where that person belongs to several companies."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "class": "vTextField"}),
    )


class OperatorSite(admin.AdminSite):
    """Django's admin, one company at a time."""

    site_title = "Aval"
    site_header = lazy("Aval operations")
    index_title = lazy("What is on record")
    site_url = None
    empty_value_display = "–"

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self.pages: list[Page] = []
        self.disable_action("delete_selected")

    def page(self, route: str, *, name: str, section: str, label: Promise) -> Callable[[View], View]:
        """Add a page that runs inside the company's scope and is listed in its section."""

        def add(view: View) -> View:
            self.pages.append(Page(route, view, name, section, label))
            return view

        return add

    # Who may come in

    def has_permission(self, request: HttpRequest) -> bool:
        return operators.is_operator(request.user)

    def staff_only(self, view: View, cacheable: bool = False) -> View:
        """Strangers are sent to sign in; for people who are not staff there is nothing here."""
        guarded = super().admin_view(view, cacheable)

        def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated or not request.user.is_active:
                return redirect_to_login(request.get_full_path())
            if not self.has_permission(request):
                raise Http404
            response: HttpResponse = guarded(request, *args, **kwargs)
            return response

        return update_wrapper(inner, view)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        return self.staff_only(update_wrapper(inside(view), view), cacheable)

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """There is one way to sign in, the product's own."""
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            raise Http404
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))

    # Which company

    def choose(self, request: Any) -> HttpResponse:
        """Name a company to enter; the answer to a wrong name is a sentence, never a list."""
        form = CompanyForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                company_id = operators.find_company(form.cleaned_data["company"], form.cleaned_data["slug"])
            except DomainError as error:
                form.add_error(None, error.sentence)
            else:
                self._enter(request, company_id)
                return redirect(go_on_to(request) or "admin:index")
        context = {
            **self.each_context(request),
            "title": _("Choose a company"),
            "form": form,
            "next": go_on_to(request),
            "available_apps": [],
            "is_nav_sidebar_enabled": False,
        }
        with translation.override(request.user.language):
            return TemplateResponse(request, "admin/choose.html", context, status=422 if form.errors else 200).render()

    def _enter(self, request: Any, company_id: uuid.UUID) -> None:
        with door(request), tenancy.tenant(company_id):
            operators.enter_company(Company.objects.get(pk=company_id), operator=request.user)
        enter(request, company_id)

    def leave(self, request: Any) -> HttpResponse:
        """Close the company to this session again."""
        if request.method == "POST":
            operators.leave_company(request.company, operator=request.user)
            leave(request)
        return redirect("admin:company")

    # What is shown

    def get_urls(self) -> list[Any]:
        own = [
            path("login/", self.login, name="login"),
            path("logout/", LogoutView.as_view(), name="logout"),
            path("company/", self.staff_only(self.choose), name="company"),
            path("company/leave/", self.admin_view(self.leave), name="leave"),
            *(path(page.route, self.admin_view(page.view), name=page.name) for page in self.pages),
        ]
        inherited = [one for one in super().get_urls() if getattr(one, "name", None) not in UNUSED]
        return [_outside_middleware(one) for one in (*own, *inherited)]

    def each_context(self, request: Any) -> dict[str, Any]:
        company = getattr(request, "company", None)
        return {**super().each_context(request), "company": company, "log_entries": ()}

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """By section rather than by Django's apps: the nouns of one app are many."""
        if getattr(request, "company", None) is None:
            return []
        listed: dict[str, list[dict[str, Any]]] = {section: [] for section in SECTIONS}
        for app in self._build_app_dict(request, app_label).values():
            for model in app["models"]:
                own: Any = self._registry[model["model"]]
                listed[own.section].append(model | {"place": own.place})
        if app_label is None:
            for page in self.pages:
                listed[page.section].append(_as_model(page))
        return [
            {
                "name": SECTIONS[section],
                "app_label": section,
                "app_url": f"{reverse('admin:index')}#{section}",
                "has_module_perms": True,
                "models": sorted(models, key=lambda model: model["place"]),
            }
            for section, models in listed.items()
            if models
        ]

    def get_log_entries(self, request: HttpRequest) -> Any:
        """Django's own log knows no company and stays empty; what staff do stands in the audit chain."""
        return ()


def _as_model(page: Page) -> dict[str, Any]:
    """A page as the index lists models."""
    return {
        "model": None,
        "name": page.label,
        "object_name": page.name,
        "perms": {"view": True},
        "admin_url": reverse(f"admin:{page.name}"),
        "add_url": None,
        "view_only": True,
        "place": 9,
    }


def _outside_middleware(one: URLPattern | URLResolver) -> URLPattern | URLResolver:
    """Tell TenantMiddleware that the view enters a scope by itself: staff are no members of the company."""
    for inner in _patterns(one):
        if not getattr(inner.callback, "outside_tenant", False):
            inner.callback = _marked(inner.callback)
    return one


def _patterns(one: URLPattern | URLResolver) -> Iterable[URLPattern]:
    if isinstance(one, URLPattern):
        yield one
    else:
        for inner in one.url_patterns:
            yield from _patterns(inner)


def _marked(view: View) -> View:
    def marked(*args: Any, **kwargs: Any) -> HttpResponse:
        return view(*args, **kwargs)

    update_wrapper(marked, view)
    marked.outside_tenant = True  # type: ignore[attr-defined]
    return marked


site = OperatorSite()
