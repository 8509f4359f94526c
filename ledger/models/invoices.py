"""Invoices: what a client owes, numbered without gaps, frozen from the moment of the number (I4, I5)."""

from datetime import date
from typing import ClassVar

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ledger.cents import Rounding
from ledger.models.base import BusinessModel
from ledger.models.books import CURRENCY_OF_COMPANY, INVOICE_AGREES, NUMBER_IN_LINE, agrees
from ledger.models.clients import Client
from ledger.models.frozen import Frozen
from ledger.models.invoice_states import FATE, TRANSITIONS
from ledger.money import MoneySettings, Portion, TaxMode, TaxRounding
from ledger.tenancy import TenantForeignKey


class Invoice(BusinessModel):
    """A bill. A draft goes by its `draft_ref` (D-0012) and has no number; once issued `ref` is its number.

    `series` and `serial` are the parts of the number that order and gaplessness are decided by (H17). Totals are in
    cents as `ledger.money` computed them from the lines (I3); `balance_cents` is what is still to be paid. Whether it
    is overdue is told by the company's day and never stored.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        ISSUED = "issued", _("Issued")
        SENT = "sent", pgettext_lazy("invoice", "Sent")
        VIEWED = "viewed", pgettext_lazy("invoice", "Viewed")
        PARTIALLY_PAID = "partially_paid", _("Partially paid")
        PAID = "paid", pgettext_lazy("invoice", "Paid")
        VOID = "void", _("Void")
        WRITTEN_OFF = "written_off", pgettext_lazy("invoice", "Written off")

    class Part(models.TextChoices):
        """How much of its quote an invoice bills: all of it, a percentage, or what the parts before left (H06)."""

        WHOLE = "whole", _("The whole quote")
        PERCENT = "percent", _("Part of the quote")
        REST = "rest", _("The rest of the quote")

    PAYABLE: ClassVar = (Status.ISSUED, Status.SENT, Status.VIEWED, Status.PARTIALLY_PAID)
    CLOSING: ClassVar = (Part.WHOLE, Part.REST)

    draft_ref = models.CharField(max_length=24, editable=False)
    number = models.CharField(max_length=24, null=True, editable=False)
    series = models.CharField(max_length=24, blank=True, default="", editable=False)
    serial = models.PositiveBigIntegerField(null=True, editable=False)
    brought = models.BooleanField(default=False, editable=False)
    client = TenantForeignKey(Client, related_name="invoices")
    quote = TenantForeignKey("ledger.Quote", null=True, related_name="invoices")
    quote_part = models.CharField(max_length=8, choices=Part, blank=True, default="")
    quote_percent = models.DecimalField(max_digits=6, decimal_places=3, null=True)
    title = models.CharField(max_length=160, blank=True, default="")
    status = models.CharField(max_length=16, choices=Status, default=Status.DRAFT)
    currency = models.CharField(max_length=3)
    settings = TenantForeignKey("ledger.SettingsVersion", related_name="+")
    tax_mode = models.CharField(max_length=10)
    tax_rounding = models.CharField(max_length=10)
    rounding = models.CharField(max_length=10)
    discount_percent = models.DecimalField(max_digits=6, decimal_places=3, null=True)
    discount_cents = models.BigIntegerField(null=True)
    terms_days = models.PositiveSmallIntegerField(default=0)
    po_number = models.CharField(max_length=40, blank=True, default="")
    notes = models.TextField(blank=True, default="")
    subtotal_total_cents = models.BigIntegerField(default=0)
    discount_total_cents = models.BigIntegerField(default=0)
    tax_total_cents = models.BigIntegerField(default=0)
    total_cents = models.BigIntegerField(default=0)
    tax_lines = models.JSONField(default=list)

    issued_on = models.DateField(null=True)
    due_on = models.DateField(null=True)
    issued_at = models.DateTimeField(null=True)
    snapshot = models.JSONField(null=True)

    document = TenantForeignKey("ledger.StoredDocument", null=True, related_name="+")
    sent_at = models.DateTimeField(null=True)
    viewed_at = models.DateTimeField(null=True)
    voided_at = models.DateTimeField(null=True)
    credited_cents = models.BigIntegerField(default=0)
    allocated_cents = models.BigIntegerField(default=0)
    written_off_cents = models.BigIntegerField(default=0)
    balance_cents = models.BigIntegerField(default=0)
    promise_on = models.DateField(null=True)
    disputed = models.BooleanField(default=False)
    reminders = models.PositiveSmallIntegerField(default=0)
    last_reminder_on = models.DateField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("invoice"), _("invoices")
        constraints = (
            models.UniqueConstraint(fields=["tenant", "draft_ref"], name="invoice_draft_ref"),
            models.UniqueConstraint(fields=["tenant", "series", "number"], name="invoice_number"),
            models.UniqueConstraint(fields=["tenant", "series", "serial"], name="invoice_serial"),
            models.UniqueConstraint(
                fields=["tenant", "quote"],
                condition=Q(quote_part__in=["whole", "rest"], deleted_at=None) & ~Q(status="void"),
                name="invoice_closes_quote_once",
            ),
            models.UniqueConstraint(
                fields=["tenant", "quote", "quote_percent"],
                condition=Q(quote_part="percent", status="draft", deleted_at=None),
                name="invoice_one_draft_of_a_part",
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=["draft", "issued", "sent", "viewed", "partially_paid", "paid", "void", "written_off"]
                ),
                name="invoice_status",
            ),
            models.CheckConstraint(
                condition=Q(
                    status="draft",
                    number=None,
                    serial=None,
                    series="",
                    ref=F("draft_ref"),
                    issued_on=None,
                    due_on=None,
                    issued_at=None,
                    snapshot=None,
                    document=None,
                    sent_at=None,
                    allocated_cents=0,
                    credited_cents=0,
                    written_off_cents=0,
                )
                | (
                    ~Q(status="draft")
                    & Q(
                        number__isnull=False,
                        serial__isnull=False,
                        ref=F("number"),
                        issued_on__isnull=False,
                        due_on__isnull=False,
                        issued_at__isnull=False,
                        snapshot__isnull=False,
                        deleted_at=None,
                    )
                ),
                name="invoice_issued",
            ),
            models.CheckConstraint(
                condition=Q(quote=None, quote_part="", quote_percent=None)
                | Q(quote__isnull=False, quote_part__in=["whole", "rest"], quote_percent=None)
                | Q(quote__isnull=False, quote_part="percent", quote_percent__gt=0, quote_percent__lte=100),
                name="invoice_part",
            ),
            models.CheckConstraint(
                condition=(Q(discount_percent=None) | Q(discount_percent__gte=0, discount_percent__lte=100))
                & (Q(discount_cents=None) | Q(discount_cents__gte=0))
                & (Q(discount_percent=None) | Q(discount_cents=None)),
                name="invoice_discount",
            ),
            models.CheckConstraint(condition=Q(terms_days__lte=365), name="invoice_terms"),
            models.CheckConstraint(
                condition=Q(
                    subtotal_total_cents__gte=0,
                    tax_total_cents__gte=0,
                    discount_total_cents__gte=0,
                    discount_total_cents__lte=F("subtotal_total_cents"),
                )
                & (
                    Q(
                        tax_mode="exclusive",
                        total_cents=F("subtotal_total_cents") - F("discount_total_cents") + F("tax_total_cents"),
                    )
                    | Q(tax_mode="inclusive", total_cents=F("subtotal_total_cents") - F("discount_total_cents"))
                ),
                name="invoice_total",
            ),
            models.CheckConstraint(
                condition=Q(
                    credited_cents__gte=0,
                    allocated_cents__gte=0,
                    written_off_cents__gte=0,
                    balance_cents__gte=0,
                    balance_cents=F("total_cents")
                    - F("credited_cents")
                    - F("allocated_cents")
                    - F("written_off_cents"),
                ),
                name="invoice_balance",
            ),
            models.CheckConstraint(
                condition=~Q(status="paid") | Q(balance_cents=0, written_off_cents=0), name="invoice_paid"
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["issued", "sent", "viewed"]) | Q(allocated_cents=0),
                name="invoice_untouched",
            ),
            models.CheckConstraint(
                condition=~Q(status="partially_paid") | Q(allocated_cents__gt=0, balance_cents__gt=0),
                name="invoice_partially_paid",
            ),
            models.CheckConstraint(condition=~Q(status="void") | Q(allocated_cents=0), name="invoice_void"),
        )
        indexes = (
            models.Index(fields=["tenant", "-created_at"], name="invoice_recent"),
            models.Index(fields=["tenant", "status", "due_on"], name="invoice_by_status"),
            models.Index(fields=["tenant", "client", "-created_at"], name="invoice_of_client"),
        )
        triggers = (
            pgtrigger.Protect(
                name="frozen",
                operation=pgtrigger.Update,
                condition=Frozen("OLD.number IS NOT NULL", but=FATE),
            ),
            pgtrigger.Protect(
                name="document_for_good",
                operation=pgtrigger.Update,
                condition=Frozen("OLD.document_id IS NOT NULL", only=("document",)),
            ),
            pgtrigger.FSM(
                name="state_table",
                field="status",
                transitions=TRANSITIONS,
            ),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            CURRENCY_OF_COMPANY,
            NUMBER_IN_LINE,
            agrees(
                pgtrigger.UpdateOf("allocated_cents", "credited_cents"),
                (INVOICE_AGREES, "NEW.id"),
            ),
        )

    def __str__(self) -> str:
        return self.ref

    @property
    def is_issued(self) -> bool:
        return self.number is not None

    @property
    def is_open(self) -> bool:
        """Whether money is still expected for it."""
        return self.status in self.PAYABLE and self.balance_cents > 0

    @property
    def discount(self) -> Portion | None:
        return Portion.given(self.discount_percent, self.discount_cents)

    @property
    def money_settings(self) -> MoneySettings:
        """How its totals are computed: as the company's settings were when it was made."""
        return MoneySettings(
            tax_mode=TaxMode(self.tax_mode),
            tax_rounding=TaxRounding(self.tax_rounding),
            rounding=Rounding(self.rounding),
            discount=self.discount,
        )

    def days_late(self, today: date) -> int:
        """How many days it is late on a day of the company; 0 where it isn't, or nothing is owed (H25)."""
        if not self.is_open or self.due_on is None:
            return 0
        return max(0, (today - self.due_on).days)

    def status_now(self) -> "Invoice.Status":
        """The status that its amounts and dates come to; a void or written-off invoice keeps its own."""
        if self.status in (self.Status.DRAFT, self.Status.VOID, self.Status.WRITTEN_OFF):
            return self.Status(self.status)
        if self.balance_cents == 0:
            return self.Status.PAID
        if self.allocated_cents:
            return self.Status.PARTIALLY_PAID
        if self.viewed_at:
            return self.Status.VIEWED
        return self.Status.SENT if self.sent_at else self.Status.ISSUED
