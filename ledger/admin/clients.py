"""Clients with the people who speak for them and their sites."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from ledger.admin.reading import ReadingAdmin, ReadingInline, column, register, titled
from ledger.models import Client, Contact, Site


class Contacts(ReadingInline):
    model = Contact
    rows = (
        column("name", _("Name")),
        column("role", _("Documents")),
        column("main", _("Main contact"), boolean=True),
        column("email", _("E-mail")),
        column("phone", _("Phone")),
        column("email_changed_at", _("E-mail changed")),
    )


class Sites(ReadingInline):
    model = Site
    rows = (column("ref", _("Ref")), column("label", _("Label")), column("address", _("Address")))


@register(Client)
class ClientAdmin(ReadingAdmin):
    section = "clients"
    list_display = (
        column("ref", _("Ref")),
        column("name", _("Name")),
        column("kind", _("Kind")),
        column("language", _("Language")),
        column("city", _("City")),
        column("created_at", _("Made")),
        column("archived_at", _("Archived")),
        column("deleted_at", _("In the trash since")),
    )
    list_filter = (("kind", titled(_("Kind"))), ("blocked", titled(_("Blocked"), admin.BooleanFieldListFilter)))
    search_fields = ("ref", "name", "search")
    ordering = ("-created_at", "-id")
    inlines = (Contacts, Sites)
    rows = (
        column("ref", _("Ref")),
        column("name", _("Name")),
        column("kind", _("Kind")),
        column("tax_id_masked", _("Tax id")),
        column("language", _("Language")),
        column("address", _("Address")),
        column("terms_days", _("Days to pay")),
        column("tags", _("Tags")),
        column("blocked", _("Blocked"), boolean=True),
        column("version", _("Version")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
        column("created_via", _("Made through")),
        column("updated_at", _("Changed")),
        column("updated_by", _("Changed by")),
        column("archived_at", _("Archived")),
        column("deleted_at", _("In the trash since")),
    )
