"""The company's people and its settings as they were at each moment."""

import json
from typing import Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from ledger.admin.reading import ReadingAdmin, column, register, titled, told
from ledger.models import Membership, SettingsVersion


def readable(value: Any) -> SafeString:
    """JSON as people read it, in lines."""
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True))


@register(Membership)
class MembershipAdmin(ReadingAdmin):
    """Members change by the company's own hand; staff only look."""

    section = "company"
    list_display = (
        column("ref", _("Ref")),
        column("name", _("Name")),
        column("user__email", _("E-mail")),
        column("role", _("Role")),
        column("approve_l3", _("Approves level 3"), boolean=True),
        column("active", _("Active"), boolean=True),
        column("created_at", _("Since")),
    )
    list_filter = (("role", titled(_("Role"))), ("active", titled(_("Active"), admin.BooleanFieldListFilter)))
    list_select_related = ("user",)
    search_fields = ("ref", "name", "user__email")
    ordering = ("created_at", "id")
    rows = (
        column("ref", _("Ref")),
        column("name", _("Name")),
        column("user__email", _("E-mail")),
        column("phone", _("Phone")),
        column("role", _("Role")),
        column("approve_l3", _("Approves level 3"), boolean=True),
        column("discount_limit", _("Discount limit in percent")),
        column("timezone", _("Time zone")),
        column("active", _("Active"), boolean=True),
        column("epoch", _("Changes of rights")),
        column("created_at", _("Since")),
    )


@register(SettingsVersion)
class SettingsVersionAdmin(ReadingAdmin):
    section = "company"
    list_display = (
        column("number", _("Version")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
    )
    list_select_related = ("created_by",)
    ordering = ("-number",)
    rows = (
        column("number", _("Version")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
        told(_("Values"), lambda version: readable(version.values), "values"),
    )
