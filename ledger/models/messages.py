"""Messages to and from clients: what was said to whom, exactly, and what became of it."""

from typing import Final

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ledger.models.audit import APPEND_ONLY
from ledger.models.base import BusinessModel
from ledger.models.clients import Client
from ledger.models.frozen import Frozen
from ledger.models.leads import Lead
from ledger.tenancy import TenantForeignKey, TenantModel

FATE = (
    "status",
    "provider_id",
    "problem",
    "reserved_at",
    "sent_at",
    "closed_at",
    "search",
    "version",
    "updated_at",
    "updated_by",
    "deleted_at",
    "deleted_by",
)


class Channel(models.TextChoices):
    EMAIL = "email", _("E-mail")
    SMS = "sms", _("SMS")
    WHATSAPP = "whatsapp", _("WhatsApp")


class ClientMessage(BusinessModel):
    """One message to or from a client or a lead. From `sending` on, what it says and to whom is fixed (H32).

    `to`, `cc`, `bcc` are lists of addresses. `body` is plain text; where it holds `LINK`, the link `link_id`
    stands when it is sent or shown. `key` is the id under which a provider was asked to send it: once.
    """

    class Direction(models.TextChoices):
        OUT = "out", _("Sent by us")
        IN = "in", pgettext_lazy("message", "Received")

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        SENDING = "sending", _("Sending")
        SENT = "sent", pgettext_lazy("message", "Sent")
        DELIVERED = "delivered", _("Delivered")
        READ = "read", _("Read")
        BOUNCED = "bounced", pgettext_lazy("message", "Bounced")
        FAILED = "failed", _("Not sent")
        UNKNOWN = "unknown", _("Not known if sent")
        DISCARDED = "discarded", _("Discarded")
        RECEIVED = "received", pgettext_lazy("message", "Received")

    class Kind(models.TextChoices):
        FREE = "free", _("Message")
        QUOTE = "quote", _("Quote")
        INVOICE = "invoice", _("Invoice")

    LINK: Final = "[[link]]"

    direction = models.CharField(max_length=3, choices=Direction, default=Direction.OUT)
    channel = models.CharField(max_length=10, choices=Channel, default=Channel.EMAIL)
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.FREE)
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    client = TenantForeignKey(Client, null=True, related_name="messages")
    lead = TenantForeignKey(Lead, null=True, related_name="messages")
    revision = TenantForeignKey("ledger.QuoteRevision", null=True, related_name="messages")
    invoice = TenantForeignKey("ledger.Invoice", null=True, related_name="messages")
    sender_name = models.CharField(max_length=160, blank=True, default="")
    sender = models.CharField(max_length=254, blank=True, default="")
    reply_to = models.CharField(max_length=254, blank=True, default="")
    to = models.JSONField(default=list)
    cc = models.JSONField(default=list)
    bcc = models.JSONField(default=list)
    subject = models.CharField(max_length=200, blank=True, default="")
    body = models.TextField(blank=True, default="")
    language = models.CharField(max_length=8, default="en")
    link_id = models.UUIDField(null=True)
    key = models.UUIDField(null=True)

    provider_id = models.CharField(max_length=200, blank=True, default="")
    problem = models.CharField(max_length=40, blank=True, default="")
    reserved_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("client message"), _("client messages")
        constraints = (
            models.UniqueConstraint(fields=["tenant", "key"], name="clientmessage_key_once"),
            models.CheckConstraint(condition=Q(client=None) | Q(lead=None), name="clientmessage_one_party"),
            models.CheckConstraint(condition=Q(direction__in=["out", "in"]), name="clientmessage_direction"),
            models.CheckConstraint(condition=Q(channel__in=["email", "sms", "whatsapp"]), name="clientmessage_channel"),
            models.CheckConstraint(
                condition=Q(direction="in", status="received")
                | Q(
                    direction="out",
                    status__in=[
                        "draft",
                        "sending",
                        "sent",
                        "delivered",
                        "read",
                        "bounced",
                        "failed",
                        "unknown",
                        "discarded",
                    ],
                ),
                name="clientmessage_status",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["draft", "discarded", "received"]) | Q(key__isnull=False),
                name="clientmessage_has_key",
            ),
            models.CheckConstraint(condition=~Q(subject__regex=r"[\n\r]"), name="clientmessage_subject_one_line"),
        )
        indexes = (
            models.Index(fields=["tenant", "-created_at"], name="clientmessage_recent"),
            models.Index(fields=["tenant", "client", "-created_at"], name="clientmessage_client"),
        )
        triggers = (
            pgtrigger.Protect(
                name="frozen",
                operation=pgtrigger.Update,
                condition=Frozen("OLD.status <> 'draft'", but=FATE),
            ),
            pgtrigger.FSM(
                name="state_table",
                field="status",
                transitions=[
                    ("draft", "sending"),
                    ("draft", "discarded"),
                    *(("sending", after) for after in ("sent", "failed", "unknown")),
                    *(("unknown", after) for after in ("sent", "failed")),
                    *(("sent", after) for after in ("delivered", "read", "bounced")),
                    *(("delivered", after) for after in ("read", "bounced")),
                ],
            ),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
        )

    @property
    def party(self) -> "Client | Lead | None":
        """With whom it was exchanged. Reads `client` or `lead`."""
        return self.client or self.lead


class Attachment(TenantModel):
    """A document that goes with a message, under the name that the receiver sees."""

    message = TenantForeignKey(ClientMessage, related_name="attachments")
    document = TenantForeignKey("ledger.StoredDocument", related_name="+")
    name = models.CharField(max_length=120)

    class Meta:
        verbose_name, verbose_name_plural = _("attachment"), _("attachments")
        constraints = (models.UniqueConstraint(fields=["message", "document"], name="attachment_once"),)
        triggers = APPEND_ONLY

    def __str__(self) -> str:
        return self.name


class DeliveryEvent(TenantModel):
    """What a provider, or we ourselves, learned about a message. Append-only; an event counts once."""

    class Kind(models.TextChoices):
        SENDING = "sending", _("Handed over")
        SENT = "sent", pgettext_lazy("message", "Sent")
        DELIVERED = "delivered", _("Delivered")
        READ = "read", _("Read")
        BOUNCED = "bounced", pgettext_lazy("message", "Bounced")
        FAILED = "failed", _("Not sent")
        UNKNOWN = "unknown", _("Not known if sent")
        COMPLAINED = "complained", _("Marked as spam")

    message = TenantForeignKey(ClientMessage, related_name="events")
    kind = models.CharField(max_length=12, choices=Kind)
    recipient = models.CharField(max_length=254, blank=True, default="")
    provider = models.CharField(max_length=24, blank=True, default="")
    event_id = models.CharField(max_length=200, blank=True, default="")
    detail = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("delivery event"), _("delivery events")
        constraints = (
            models.UniqueConstraint(
                fields=["tenant", "provider", "event_id"],
                condition=~Q(event_id=""),
                name="deliveryevent_once",
            ),
        )
        indexes = (models.Index(fields=["message", "at"], name="deliveryevent_message"),)
        triggers = APPEND_ONLY

    def __str__(self) -> str:
        return self.kind


class Suppression(TenantModel):
    """An address that is not written to any more on a channel: it bounced, complained or asked (I11)."""

    class Cause(models.TextChoices):
        BOUNCED = "bounced", _("Mail to it came back")
        COMPLAINED = "complained", _("It was marked as spam")
        STOPPED = "stopped", _("The person asked for it")
        MANUAL = "manual", _("Set by the company")

    channel = models.CharField(max_length=10, choices=Channel)
    address = models.CharField(max_length=254)
    cause = models.CharField(max_length=12, choices=Cause)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = TenantForeignKey("ledger.Membership", null=True, related_name="+", editable=False)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["tenant", "channel", "address"], condition=Q(ended_at=None), name="suppression_once"
            ),
        )

    def __str__(self) -> str:
        return self.address
