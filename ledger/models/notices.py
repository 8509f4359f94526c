"""What people of the company are told by mail about their own work, and who decides for whom meanwhile."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.tenancy import TenantForeignKey, TenantModel


class StaffNotice(TenantModel):
    """One notice to one member, about one thing: told once. `kind` and `params` are rendered when it is sent."""

    member = TenantForeignKey("ledger.Membership", related_name="+")
    kind = models.CharField(max_length=32)
    subject_id = models.UUIDField()
    params = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    sent_at = models.DateTimeField(null=True)
    provider_id = models.CharField(max_length=200, blank=True, default="")
    problem = models.CharField(max_length=40, blank=True, default="")

    class Meta:
        verbose_name, verbose_name_plural = _("notice"), _("notices")
        constraints = (models.UniqueConstraint(fields=["member", "kind", "subject_id"], name="notice_once"),)


class Delegation(TenantModel):
    """While one is away, another decides what that one may decide: from `starts_at` until `ends_at`, or until ended."""

    giver = TenantForeignKey("ledger.Membership", related_name="given")
    taker = TenantForeignKey("ledger.Membership", related_name="taken")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = TenantForeignKey("ledger.Membership", related_name="+")
    ended_at = models.DateTimeField(null=True)
    ended_by = TenantForeignKey("ledger.Membership", null=True, related_name="+")

    class Meta:
        verbose_name, verbose_name_plural = _("delegation"), _("delegations")
        indexes = (models.Index(fields=["tenant", "taker"], condition=models.Q(ended_at=None), name="delegation_open"),)
        constraints = (
            models.CheckConstraint(condition=~models.Q(giver=models.F("taker")), name="delegation_two_people"),
            models.CheckConstraint(
                condition=models.Q(ends_at__gt=models.F("starts_at")), name="delegation_ends_after_it_starts"
            ),
        )
