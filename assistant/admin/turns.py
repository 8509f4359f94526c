"""Turns of the agent with their calls: how they went, not what was said in them (settled question 17)."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as lazy

from assistant.doors import wording
from assistant.doors.record.evidence import STATES, state
from assistant.models import ToolCall, Turn
from ledger.admin.reading import ReadingAdmin, ReadingInline, column, register, told


def door(turn: Turn) -> str:
    return str(wording.DOORS.get(turn.door, turn.door))


class StateFilter(admin.SimpleListFilter):
    title = lazy("Status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [(status.value, STATES[status.value]) for status in Turn.Status]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(status=self.value()) if self.value() else queryset


class Calls(ReadingInline):
    model = ToolCall
    ordering = ("message__position", "index")
    rows = (
        column("name", lazy("Tool")),
        told(lazy("Status"), state, "status"),
        column("call_id", lazy("Id of the call")),
        column("action", lazy("Action")),
        column("started_at", lazy("Begun")),
        column("ended_at", lazy("Ended")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolCall]:
        return super().get_queryset(request).select_related("action")


@register(Turn)
class TurnAdmin(ReadingAdmin):
    section = "actions"
    place = 2
    list_display = (
        column("id", lazy("Id")),
        told(lazy("Status"), state, "status"),
        column("member", lazy("Of")),
        column("calls", lazy("Model calls")),
        column("tokens", lazy("Tokens")),
        column("problem", lazy("Problem")),
        column("created_at", lazy("Asked")),
        column("ended_at", lazy("Ended")),
    )
    list_filter = (StateFilter,)
    list_select_related = ("member",)
    search_fields = ("problem",)
    search_help_text = lazy("A problem, or the whole id of a turn.")
    ordering = ("-id",)
    inlines = (Calls,)
    rows = (
        column("id", lazy("Id")),
        column("conversation_id", lazy("Id of the conversation")),
        column("ordinal", lazy("No. in the conversation")),
        told(lazy("Status"), state, "status"),
        column("member", lazy("Of")),
        told(lazy("Through"), door, "door"),
        column("calls", lazy("Model calls")),
        column("tokens", lazy("Tokens")),
        column("problem", lazy("Problem")),
        column("stop_requested", lazy("Asked to stop"), boolean=True),
        column("created_at", lazy("Asked")),
        column("started_at", lazy("Begun")),
        column("lease_until", lazy("Claim held until")),
        column("ended_at", lazy("Ended")),
    )
