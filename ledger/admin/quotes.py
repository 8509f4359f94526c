"""Quotes, their revisions line by line, and what the client accepted."""

from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ledger.admin.reading import ReadingAdmin, ReadingInline, column, money, register, titled
from ledger.models import Acceptance, Quote, QuoteLine, QuoteRevision


def of_quote(revision: Any) -> str:
    return str(revision.quote.currency)


def of_revision(row: Any) -> str:
    return str(row.revision.quote.currency)


class Revisions(ReadingInline):
    model = QuoteRevision
    show_change_link = True
    ordering = ("-n",)
    rows = (
        column("n", _("Revision")),
        column("status", _("Status")),
        money("total_cents", _("Total"), of_quote),
        column("valid_until", _("Valid until")),
        column("sent_at", pgettext_lazy("revision", "Sent")),
        column("viewed_at", _("Seen by the client")),
        column("views", _("Times seen")),
        column("declined_at", _("Declined")),
    )


@register(Quote)
class QuoteAdmin(ReadingAdmin):
    section = "quotes"
    list_display = (
        column("ref", _("Ref")),
        column("title", _("Title")),
        column("party", _("For"), order="client__name"),
        column("status", _("Status")),
        money("newest_total", _("Total")),
        column("revision", _("Revision")),
        column("owner", _("Owner")),
        column("created_at", _("Made")),
        column("deleted_at", _("In the trash since")),
    )
    list_filter = (("status", titled(_("Status"))),)
    list_select_related = ("client", "lead", "owner")
    search_fields = ("ref", "title", "search")
    ordering = ("-created_at", "-id")
    inlines = (Revisions,)
    rows = (
        column("ref", _("Ref")),
        column("title", _("Title")),
        column("party", _("For")),
        column("site", _("Site")),
        column("status", _("Status")),
        money("newest_total", _("Total")),
        column("owner", _("Owner")),
        column("valid_days", _("Days it is valid")),
        column("version", _("Version")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
        column("created_via", _("Made through")),
        column("updated_at", _("Changed")),
        column("deleted_at", _("In the trash since")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Quote]:
        """With the total of the newest revision, in cents."""
        newest = QuoteRevision.objects.filter(quote=OuterRef("pk"), n=OuterRef("revision"))
        return super().get_queryset(request).annotate(newest_total=Subquery(newest.values("total_cents")[:1]))


class Lines(ReadingInline):
    model = QuoteLine
    rows = (
        column("position", _("No.")),
        column("description", _("Description")),
        column("quantity", _("Quantity")),
        column("unit", _("Unit")),
        column("unit_price", _("Unit price")),
        column("tax_rate", _("Tax in percent")),
        column("optional", _("Optional"), boolean=True),
        column("selected", _("Selected"), boolean=True),
        money("net_total_cents", _("Amount"), of_revision),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[QuoteLine]:
        return super().get_queryset(request).select_related("revision__quote")


class Acceptances(ReadingInline):
    model = Acceptance
    rows = (
        column("at", _("When")),
        column("signer_name", _("Name")),
        money("total_cents", _("Total"), of_revision),
        column("address", _("From where")),
        column("document_sha256", _("Document's SHA-256")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Acceptance]:
        return super().get_queryset(request).select_related("revision__quote")


@register(QuoteRevision)
class QuoteRevisionAdmin(ReadingAdmin):
    """What one revision says; its quote leads here, so the index does not."""

    section = "quotes"
    list_display = (
        column("quote", _("Quote")),
        column("n", _("Revision")),
        column("status", _("Status")),
        money("total_cents", _("Total"), of_quote),
        column("sent_at", pgettext_lazy("revision", "Sent")),
    )
    list_filter = (("status", titled(_("Status"))),)
    ordering = ("-created_at", "-id")
    inlines = (Lines, Acceptances)
    rows = (
        column("quote", _("Quote")),
        column("n", _("Revision")),
        column("status", _("Status")),
        money("subtotal_total_cents", _("Subtotal"), of_quote),
        money("discount_total_cents", _("Discount"), of_quote),
        money("tax_total_cents", _("Tax"), of_quote),
        money("total_cents", _("Total"), of_quote),
        money("deposit_total_cents", _("Deposit"), of_quote),
        column("settings__number", _("Settings version")),
        column("terms", _("Terms")),
        column("valid_until", _("Valid until")),
        column("document__sha256", _("Document's SHA-256")),
        column("frozen_at", _("Frozen")),
        column("sent_at", pgettext_lazy("revision", "Sent")),
        column("viewed_at", _("Seen by the client")),
        column("views", _("Times seen")),
        column("declined_at", _("Declined")),
        column("decline_reason", _("Why declined")),
        column("requested_at", _("Changes asked for")),
        column("request", _("What was asked for")),
    )

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[QuoteRevision]:
        """Without the document's bytes."""
        whole = super().get_queryset(request).select_related("quote", "settings", "document")
        return whole.defer("document__content", "document__preview")
