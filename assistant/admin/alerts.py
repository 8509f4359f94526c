"""What a person has to look at, open first."""

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as lazy

from assistant.gate import alerts
from assistant.models import Alert
from ledger.admin.reading import ReadingAdmin, column, register, told


def kind(alert: Alert) -> str:
    return alerts.word(alert.kind)


class HandledFilter(admin.SimpleListFilter):
    title = lazy("Handled")
    parameter_name = "handled"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [("no", lazy("Still open")), ("yes", lazy("Handled"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = {"no": True, "yes": False}.get(self.value() or "")
        return queryset if wanted is None else queryset.filter(handled_at__isnull=wanted)


@register(Alert)
class AlertAdmin(ReadingAdmin):
    """An alert is handled by settling its action, so there is nothing to press here."""

    section = "actions"
    place = 1
    list_display = (
        told(lazy("What"), kind, "kind"),
        column("action__summary", lazy("Action")),
        column("raised_at", lazy("Raised")),
        column("handled_at", lazy("Handled")),
        column("handled_by", lazy("Handled by")),
    )
    list_filter = (HandledFilter,)
    list_select_related = ("action", "handled_by")
    search_fields = ("action__summary", "note")
    ordering = (F("handled_at").desc(nulls_first=True), "-raised_at", "-id")
    rows = (
        told(lazy("What"), kind, "kind"),
        column("action", lazy("Action")),
        column("action__summary", lazy("What was asked for")),
        column("raised_at", lazy("Raised")),
        column("handled_at", lazy("Handled")),
        column("handled_by", lazy("Handled by")),
        column("note", lazy("Note")),
    )
