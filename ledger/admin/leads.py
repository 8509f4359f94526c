"""Leads and the way each one went."""

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from ledger.admin.reading import ReadingAdmin, ReadingInline, column, money, register, titled
from ledger.models import Lead, StageChange


class Steps(ReadingInline):
    model = StageChange
    ordering = ("at", "id")
    rows = (
        column("at", _("When")),
        column("from_stage", _("From")),
        column("to_stage", _("To")),
        column("lost_reason", _("Why lost")),
        column("note", _("Note")),
        column("by", _("By")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[StageChange]:
        return super().get_queryset(request).select_related("by")


@register(Lead)
class LeadAdmin(ReadingAdmin):
    section = "clients"
    list_display = (
        column("ref", _("Ref")),
        column("name", _("Name")),
        column("stage", _("Stage")),
        money("value_cents", _("Expected value"), lambda lead: str(lead.tenant.currency)),
        column("owner", _("Owner")),
        column("source", _("Source")),
        column("created_at", _("Made")),
        column("deleted_at", _("In the trash since")),
    )
    list_filter = (("stage", titled(_("Stage"))),)
    list_select_related = ("owner", "tenant")
    search_fields = ("ref", "name", "search")
    ordering = ("-created_at", "-id")
    inlines = (Steps,)
    rows = (
        column("ref", _("Ref")),
        column("name", _("Name")),
        column("stage", _("Stage")),
        column("lost_reason", _("Why lost")),
        column("phone", _("Phone")),
        column("email", _("E-mail")),
        column("address", _("Address")),
        column("source", _("Source")),
        column("service", _("Service")),
        money("value_cents", _("Expected value"), lambda lead: str(lead.tenant.currency)),
        column("owner", _("Owner")),
        column("converted_client", _("Became client")),
        column("converted_at", _("Became client on")),
        column("version", _("Version")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
        column("created_via", _("Made through")),
        column("updated_at", _("Changed")),
        column("deleted_at", _("In the trash since")),
    )
