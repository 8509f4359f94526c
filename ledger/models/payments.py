"""Money received: payments, what they pay, and what went back."""

from typing import ClassVar

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.models.base import BusinessModel
from ledger.models.books import CURRENCY_OF_COMPANY, INVOICE_AGREES, PAYMENT_AGREES, SAME_CLIENT, agrees
from ledger.models.clients import Client
from ledger.models.frozen import Frozen
from ledger.models.invoices import Invoice
from ledger.tenancy import TenantForeignKey, TenantModel

PAYMENT_FATE = (
    "status",
    "refunded_cents",
    "pending_refund_cents",
    "search",
    "version",
    "updated_at",
    "updated_by",
)
REFUND_FATE = (
    "status",
    "provider_id",
    "problem",
    "settled_at",
    "search",
    "version",
    "updated_at",
    "updated_by",
)


class Payment(BusinessModel):
    """Money from a client. What it pays is in its allocations; what they leave is the client's credit (I8).

    Money that came through a provider carries `provider` and the provider's own `provider_id`; a payment recorded by
    hand has neither. `key` is the id of the form or action that recorded it: once (H22). `pending_refund_cents` is
    held by refunds whose outcome isn't known yet (I7).
    """

    class Method(models.TextChoices):
        CARD = "card", _("Card")
        ACH = "ach", _("Bank debit (ACH)")
        PIX = "pix", _("Pix")
        BOLETO = "boleto", _("Boleto")
        CHECK = "check", _("Check")
        CASH = "cash", _("Cash")
        TRANSFER = "transfer", _("Bank transfer")
        CREDIT = "credit", _("Credit")
        OTHER = "other", _("Other")

    class Status(models.TextChoices):
        PENDING = "pending", _("Pending")
        RECORDED = "recorded", _("Recorded by hand")
        SUCCEEDED = "succeeded", _("Received")
        PARTIALLY_REFUNDED = "partially_refunded", _("Partly refunded")
        REFUNDED = "refunded", _("Refunded")
        DISPUTED = "disputed", _("Disputed")
        REVERSED = "reversed", _("Reversed")
        FAILED = "failed", _("Failed")

    class Provider(models.TextChoices):
        """The port that money came through and goes back by."""

        CARDS = "cards", _("Card provider")
        PIX = "pix", _("Pix")

    BY_HAND: ClassVar = (Method.CHECK, Method.CASH, Method.TRANSFER, Method.OTHER)
    RECEIVED: ClassVar = (Status.RECORDED, Status.SUCCEEDED, Status.PARTIALLY_REFUNDED, Status.REFUNDED)

    client = TenantForeignKey(Client, related_name="payments")
    amount_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    method = models.CharField(max_length=10, choices=Method)
    received_on = models.DateField()
    reference = models.CharField(max_length=60, blank=True, default="")
    provider = models.CharField(max_length=8, choices=Provider, blank=True, default="")
    provider_id = models.CharField(max_length=80, blank=True, default="")
    last4 = models.CharField(max_length=4, blank=True, default="")
    fee_cents = models.BigIntegerField(default=0)
    key = models.UUIDField(null=True, editable=False)

    status = models.CharField(max_length=20, choices=Status)
    refunded_cents = models.BigIntegerField(default=0)
    pending_refund_cents = models.BigIntegerField(default=0)

    class Meta:
        verbose_name, verbose_name_plural = _("payment"), _("payments")
        constraints = (
            models.UniqueConstraint(fields=["tenant", "key"], name="payment_key_once"),
            models.UniqueConstraint(
                fields=["tenant", "provider", "provider_id"], condition=~Q(provider_id=""), name="payment_provider_once"
            ),
            models.CheckConstraint(
                condition=Q(provider="", provider_id="") | (Q(provider__in=["cards", "pix"]) & ~Q(provider_id="")),
                name="payment_provider_whole",
            ),
            models.CheckConstraint(condition=Q(amount_cents__gt=0, fee_cents__gte=0), name="payment_amount"),
            models.CheckConstraint(
                condition=Q(
                    refunded_cents__gte=0,
                    pending_refund_cents__gte=0,
                    refunded_cents__lte=F("amount_cents") - F("pending_refund_cents"),
                ),
                name="payment_refunds",
            ),
            models.CheckConstraint(
                condition=Q(
                    method__in=["card", "ach", "pix", "boleto", "check", "cash", "transfer", "credit", "other"]
                ),
                name="payment_method",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "failed", "disputed"])
                | Q(status__in=["recorded", "succeeded"], refunded_cents=0)
                | Q(status="partially_refunded", refunded_cents__gt=0, refunded_cents__lt=F("amount_cents"))
                | Q(status="refunded", refunded_cents=F("amount_cents"))
                | Q(status="reversed", pending_refund_cents=0),
                name="payment_status",
            ),
            models.CheckConstraint(condition=Q(deleted_at=None), name="payment_stays"),
        )
        indexes = (
            models.Index(fields=["tenant", "-received_on", "-id"], name="payment_recent"),
            models.Index(fields=["tenant", "client", "-received_on"], name="payment_of_client"),
        )
        triggers = (
            pgtrigger.ReadOnly(name="frozen", exclude=list(PAYMENT_FATE)),
            pgtrigger.FSM(
                name="state_table",
                field="status",
                transitions=[
                    *(("pending", after) for after in ("succeeded", "failed")),
                    ("recorded", "reversed"),
                    *(("succeeded", after) for after in ("partially_refunded", "refunded", "disputed")),
                    ("partially_refunded", "refunded"),
                    *(("disputed", after) for after in ("succeeded", "reversed")),
                ],
            ),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            CURRENCY_OF_COMPANY,
            agrees(
                pgtrigger.Insert | pgtrigger.UpdateOf("refunded_cents", "pending_refund_cents"),
                (PAYMENT_AGREES, "NEW.id"),
            ),
        )

    def __str__(self) -> str:
        return self.ref

    @property
    def is_by_hand(self) -> bool:
        return not self.provider

    @property
    def refundable_cents(self) -> int:
        """What can still go back: paid, less what went back and what is on its way."""
        return self.amount_cents - self.refunded_cents - self.pending_refund_cents

    @property
    def net_cents(self) -> int:
        """What stayed of it (H21): income counts this."""
        return self.amount_cents - self.refunded_cents if self.status in self.RECEIVED else 0


class Allocation(TenantModel):
    """How much of a payment pays an invoice. A refund lowers it; the row stays. One for each pair."""

    payment = TenantForeignKey(Payment, related_name="allocations")
    invoice = TenantForeignKey(Invoice, related_name="allocations")
    amount_cents = models.BigIntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("allocation"), _("allocations")
        constraints = (
            models.UniqueConstraint(fields=["payment", "invoice"], name="allocation_once"),
            models.CheckConstraint(condition=Q(amount_cents__gte=0), name="allocation_amount"),
        )
        indexes = (models.Index(fields=["invoice"], name="allocation_of_invoice"),)
        triggers = (
            pgtrigger.ReadOnly(name="frozen", exclude=["amount_cents"]),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            SAME_CLIENT,
            agrees(
                pgtrigger.Insert | pgtrigger.Update,
                (PAYMENT_AGREES, "NEW.payment_id"),
                (INVOICE_AGREES, "NEW.invoice_id"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.payment_id} {self.invoice_id}"


class Refund(BusinessModel):
    """Money on its way back. The row is made before the provider is asked and holds the amount meanwhile (I7).

    `key` is the id under which the provider is asked: once, ever (H60). `settles` lists what it takes from which
    invoice ({"invoice", "ref", "cents"}), `from_credit_cents` what it takes from the client's credit; both are
    decided when it is reserved. Where the client shall not owe the amount again, credit notes are made with it.
    """

    class Reason(models.TextChoices):
        DUPLICATE = "duplicate", _("Paid twice")
        SERVICE_ISSUE = "service_issue", _("Problem with the work")
        CANCELLED = "cancelled", _("Cancelled")
        OVERCHARGE = "overcharge", _("Charged too much")
        GOODWILL = "goodwill", _("Goodwill")
        OTHER = "other", _("Other")

    class Status(models.TextChoices):
        RESERVED = "reserved", _("On its way")
        SUCCEEDED = "succeeded", _("Refunded")
        FAILED = "failed", _("Not refunded")

    CREDITED: ClassVar = (Reason.SERVICE_ISSUE, Reason.CANCELLED, Reason.OVERCHARGE, Reason.GOODWILL)

    payment = TenantForeignKey(Payment, related_name="refunds")
    amount_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=14, choices=Reason)
    note = models.CharField(max_length=500, blank=True, default="")
    key = models.UUIDField(editable=False)
    provider = models.CharField(max_length=8, choices=Payment.Provider)
    settles = models.JSONField(default=list)
    from_credit_cents = models.BigIntegerField(default=0)

    status = models.CharField(max_length=10, choices=Status, default=Status.RESERVED)
    provider_id = models.CharField(max_length=80, blank=True, default="")
    problem = models.CharField(max_length=40, blank=True, default="")
    settled_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("refund"), _("refunds")
        constraints = (
            models.UniqueConstraint(fields=["tenant", "key"], name="refund_key_once"),
            models.UniqueConstraint(
                fields=["tenant", "provider", "provider_id"], condition=~Q(provider_id=""), name="refund_provider_once"
            ),
            models.CheckConstraint(
                condition=Q(amount_cents__gt=0, from_credit_cents__gte=0, from_credit_cents__lte=F("amount_cents")),
                name="refund_amount",
            ),
            models.CheckConstraint(
                condition=Q(reason__in=["duplicate", "service_issue", "cancelled", "overcharge", "goodwill", "other"]),
                name="refund_reason",
            ),
            models.CheckConstraint(
                condition=Q(status="reserved", settled_at=None)
                | Q(status__in=["succeeded", "failed"], settled_at__isnull=False),
                name="refund_status",
            ),
            models.CheckConstraint(condition=Q(deleted_at=None), name="refund_stays"),
        )
        indexes = (models.Index(fields=["payment", "created_at"], name="refund_of_payment"),)
        triggers = (
            pgtrigger.Protect(name="frozen", operation=pgtrigger.Update, condition=Frozen("TRUE", but=REFUND_FATE)),
            pgtrigger.FSM(
                name="state_table", field="status", transitions=[("reserved", "succeeded"), ("reserved", "failed")]
            ),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            agrees(pgtrigger.Insert | pgtrigger.UpdateOf("status"), (PAYMENT_AGREES, "NEW.payment_id")),
        )
