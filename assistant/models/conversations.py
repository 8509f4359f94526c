"""Conversations and what is said in them. The rows are the log: page, stream and model history are read from here."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ledger.tenancy import TenantForeignKey, TenantModel


class Conversation(TenantModel):
    """One line of talk. `seq` counts its changes: whoever has seen `seq` has seen all up to there."""

    starter = TenantForeignKey("ledger.Membership", related_name="+")
    title = models.CharField(max_length=160, blank=True, default="")
    desk = models.BooleanField(default=False)
    seq = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = (models.Index(fields=["tenant", "starter", "-updated_at"], name="conversation_recent"),)
        constraints = (
            models.UniqueConstraint(fields=["tenant", "starter"], condition=Q(desk=True), name="conversation_one_desk"),
        )

    def __str__(self) -> str:
        return self.title or str(self.id)


class Message(TenantModel):
    """One bubble or one line.

    `user` and `assistant` are what was said. `record` is what the system tells the model about an action (written by
    agent/history.py only). `line` is a word of the system to the person; the model does not see it. A `silent`
    message is kept and shown but is no part of the model's history (a bare yes). A message without a turn waits for
    the running turn to end. `tokens` is what the model call that gave a reply has used.
    """

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        RECORD = "record"
        LINE = "line"

    conversation = TenantForeignKey(Conversation, related_name="messages")
    turn = TenantForeignKey("assistant.Turn", null=True, related_name="messages")
    role = models.CharField(max_length=10, choices=Role)
    text = models.TextField(blank=True, default="")
    code = models.CharField(max_length=40, blank=True, default="")
    params = models.JSONField(default=dict)
    author = TenantForeignKey("ledger.Membership", null=True, related_name="+")
    action = TenantForeignKey("assistant.PendingAction", null=True, related_name="records")
    open = models.BooleanField(default=False)
    silent = models.BooleanField(default=False)
    tokens = models.PositiveIntegerField(default=0)
    key = models.UUIDField(null=True)
    position = models.PositiveBigIntegerField(default=0)
    seq = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = (
            models.Index(fields=["conversation", "-position"], name="message_position"),
            models.Index(fields=["conversation", "seq"], name="message_seq"),
        )
        constraints = (
            models.UniqueConstraint(fields=["conversation", "key"], name="message_key"),
            models.CheckConstraint(condition=Q(role__in=["user", "assistant", "record", "line"]), name="message_role"),
        )

    def __str__(self) -> str:
        return f"{self.role}: {self.text[:40]}"
