"""Standing approvals: a person's rule that lets alike actions run without a card, and what has run by it."""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.models.audit import NO_TRUNCATE
from ledger.tenancy import TenantForeignKey, TenantModel


class StandingApproval(TenantModel):
    """This tool, this counterparty, up to so much each and so much a month, until a day. Money in cents.

    It is written, then replayed on what was decided before (`replay`), then turned on; it ends once, for one reason.
    `tool_version` is the declaration that its writer knew: another one voids it. `party_id` None fits every client and
    lead, which only actions of level 1 may have.
    """

    class Why(models.TextChoices):
        REVOKED = "revoked", _("Revoked")
        OVER = "over", _("Its last day is over")
        EDITED = "edited", _("A card like it was edited")
        REJECTED = "rejected", _("A card like it was rejected")
        UNDONE = "undone", _("What ran by it was undone")
        MISMATCH = "mismatch", _("A receipt did not keep what was promised")
        TOOL_CHANGED = "tool_changed", _("The tool was changed")
        NO_RIGHT = "no_right", _("Its writer may not decide this any more")

    writer = TenantForeignKey("ledger.Membership", related_name="+")
    tool = models.CharField(max_length=60)
    tool_version = models.CharField(max_length=64)
    level = models.PositiveSmallIntegerField()
    party_kind = models.CharField(max_length=8, blank=True, default="")
    party_id = models.UUIDField(null=True)
    party_ref = models.CharField(max_length=24, blank=True, default="")
    most_cents = models.PositiveBigIntegerField(null=True)
    month_cents = models.PositiveBigIntegerField(null=True)
    month_times = models.PositiveIntegerField(null=True)
    valid_until = models.DateField()
    strong = models.BooleanField(default=False)
    note = models.CharField(max_length=300, blank=True, default="")
    replay = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    on_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = TenantForeignKey("ledger.Membership", null=True, related_name="+")
    ended_why = models.CharField(max_length=16, choices=Why, blank=True, default="")

    class Meta:
        verbose_name, verbose_name_plural = _("standing approval"), _("standing approvals")
        indexes = (
            models.Index(
                fields=["tenant", "tool"], condition=Q(ended_at=None, on_at__isnull=False), name="standing_in_force"
            ),
        )
        constraints = (
            models.CheckConstraint(condition=Q(level__lt=3) | Q(strong=True), name="standing_strong_is_opted_in"),
            models.CheckConstraint(
                condition=Q(level__lt=3) | Q(most_cents__isnull=False, month_cents__isnull=False),
                name="standing_strong_has_ceilings",
            ),
            models.CheckConstraint(condition=Q(level__lt=2) | Q(party_id__isnull=False), name="standing_has_party"),
            models.CheckConstraint(
                condition=Q(month_cents__isnull=False) | Q(month_times__isnull=False), name="standing_has_a_month"
            ),
        )
        triggers = (
            pgtrigger.ReadOnly(name="frozen", exclude=["on_at", "ended_at", "ended_by", "ended_why"]),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            pgtrigger.Protect(
                name="ends_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.ended_at IS NOT NULL OR (OLD.on_at IS NOT NULL AND NEW.on_at IS DISTINCT FROM OLD.on_at)"
                ),
            ),
            NO_TRUNCATE,
        )


class StandingUse(TenantModel):
    """One action that ran by a standing approval, and what it took of the month. Given back where nothing was done."""

    standing = TenantForeignKey(StandingApproval, related_name="uses")
    action = TenantForeignKey("assistant.PendingAction", related_name="+")
    month = models.DateField()
    amount_cents = models.PositiveBigIntegerField(default=0)
    at = models.DateTimeField(default=timezone.now, editable=False)
    given_back_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(fields=["standing", "month"], condition=Q(given_back_at=None), name="standing_use_month"),
        )
        constraints = (models.UniqueConstraint(fields=["action"], name="standing_use_once"),)
