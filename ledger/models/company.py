"""The company, its settings as they were at each moment, and its number series."""

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from ledger.models.audit import APPEND_ONLY
from ledger.tenancy import TenantForeignKey, TenantModel, TenantPolicy, new_id


class Company(models.Model):
    """The tenant itself. Its policy compares the row's own id, so each company sees one row."""

    class Country(models.TextChoices):
        US = "US", _("United States")
        BR = "BR", _("Brazil")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=160)
    country = models.CharField(max_length=2, choices=Country)
    currency = models.CharField(max_length=3)
    locale = models.CharField(max_length=8, default="en-US")
    timezone = models.CharField(max_length=64, default="UTC")
    tax_id = models.CharField(max_length=20, blank=True, default="")
    address = models.CharField(max_length=240, blank=True, default="")
    phone = models.CharField(max_length=20, blank=True, default="")
    email = models.EmailField(blank=True, default="")
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        verbose_name_plural = "companies"
        constraints = (
            TenantPolicy(name="company_tenant", column="id"),
            models.CheckConstraint(
                condition=models.Q(country="US", currency="USD") | models.Q(country="BR", currency="BRL"),
                name="company_currency",
            ),
        )

    def __str__(self) -> str:
        return self.name


class SettingsVersion(TenantModel):
    """One version of a company's settings; a document keeps the version it was computed with. Append-only."""

    number = models.PositiveIntegerField()
    values = models.JSONField()
    created_at = models.DateTimeField(default=now, editable=False)
    created_by = TenantForeignKey("ledger.Membership", null=True, related_name="+")

    class Meta:
        verbose_name, verbose_name_plural = _("settings version"), _("settings versions")
        constraints = (models.UniqueConstraint(fields=["tenant", "number"], name="settings_number"),)
        triggers = APPEND_ONLY


class Sequence(TenantModel):
    """The next number of a series. Locked by the transaction that uses it, so a number taken is a number used."""

    kind = models.CharField(max_length=24)
    series = models.CharField(max_length=24, blank=True, default="")
    next = models.PositiveBigIntegerField(default=1)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["tenant", "kind", "series"], name="sequence_series"),)
