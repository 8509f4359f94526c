"""Pending actions: what was shown and what ran, side by side. Nothing here can rewrite the past.

The one deed is to settle what is in doubt, with a note (R11); it leads to the gate like everybody else's.
"""

import uuid
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from assistant.doors import wording
from assistant.doors.record import evidence, story
from assistant.gate import reconciliation
from assistant.models import PendingAction, Status
from assistant.tools import registry
from ledger.admin.reading import ReadingAdmin, column, register, titled, told
from ledger.errors import DomainError
from ledger.models import StoredDocument

LEVELS = ((1, "L1"), (2, "L2"), (3, "L3"))


class SettleForm(forms.Form):
    """What became of an action in doubt, by the word of a person who knows."""

    outcome = forms.ChoiceField(
        label=lazy("What became of it?"),
        choices=(
            ("executed", lazy("It was done: the provider has it on record")),
            ("failed", lazy("It was not done: the provider has nothing of it")),
        ),
        widget=forms.RadioSelect,
    )
    reference = forms.CharField(
        label=lazy("Provider's reference"),
        max_length=80,
        required=False,
        help_text=lazy("Where it was done and the provider gives one."),
    )
    note = forms.CharField(
        label=lazy("Note: how do you know?"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=lazy("It stays on record, and the company's people read it."),
    )


class ToolFilter(admin.SimpleListFilter):
    title = lazy("Tool")
    parameter_name = "tool"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        gated = [made for made in registry.TOOLS.values() if made.gated]
        return [(made.name, made.label) for made in sorted(gated, key=lambda made: made.name)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(tool=self.value()) if self.value() else queryset


class LevelFilter(admin.SimpleListFilter):
    title = lazy("Level")
    parameter_name = "level"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return LEVELS

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        known = self.value() in {str(level) for level, _label in LEVELS}
        return queryset.filter(level=self.value()) if known else queryset


@register(PendingAction)
class PendingActionAdmin(ReadingAdmin):
    section = "actions"
    list_display = (
        column("summary", lazy("What was asked for")),
        column("status", lazy("Status")),
        told(lazy("Tool"), lambda action: wording.tool_label(action.tool), "tool"),
        told(lazy("Level"), lambda action: f"L{action.level}", "level"),
        column("requester", lazy("Asked for by")),
        column("created_at", lazy("Asked at")),
        column("expires_at", lazy("Expires")),
    )
    list_filter = (("status", titled(lazy("Status"))), LevelFilter, ToolFilter)
    list_select_related = ("requester",)
    search_fields = ("summary",)
    search_help_text = lazy("Words of the summary, or the whole id of an action.")
    ordering = ("-id",)

    def get_urls(self) -> list[Any]:
        own = [
            path("<uuid:action_id>/settle/", self.admin_site.admin_view(self.settle), name="action_settle"),
            path("<uuid:action_id>/document/", self.admin_site.admin_view(self.document), name="action_document"),
            path("<uuid:action_id>/page/", self.admin_site.admin_view(self.page), name="action_page"),
        ]
        return [*own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The action's page."""
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        return self._show(request, self.get_object(request, object_id))

    def settle(self, request: Any, action_id: uuid.UUID) -> HttpResponse:
        """POST: say what became of an action in doubt. What the gate refuses is said on the page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        action = self.get_object(request, str(action_id))
        form = SettleForm(request.POST)
        if not form.is_valid():
            return self._show(request, action, form=form, status=422)
        given = form.cleaned_data
        try:
            reconciliation.settle(
                action.pk,
                by=None,
                operator=request.user,
                done=given["outcome"] == "executed",
                note=given["note"],
                reference=given["reference"],
            )
        except DomainError as error:
            messages.error(request, error.sentence)
            action = self.get_object(request, str(action_id))
            return self._show(request, action, form=form, status=409)
        messages.success(request, _("It is settled, and your note is on record."))
        return redirect("admin:assistant_pendingaction_change", action.pk)

    def document(self, request: HttpRequest, action_id: uuid.UUID) -> HttpResponse:
        """The file that was to go out: exactly the bytes whose hash the card shows."""
        stored = self._stored(request, action_id)
        return _bytes(stored.content, "application/pdf", f'inline; filename="{stored.sha256[:12]}.pdf"')

    def page(self, request: HttpRequest, action_id: uuid.UUID) -> HttpResponse:
        """Its first page as a picture."""
        return _bytes(self._stored(request, action_id).preview, "image/png", "inline")

    def _stored(self, request: HttpRequest, action_id: uuid.UUID) -> StoredDocument:
        attached = self.get_object(request, str(action_id)).preview.get("document") or {}
        found: StoredDocument = get_object_or_404(StoredDocument, sha256=attached.get("sha256", ""))
        return found

    def _show(
        self, request: Any, action: PendingAction, *, form: SettleForm | None = None, status: int = 200
    ) -> HttpResponse:
        whole = story.of(action)
        with translation.override(action.language):
            card = render_to_string(
                "admin/actions/card.html",
                {"card": evidence.as_shown(whole.action, image="admin:action_page", file="admin:action_document")},
            )
        context = {
            **self.admin_site.each_context(request),
            "title": wording.tool_label(action.tool),
            "opts": self.opts,
            "story": whole,
            "card": card,
            "form": form or SettleForm(),
            "in_doubt": action.status == Status.IN_DOUBT,
        }
        return TemplateResponse(request, "admin/actions/action.html", context, status=status)


def _bytes(content: Any, kind: str, disposition: str) -> HttpResponse:
    response = HttpResponse(bytes(content), content_type=kind)
    response["Content-Disposition"] = disposition
    response["X-Content-Type-Options"] = "nosniff"
    return response
