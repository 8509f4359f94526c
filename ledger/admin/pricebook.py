"""The price book, each item with its prices."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ledger.admin.reading import ReadingAdmin, ReadingInline, column, register, titled
from ledger.models import PriceItem, PriceVersion


class Prices(ReadingInline):
    model = PriceVersion
    ordering = ("-valid_from", "-number")
    rows = (
        column("number", _("No.")),
        column("valid_from", pgettext_lazy("date", "From")),
        column("unit_price", _("Unit price")),
        column("unit_cost", _("Unit cost")),
        column("tax_rate", _("Tax in percent")),
        column("created_at", _("Made")),
    )


@register(PriceItem)
class PriceItemAdmin(ReadingAdmin):
    section = "prices"
    list_display = (
        column("code", _("Code")),
        column("name", _("Name")),
        column("kind", _("Kind")),
        column("category", _("Category")),
        column("unit", _("Unit")),
        column("active", _("In use"), boolean=True),
        column("updated_at", _("Changed")),
    )
    list_filter = (("kind", titled(_("Kind"))), ("active", titled(_("In use"), admin.BooleanFieldListFilter)))
    search_fields = ("code", "name", "search")
    ordering = ("code", "id")
    inlines = (Prices,)
    rows = (
        column("ref", _("Ref")),
        column("code", _("Code")),
        column("name", _("Name")),
        column("kind", _("Kind")),
        column("category", _("Category")),
        column("unit", _("Unit")),
        column("active", _("In use"), boolean=True),
        column("version", _("Version")),
        column("created_at", _("Made")),
        column("updated_at", _("Changed")),
        column("deleted_at", _("In the trash since")),
    )
