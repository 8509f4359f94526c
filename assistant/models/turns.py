"""Turns of the agent: durable, claimed by one runner at a time, at most one queued or running in a conversation."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.tenancy import TenantForeignKey, TenantModel


class Turn(TenantModel):
    """One run of the agent for one or more messages, through its cards to its last word.

    `calls` counts model calls over the whole turn, resumptions included. `lease_until` is the claim of the runner:
    past it, another may take the turn over. `outside` lists what outside content the turn has read.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        WAITING = "waiting"
        DONE = "done"
        STOPPED = "stopped"
        INTERRUPTED = "interrupted"
        FAILED = "failed"

    conversation = TenantForeignKey("assistant.Conversation", related_name="turns")
    member = TenantForeignKey("ledger.Membership", related_name="+")
    ordinal = models.PositiveIntegerField()
    door = models.CharField(max_length=12, default="web")
    status = models.CharField(max_length=12, choices=Status, default=Status.QUEUED)
    calls = models.PositiveSmallIntegerField(default=0)
    unknown_tools = models.PositiveSmallIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    outside = models.JSONField(default=list)
    problem = models.CharField(max_length=40, blank=True, default="")
    stop_requested = models.BooleanField(default=False)
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    seq = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("turn"), _("turns")
        indexes = (models.Index(fields=["conversation", "seq"], name="turn_seq"),)
        constraints = (
            models.UniqueConstraint(fields=["conversation", "ordinal"], name="turn_ordinal"),
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(status__in=["queued", "running"]), name="turn_one_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=["queued", "running", "waiting", "done", "stopped", "interrupted", "failed"],
                ),
                name="turn_status",
            ),
        )

    def __str__(self) -> str:
        return f"{self.ordinal} {self.status}"


class ToolCall(TenantModel):
    """One call the model made, in the order it made them; the result is what the model is told.

    A gated call has `action` and its result is fixed for ever ("proposed, NOT executed"). A call without a result
    was not run, and the history says so.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        PROPOSED = "proposed"
        SKIPPED = "skipped"

    turn = TenantForeignKey(Turn, related_name="tool_calls")
    message = TenantForeignKey("assistant.Message", related_name="tool_calls")
    index = models.PositiveSmallIntegerField()
    call_id = models.CharField(max_length=128)
    name = models.CharField(max_length=128)
    arguments = models.TextField(default="{}")
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    result = models.TextField(blank=True, default="")
    touched = models.JSONField(default=list)
    action = TenantForeignKey("assistant.PendingAction", null=True, related_name="tool_calls")
    seq = models.PositiveBigIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("tool call"), _("tool calls")
        ordering = ("message", "index")
        indexes = (models.Index(fields=["turn", "seq"], name="toolcall_seq"),)
        constraints = (
            models.UniqueConstraint(fields=["message", "index"], name="toolcall_index"),
            models.UniqueConstraint(fields=["turn", "call_id"], name="toolcall_call_id"),
        )

    def __str__(self) -> str:
        return f"{self.name} {self.status}"


class DailyUsage(TenantModel):
    """What a company's agent used on one of its days: model calls, tokens, cost in millionths of its currency."""

    day = models.DateField()
    calls = models.PositiveIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    cost_micros = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["tenant", "day"], name="usage_day"),)
