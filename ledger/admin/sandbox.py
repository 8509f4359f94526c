"""How the sandbox providers behave for the company, and what they were asked: for demonstrations and drills."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_http_methods

from ledger import audit, operators
from ledger.admin.company import readable
from ledger.admin.reading import ReadingAdmin, column, register, titled, told
from ledger.admin_site import site
from ledger.models import SandboxDelivery, SandboxKnob
from ledger.providers.sandbox import set_knob

PORTS = (("mail", lazy("Mail")), ("cards", lazy("Cards")), ("pix", lazy("Pix")))
MOST_CALLS, MOST_DELAY_MS = 1000, 30_000


class KnobForm(forms.Form):
    """What the next calls of one port meet."""

    port = forms.ChoiceField(label=lazy("Provider"), choices=PORTS)
    mode = forms.ChoiceField(label=lazy("Behaviour"), choices=SandboxKnob.Mode.choices)
    remaining = forms.IntegerField(
        label=lazy("Number of calls"),
        min_value=1,
        max_value=MOST_CALLS,
        required=False,
        help_text=lazy("So many calls, then it works again. Empty: until it is changed."),
    )
    delay_ms = forms.IntegerField(
        label=lazy("Milliseconds before the answer"), min_value=0, max_value=MOST_DELAY_MS, initial=0, required=False
    )


@site.page("sandbox/", name="sandbox", section="sandbox", label=lazy("Behaviour of the sandbox"))
@require_http_methods(["GET", "HEAD", "POST"])
def knobs(request: Any) -> HttpResponse:
    """The knobs as they stand; POST turns one."""
    form = KnobForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        _turn(request, **form.cleaned_data)
        messages.success(request, _("From now on the sandbox behaves so."))
        return redirect("admin:sandbox")
    context = {
        **site.each_context(request),
        "title": _("Behaviour of the sandbox"),
        "form": form,
        "knobs": _as_they_stand(),
    }
    return TemplateResponse(request, "admin/sandbox.html", context, status=422 if form.errors else 200)


def _turn(request: Any, *, port: str, mode: str, remaining: int | None, delay_ms: int | None) -> None:
    delay = delay_ms or 0
    set_knob(request.company.pk, port, SandboxKnob.Mode(mode), remaining=remaining, delay_ms=delay)
    who = operators.named(request.user)
    audit.record("sandbox.set", by=None, operator=who, port=port, mode=mode, remaining=remaining, delay_ms=delay)


def _as_they_stand() -> list[tuple[Any, SandboxKnob]]:
    """Each port with its knob; one that was never turned works."""
    turned = {knob.port: knob for knob in SandboxKnob.objects.all()}
    return [(label, turned.get(port) or SandboxKnob(port=port)) for port, label in PORTS]


@register(SandboxDelivery)
class SandboxDeliveryAdmin(ReadingAdmin):
    section = "sandbox"
    list_display = (
        column("port", lazy("Provider")),
        column("key", lazy("Key")),
        column("status", lazy("Status")),
        column("requests", lazy("Times asked")),
        column("created_at", lazy("First asked")),
        column("updated_at", lazy("Last asked")),
    )
    list_filter = (("status", titled(lazy("Status"))),)
    search_fields = ("key",)
    ordering = ("-created_at", "-id")
    rows = (
        column("port", lazy("Provider")),
        column("key", lazy("Key")),
        column("status", lazy("Status")),
        column("requests", lazy("Times asked")),
        column("created_at", lazy("First asked")),
        column("updated_at", lazy("Last asked")),
        told(lazy("What was asked"), lambda delivery: readable(delivery.payload), "payload"),
    )

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Keys are ids of actions, so an id is sought as a key."""
        term = search_term.strip()
        return (queryset.filter(key__startswith=term) if term else queryset), False
