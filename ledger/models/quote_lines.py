"""The lines of a quote's revision: what is offered, at which price, with what tax."""

import uuid
from collections.abc import Collection

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from ledger import money
from ledger.models.quote_revisions import QuoteRevision
from ledger.money import Portion
from ledger.tenancy import TenantForeignKey, TenantModel

LINE_FROZEN = """
    IF EXISTS (
        SELECT FROM ledger_quoterevision r
         WHERE r.id IN (OLD.revision_id, NEW.revision_id) AND r.frozen_at IS NOT NULL FOR SHARE)
    THEN RAISE EXCEPTION 'the lines of a frozen revision never change'; END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
"""


class QuoteLine(TenantModel):
    """One line of a revision. It copies price and tax; `price` says which price of the book it came from.

    Cents as `ledger.money` computed them: gross - discount = net, net - share = taxable. A line that does not
    count (optional, not selected) has neither share nor taxable.
    """

    revision = TenantForeignKey(QuoteRevision, related_name="lines")
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
    optional = models.BooleanField(default=False)
    selected = models.BooleanField(default=False)
    gross_total_cents = models.BigIntegerField()
    discount_total_cents = models.BigIntegerField()
    net_total_cents = models.BigIntegerField()
    share_cents = models.BigIntegerField()
    taxable_cents = models.BigIntegerField()

    class Meta:
        verbose_name, verbose_name_plural = _("quote line"), _("quote lines")
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(
                fields=["revision", "position"],
                name="quoteline_position",
                deferrable=models.Deferrable.DEFERRED,
            ),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="quoteline_quantity"),
            models.CheckConstraint(condition=Q(unit_price__gte=0), name="quoteline_price"),
            models.CheckConstraint(condition=Q(tax_rate__gte=0, tax_rate__lte=100), name="quoteline_tax"),
            models.CheckConstraint(
                condition=Q(discount_percent=None) | Q(discount_cents=None), name="quoteline_one_discount"
            ),
            models.CheckConstraint(
                condition=Q(discount_percent=None) | Q(discount_percent__gte=0, discount_percent__lte=100),
                name="quoteline_percent",
            ),
            models.CheckConstraint(
                condition=Q(
                    gross_total_cents__gte=0,
                    discount_total_cents__gte=0,
                    discount_total_cents__lte=F("gross_total_cents"),
                    net_total_cents=F("gross_total_cents") - F("discount_total_cents"),
                ),
                name="quoteline_net",
            ),
            models.CheckConstraint(
                condition=Q(
                    share_cents__gte=0,
                    taxable_cents__gte=0,
                    taxable_cents=F("net_total_cents") - F("share_cents"),
                )
                | Q(optional=True, selected=False, share_cents=0, taxable_cents=0),
                name="quoteline_share",
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

    @property
    def counts(self) -> bool:
        """Whether it is part of the total as it stands."""
        return self.selected or not self.optional

    @property
    def is_overridden(self) -> bool:
        """Whether its price is not the one of the book that it came from. Reads `price`."""
        return self.price is not None and self.price.unit_price != self.unit_price

    def as_money(self, selected: Collection[uuid.UUID] | None = None) -> money.Line:
        """The line as `ledger.money` computes it; with `selected`, as if exactly those options were taken."""
        return money.Line(
            quantity=self.quantity,
            unit_price=self.unit_price,
            tax_rate=self.tax_rate,
            discount=self.discount,
            optional=self.optional,
            selected=self.selected if selected is None else self.pk in selected,
        )
