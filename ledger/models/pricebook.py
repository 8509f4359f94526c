"""The price book: what the company sells, and what each thing costs from which day on."""

import datetime
import uuid
from collections.abc import Iterable
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.models.audit import APPEND_ONLY
from ledger.models.base import BusinessModel
from ledger.tenancy import TenantForeignKey, TenantManager, TenantModel


class PriceItem(BusinessModel):
    """One thing with a price: a service, a material, labour or a fee. Its prices are PriceVersions."""

    class Kind(models.TextChoices):
        SERVICE = "service", _("Service")
        MATERIAL = "material", _("Material")
        LABOR = "labor", _("Labour")
        FEE = "fee", _("Fee")

    code = models.CharField(max_length=30)
    name = models.CharField(max_length=160)
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.SERVICE)
    category = models.CharField(max_length=60, blank=True, default="")
    unit = models.CharField(max_length=12)
    active = models.BooleanField(default=True)

    class Meta:
        verbose_name, verbose_name_plural = _("price item"), _("price items")
        constraints = (
            models.UniqueConstraint(fields=["tenant", "code"], condition=Q(deleted_at=None), name="priceitem_code"),
            models.CheckConstraint(
                condition=Q(kind__in=["service", "material", "labor", "fee"]), name="priceitem_kind"
            ),
        )

    def __str__(self) -> str:
        return f"{self.code} {self.name}"


class PriceVersionManager(TenantManager["PriceVersion"]):
    """Answers which price stands on a day."""

    def standing(self, items: Iterable[PriceItem], day: datetime.date) -> "dict[uuid.UUID, PriceVersion]":
        """The price of each item on that day, by the item's id, in one query; items without one are missing."""
        ids = [item.pk for item in items]
        newest = self.filter(item__in=ids, valid_from__lte=day).order_by("item", "-valid_from", "-number")
        return {version.item_id: version for version in newest.distinct("item")}


class PriceVersion(TenantModel):
    """A price from a day on, in the company's currency: unit price and cost NUMERIC(14,4), tax in percent.

    The price of a day is the version with the latest `valid_from` up to it; of several of one day, the last
    made. Append-only.
    """

    item = TenantForeignKey(PriceItem, related_name="versions")
    number = models.PositiveIntegerField()
    valid_from = models.DateField()
    unit_price = models.DecimalField(max_digits=14, decimal_places=4)
    unit_cost = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    tax_rate = models.DecimalField(max_digits=6, decimal_places=3, default=0)
    tax_code = models.CharField(max_length=20, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = TenantForeignKey("ledger.Membership", null=True, related_name="+", editable=False)

    objects: ClassVar[PriceVersionManager] = PriceVersionManager()

    class Meta:
        verbose_name, verbose_name_plural = _("price version"), _("price versions")
        constraints = (
            models.UniqueConstraint(fields=["item", "number"], name="priceversion_number"),
            models.CheckConstraint(condition=Q(unit_price__gte=0), name="priceversion_price"),
            models.CheckConstraint(condition=Q(unit_cost=None) | Q(unit_cost__gte=0), name="priceversion_cost"),
            models.CheckConstraint(condition=Q(tax_rate__gte=0, tax_rate__lte=100), name="priceversion_tax"),
        )
        indexes = (models.Index(fields=["item", "-valid_from", "-number"], name="priceversion_current"),)
        triggers = APPEND_ONLY

    def __str__(self) -> str:
        return f"{self.unit_price} ({self.valid_from})"
