"""Deeds that somebody looks at afterwards, and what they said of them."""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.models.audit import NO_TRUNCATE
from ledger.tenancy import TenantForeignKey, TenantModel


class SpotCheck(TenantModel):
    """One look at an executed action, or at a write that needed no card (`call`). Marked once, with who and when.

    `sampled` ones were drawn and wait in a queue; the others are receipts that a person marked wrong by themselves,
    once each.
    """

    class Mark(models.TextChoices):
        RIGHT = "right", _("Right")
        WRONG = "wrong", _("Wrong")

    action = TenantForeignKey("assistant.PendingAction", null=True, related_name="checks")
    call = TenantForeignKey("assistant.ToolCall", null=True, related_name="checks")
    tool = models.CharField(max_length=60)
    sampled = models.BooleanField(default=False)
    drawn_at = models.DateTimeField(default=timezone.now, editable=False)
    mark = models.CharField(max_length=8, choices=Mark, blank=True, default="")
    note = models.TextField(blank=True, default="")
    member = TenantForeignKey("ledger.Membership", null=True, related_name="+")
    at = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("spot check"), _("spot checks")
        indexes = (models.Index(fields=["tenant", "id"], condition=Q(mark=""), name="check_waits"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(action__isnull=False, call=None) | Q(action=None, call__isnull=False), name="check_of_one"
            ),
            models.CheckConstraint(condition=Q(mark__in=["", "right", "wrong"]), name="check_mark"),
            models.CheckConstraint(
                condition=Q(mark="", member=None, at=None) | (~Q(mark="") & Q(member__isnull=False, at__isnull=False)),
                name="check_marked_by_somebody",
            ),
            models.CheckConstraint(condition=Q(sampled=True) | Q(mark="wrong"), name="check_unasked_is_wrong"),
            models.UniqueConstraint(fields=["action"], condition=Q(sampled=True), name="check_action_drawn_once"),
            models.UniqueConstraint(fields=["call"], condition=Q(sampled=True), name="check_call_drawn_once"),
            models.UniqueConstraint(
                fields=["action", "member"], condition=Q(sampled=False), name="check_action_marked_once"
            ),
        )
        triggers = (
            pgtrigger.ReadOnly(name="frozen", exclude=["mark", "note", "member", "at"]),
            pgtrigger.Protect(
                name="marked_once", operation=pgtrigger.Update, condition=pgtrigger.Condition("OLD.mark <> ''")
            ),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            NO_TRUNCATE,
        )
