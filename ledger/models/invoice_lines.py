"""The lines of an invoice, and the credit notes against it."""

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from ledger import money
from ledger.models.audit import APPEND_ONLY
from ledger.models.base import BusinessModel
from ledger.models.books import CREDIT_IN_LINE, INVOICE_AGREES, agrees
from ledger.models.invoices import Invoice
from ledger.money import Portion
from ledger.tenancy import TenantForeignKey, TenantModel

LINE_FROZEN = """
    IF EXISTS (
        SELECT FROM ledger_invoice i
         WHERE i.id IN (OLD.invoice_id, NEW.invoice_id) AND i.number IS NOT NULL FOR SHARE)
    THEN RAISE EXCEPTION 'the lines of an issued invoice never change'; END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
"""


class InvoiceLine(TenantModel):
    """One line of an invoice. It copies price and tax; cents as `ledger.money` computed them.

    gross - discount = net, net - share of the document's discount = taxable.
    """

    invoice = TenantForeignKey(Invoice, related_name="lines")
    position = models.PositiveSmallIntegerField()
    item = TenantForeignKey("ledger.PriceItem", null=True, related_name="+")
    price = TenantForeignKey("ledger.PriceVersion", null=True, related_name="+")
    description = models.CharField(max_length=300)
    unit = models.CharField(max_length=12, blank=True, default="")
    quantity = models.DecimalField(max_digits=12, decimal_places=3)
    unit_price = models.DecimalField(max_digits=14, decimal_places=4)
    unit_cost = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    discount_percent = models.DecimalField(max_digits=6, decimal_places=3, null=True)
    discount_cents = models.BigIntegerField(null=True)
    tax_rate = models.DecimalField(max_digits=6, decimal_places=3, default=0)
    tax_code = models.CharField(max_length=20, blank=True, default="")
    group = models.CharField(max_length=60, blank=True, default="")
    gross_total_cents = models.BigIntegerField()
    discount_total_cents = models.BigIntegerField()
    net_total_cents = models.BigIntegerField()
    share_cents = models.BigIntegerField()
    taxable_cents = models.BigIntegerField()

    class Meta:
        verbose_name, verbose_name_plural = _("invoice line"), _("invoice lines")
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(
                fields=["invoice", "position"], name="invoiceline_position", deferrable=models.Deferrable.DEFERRED
            ),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="invoiceline_quantity"),
            models.CheckConstraint(condition=Q(unit_price__gte=0), name="invoiceline_price"),
            models.CheckConstraint(condition=~Q(description=""), name="invoiceline_described"),
            models.CheckConstraint(condition=Q(tax_rate__gte=0, tax_rate__lte=100), name="invoiceline_tax"),
            models.CheckConstraint(
                condition=Q(discount_percent=None) | Q(discount_cents=None), name="invoiceline_one_discount"
            ),
            models.CheckConstraint(
                condition=Q(discount_percent=None) | Q(discount_percent__gte=0, discount_percent__lte=100),
                name="invoiceline_percent",
            ),
            models.CheckConstraint(
                condition=Q(
                    gross_total_cents__gte=0,
                    discount_total_cents__gte=0,
                    discount_total_cents__lte=F("gross_total_cents"),
                    net_total_cents=F("gross_total_cents") - F("discount_total_cents"),
                    share_cents__gte=0,
                    taxable_cents__gte=0,
                    taxable_cents=F("net_total_cents") - F("share_cents"),
                ),
                name="invoiceline_cents",
            ),
        )
        triggers = (
            pgtrigger.Trigger(
                name="frozen",
                operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
                when=pgtrigger.Before,
                func=LINE_FROZEN,
            ),
        )

    def __str__(self) -> str:
        return self.description

    @property
    def discount(self) -> Portion | None:
        return Portion.given(self.discount_percent, self.discount_cents)

    def as_money(self) -> money.Line:
        """The line as `ledger.money` computes it."""
        return money.Line(
            quantity=self.quantity, unit_price=self.unit_price, tax_rate=self.tax_rate, discount=self.discount
        )


class CreditNote(BusinessModel):
    """What is taken off an issued invoice again, under a number of its own series (gapless, I5). Append-only.

    `tax_lines` tells how much of it was tax, for each rate; in cents. One that came with a refund names it.
    """

    series = models.CharField(max_length=24, blank=True, default="")
    serial = models.PositiveBigIntegerField()
    invoice = TenantForeignKey(Invoice, related_name="credit_notes")
    refund = TenantForeignKey("ledger.Refund", null=True, related_name="credit_notes")
    amount_cents = models.BigIntegerField()
    tax_total_cents = models.BigIntegerField(default=0)
    tax_lines = models.JSONField(default=list)
    currency = models.CharField(max_length=3)
    issued_on = models.DateField()
    reason = models.CharField(max_length=500)

    class Meta:
        verbose_name, verbose_name_plural = _("credit note"), _("credit notes")
        constraints = (
            models.UniqueConstraint(fields=["tenant", "series", "serial"], name="creditnote_serial"),
            models.CheckConstraint(
                condition=Q(amount_cents__gt=0, tax_total_cents__gte=0, tax_total_cents__lte=F("amount_cents")),
                name="creditnote_amount",
            ),
        )
        triggers = (
            *APPEND_ONLY,
            CREDIT_IN_LINE,
            agrees(pgtrigger.Insert, (INVOICE_AGREES, "NEW.invoice_id")),
        )
