"""Payments, what they pay, and what went back."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from ledger.admin.reading import ReadingAdmin, ReadingInline, column, money, register, titled
from ledger.models import Allocation, Payment, Refund


def of_payment(row: Any) -> str:
    return str(row.payment.currency)


class Pays(ReadingInline):
    model = Allocation
    fk_name = "payment"
    ordering = ("created_at", "id")
    verbose_name_plural = _("Pays")
    rows = (
        column("invoice", _("Invoice")),
        money("amount_cents", _("Amount"), of_payment),
        column("created_at", _("When")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Allocation]:
        return super().get_queryset(request).select_related("invoice", "payment")


class Refunds(ReadingInline):
    model = Refund
    fk_name = "payment"
    show_change_link = True
    ordering = ("created_at", "id")
    rows = (
        column("ref", _("Ref")),
        column("status", _("Status")),
        money("amount_cents", _("Amount")),
        column("reason", _("Reason")),
        column("settled_at", _("Settled")),
    )


@register(Payment)
class PaymentAdmin(ReadingAdmin):
    section = "money"
    list_display = (
        column("ref", _("Ref")),
        column("client", _("Client")),
        money("amount_cents", _("Amount")),
        column("method", _("Method")),
        column("status", _("Status")),
        money("refunded_cents", _("Refunded")),
        column("provider", _("Provider")),
        column("received_on", _("Received")),
    )
    list_filter = (("status", titled(_("Status"))), ("method", titled(_("Method"))))
    list_select_related = ("client",)
    search_fields = ("ref", "reference", "provider_id", "search")
    ordering = ("-received_on", "-id")
    inlines = (Pays, Refunds)
    rows = (
        column("ref", _("Ref")),
        column("client", _("Client")),
        money("amount_cents", _("Amount")),
        column("method", _("Method")),
        column("status", _("Status")),
        column("received_on", _("Received")),
        column("reference", _("Reference")),
        column("provider", _("Provider")),
        column("provider_id", _("Provider's reference")),
        column("last4", _("Card ends in")),
        money("fee_cents", _("Fee")),
        money("refunded_cents", _("Refunded")),
        money("pending_refund_cents", _("Refunds on their way")),
        column("key", _("Key")),
        column("version", _("Version")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
        column("created_via", _("Made through")),
        column("updated_at", _("Changed")),
    )


@register(Refund)
class RefundAdmin(ReadingAdmin):
    section = "money"
    list_display = (
        column("ref", _("Ref")),
        column("payment", _("Payment")),
        money("amount_cents", _("Amount")),
        column("reason", _("Reason")),
        column("status", _("Status")),
        column("provider_id", _("Provider's reference")),
        column("created_at", _("Made")),
        column("settled_at", _("Settled")),
    )
    list_filter = (("status", titled(_("Status"))), ("reason", titled(_("Reason"))))
    list_select_related = ("payment",)
    search_fields = ("ref", "provider_id", "search")
    ordering = ("-created_at", "-id")
    rows = (
        column("ref", _("Ref")),
        column("payment", _("Payment")),
        money("amount_cents", _("Amount")),
        money("from_credit_cents", _("Taken from the client's credit")),
        column("reason", _("Reason")),
        column("note", _("Note")),
        column("status", _("Status")),
        column("provider", _("Provider")),
        column("provider_id", _("Provider's reference")),
        column("problem", _("Problem")),
        column("key", _("Key at the provider")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
        column("settled_at", _("Settled")),
    )
