"""Invoices line by line, and the credit notes against them."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ledger.admin.reading import ReadingAdmin, ReadingInline, column, money, register, titled
from ledger.models import Allocation, CreditNote, Invoice, InvoiceLine


def of_invoice(row: Any) -> str:
    return str(row.invoice.currency)


class Lines(ReadingInline):
    model = InvoiceLine
    rows = (
        column("position", _("No.")),
        column("description", _("Description")),
        column("quantity", _("Quantity")),
        column("unit", _("Unit")),
        column("unit_price", _("Unit price")),
        column("tax_rate", _("Tax in percent")),
        money("net_total_cents", _("Amount"), of_invoice),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[InvoiceLine]:
        return super().get_queryset(request).select_related("invoice")


class PaidBy(ReadingInline):
    model = Allocation
    fk_name = "invoice"
    ordering = ("created_at", "id")
    verbose_name_plural = _("Paid by")
    rows = (
        column("payment", _("Payment")),
        money("amount_cents", _("Amount"), of_invoice),
        column("created_at", _("When")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Allocation]:
        return super().get_queryset(request).select_related("invoice", "payment")


@register(Invoice)
class InvoiceAdmin(ReadingAdmin):
    section = "money"
    list_display = (
        column("ref", _("Number")),
        column("client", _("Client")),
        column("title", _("Title")),
        column("status", _("Status")),
        money("total_cents", _("Total")),
        money("balance_cents", _("Still to be paid")),
        column("issued_on", _("Issued")),
        column("due_on", _("Due")),
        column("created_at", _("Made")),
    )
    list_filter = (("status", titled(_("Status"))),)
    search_fields = ("ref", "draft_ref", "title", "search")
    ordering = ("-created_at", "-id")
    inlines = (Lines, PaidBy)
    rows = (
        column("ref", _("Number")),
        column("draft_ref", _("Number as a draft")),
        column("client", _("Client")),
        column("quote", _("Quote")),
        column("quote_part", _("Part of the quote")),
        column("title", _("Title")),
        column("status", _("Status")),
        money("subtotal_total_cents", _("Subtotal")),
        money("discount_total_cents", _("Discount")),
        money("tax_total_cents", _("Tax")),
        money("total_cents", _("Total")),
        money("credited_cents", _("Credited")),
        money("allocated_cents", _("Paid")),
        money("written_off_cents", _("Written off")),
        money("balance_cents", _("Still to be paid")),
        column("settings__number", _("Settings version")),
        column("document__sha256", _("Document's SHA-256")),
        column("issued_on", _("Issued")),
        column("due_on", _("Due")),
        column("sent_at", pgettext_lazy("invoice", "Sent")),
        column("viewed_at", _("Seen by the client")),
        column("voided_at", _("Voided")),
        column("disputed", _("Disputed"), boolean=True),
        column("notes", _("Notes")),
        column("version", _("Version")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
        column("created_via", _("Made through")),
        column("updated_at", _("Changed")),
        column("deleted_at", _("In the trash since")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invoice]:
        """Without the document's bytes."""
        whole = super().get_queryset(request).select_related("client", "settings", "document")
        return whole.defer("document__content", "document__preview")


@register(CreditNote)
class CreditNoteAdmin(ReadingAdmin):
    section = "money"
    list_display = (
        column("ref", _("Number")),
        column("invoice", _("Invoice")),
        money("amount_cents", _("Amount")),
        column("reason", _("Reason")),
        column("issued_on", _("Issued")),
    )
    list_select_related = ("invoice",)
    search_fields = ("ref", "reason")
    ordering = ("-created_at", "-id")
    rows = (
        column("ref", _("Number")),
        column("invoice", _("Invoice")),
        money("amount_cents", _("Amount")),
        money("tax_total_cents", _("Tax in it")),
        column("reason", _("Reason")),
        column("issued_on", _("Issued")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
    )
