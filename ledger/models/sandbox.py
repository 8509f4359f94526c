"""What the sandbox providers keep: the far side of the wire, for demonstrations and tests.

These rows play a remote service's own record. The business never reads them but through a provider's port.
"""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.tenancy import TenantModel


class SandboxDelivery(TenantModel):
    """One thing asked of a sandbox provider under one of our keys. `requests` counts how often (J1)."""

    class Status(models.TextChoices):
        REFUSED = "refused", _("Refused")
        ACCEPTED = "accepted", _("Accepted")
        DELIVERED = "delivered", _("Delivered")
        BOUNCED = "bounced", _("Bounced")

    port = models.CharField(max_length=16)
    key = models.CharField(max_length=64)
    status = models.CharField(max_length=12, choices=Status)
    requests = models.PositiveIntegerField(default=1)
    payload = models.JSONField()
    raw = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("sandbox delivery"), _("sandbox deliveries")
        constraints = (models.UniqueConstraint(fields=["tenant", "port", "key"], name="sandboxdelivery_key"),)

    def __str__(self) -> str:
        return f"{self.port} {self.key}"


class SandboxKnob(TenantModel):
    """How a sandbox provider behaves for this company's next calls.

    `remaining` counts the calls it still holds for (null: until changed); `delay_ms` is waited after the work
    and before the answer, so that a caller can be killed in between.
    """

    class Mode(models.TextChoices):
        OK = "ok", _("Works")
        REFUSE = "refuse", _("Refuses")
        RATE_LIMIT = "rate_limit", _("Refuses: too many requests")
        TIMEOUT_BEFORE = "timeout_before", _("Times out, nothing done")
        TIMEOUT_AFTER_ACCEPT = "timeout_after_accept", _("Times out after accepting")
        GARBAGE = "garbage", _("Accepts, answers garbage")

    port = models.CharField(max_length=16)
    mode = models.CharField(max_length=24, choices=Mode, default=Mode.OK)
    remaining = models.PositiveIntegerField(null=True, blank=True)
    delay_ms = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["tenant", "port"], name="sandboxknob_port"),)

    def __str__(self) -> str:
        return f"{self.port}: {self.mode}"
