"""Quotes and the client's acceptance. What a quote says is in its revisions (quote_revisions.py)."""

from typing import ClassVar, cast

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.models.audit import APPEND_ONLY
from ledger.models.base import BusinessModel
from ledger.models.clients import Client
from ledger.models.leads import Lead
from ledger.tenancy import TenantForeignKey, TenantModel


class Quote(BusinessModel):
    """An offer to a client or a lead. What it says is in its revisions; `revision` numbers the newest.

    `status` tells where the offer stands with the client. While a new revision is being drafted it is
    `draft`, and the revision sent before stays open to the client until the new one goes out.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        AWAITING_APPROVAL = "awaiting_approval", _("Awaiting approval")
        SENT = "sent", _("Sent")
        VIEWED = "viewed", _("Viewed")
        CHANGES_REQUESTED = "changes_requested", _("Changes requested")
        ACCEPTED = "accepted", _("Accepted")
        DECLINED = "declined", _("Declined")
        EXPIRED = "expired", _("Expired")
        WITHDRAWN = "withdrawn", _("Withdrawn")
        CONVERTED = "converted", _("Converted")

    OPEN: ClassVar = (Status.SENT, Status.VIEWED, Status.CHANGES_REQUESTED)
    DELETABLE: ClassVar = (
        Status.DRAFT,
        Status.AWAITING_APPROVAL,
        Status.DECLINED,
        Status.EXPIRED,
        Status.WITHDRAWN,
    )
    EDITABLE: ClassVar = (Status.DRAFT, Status.AWAITING_APPROVAL)
    REVISABLE: ClassVar = (*OPEN, Status.DECLINED, Status.EXPIRED, Status.WITHDRAWN)

    client = TenantForeignKey(Client, null=True, related_name="quotes")
    lead = TenantForeignKey(Lead, null=True, related_name="quotes")
    site = TenantForeignKey("ledger.Site", null=True, related_name="quotes")
    owner = TenantForeignKey("ledger.Membership", related_name="+")
    title = models.CharField(max_length=160)
    status = models.CharField(max_length=20, choices=Status, default=Status.DRAFT)
    currency = models.CharField(max_length=3)
    revision = models.PositiveSmallIntegerField(default=1)
    valid_days = models.PositiveSmallIntegerField(default=30)

    class Meta:
        verbose_name, verbose_name_plural = _("quote"), _("quotes")
        constraints = (
            models.CheckConstraint(
                condition=Q(client=None, lead__isnull=False) | Q(client__isnull=False, lead=None),
                name="quote_one_party",
            ),
            models.CheckConstraint(condition=Q(valid_days__gte=1, valid_days__lte=180), name="quote_valid_days"),
            models.CheckConstraint(
                condition=Q(
                    status__in=[
                        "draft",
                        "awaiting_approval",
                        "sent",
                        "viewed",
                        "changes_requested",
                        "accepted",
                        "declined",
                        "expired",
                        "withdrawn",
                        "converted",
                    ]
                ),
                name="quote_status",
            ),
            models.CheckConstraint(
                condition=Q(deleted_at=None)
                | Q(status__in=["draft", "awaiting_approval", "declined", "expired", "withdrawn"]),
                name="quote_trash",
            ),
        )
        indexes = (
            models.Index(fields=["tenant", "status", "-created_at"], name="quote_by_status"),
            models.Index(fields=["tenant", "-created_at"], name="quote_recent"),
        )
        triggers = (
            pgtrigger.FSM(
                name="state_table",
                field="status",
                transitions=[
                    ("draft", "awaiting_approval"),
                    ("awaiting_approval", "draft"),
                    *((before, "sent") for before in ("draft", "awaiting_approval", "changes_requested")),
                    ("sent", "viewed"),
                    *(
                        (before, after)
                        for before in ("sent", "viewed", "changes_requested")
                        for after in ("accepted", "declined", "expired", "withdrawn", "draft")
                    ),
                    *((before, "changes_requested") for before in ("sent", "viewed")),
                    *((before, "draft") for before in ("declined", "expired", "withdrawn")),
                    # While a revision is drafted, the one sent before is still with the client.
                    *(("draft", after) for after in ("accepted", "withdrawn")),
                    ("accepted", "converted"),
                ],
            ),
            pgtrigger.Trigger(
                name="proof",
                operation=pgtrigger.Insert | pgtrigger.Update,
                when=pgtrigger.After,
                timing=pgtrigger.Deferred,
                func="""
                    IF NEW.status IN ('accepted', 'converted') AND NOT EXISTS (
                        SELECT FROM ledger_acceptance a JOIN ledger_quoterevision r ON r.id = a.revision_id
                         WHERE r.quote_id = NEW.id)
                    THEN RAISE EXCEPTION 'quote % is accepted without an acceptance', NEW.ref; END IF;
                    IF NEW.status IN ('sent', 'viewed', 'changes_requested') AND NOT EXISTS (
                        SELECT FROM ledger_quoterevision r
                         WHERE r.quote_id = NEW.id AND r.n = NEW.revision AND r.sent_at IS NOT NULL)
                    THEN RAISE EXCEPTION 'quote % is sent without a sent revision', NEW.ref; END IF;
                    RETURN NULL;
                """,
            ),
            pgtrigger.Trigger(
                name="currency",
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("currency"),
                when=pgtrigger.Before,
                func="""
                    IF NEW.currency IS DISTINCT FROM (
                        SELECT c.currency FROM ledger_company c WHERE c.id = NEW.tenant_id)
                    THEN RAISE EXCEPTION 'a quote is in its company''s currency'; END IF;
                    RETURN NEW;
                """,
            ),
        )

    @property
    def party(self) -> "Client | Lead":
        """Whom it is for: one of the two, as the database holds. Reads `client` or `lead`."""
        return cast("Client | Lead", self.client or self.lead)

    @property
    def in_trash(self) -> bool:
        return self.deleted_at is not None


class Acceptance(TenantModel):
    """The client's yes to one revision: exactly the document shown, by name and from where. Append-only.

    `selected` lists the optional lines taken; `totals` is the whole computation with them, in cents.
    """

    revision = TenantForeignKey("ledger.QuoteRevision", related_name="acceptances")
    document_sha256 = models.CharField(max_length=64)
    signer_name = models.CharField(max_length=120)
    selected = models.JSONField(default=list)
    totals = models.JSONField()
    total_cents = models.BigIntegerField()
    agreement = models.TextField()
    address = models.CharField(max_length=64, blank=True, default="")
    user_agent = models.CharField(max_length=300, blank=True, default="")
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("acceptance"), _("acceptances")
        constraints = (
            models.UniqueConstraint(fields=["revision"], name="acceptance_once"),
            models.CheckConstraint(condition=Q(document_sha256__regex=r"^[0-9a-f]{64}$"), name="acceptance_sha256"),
            models.CheckConstraint(condition=~Q(signer_name=""), name="acceptance_signer"),
            models.CheckConstraint(condition=Q(total_cents__gte=0), name="acceptance_total"),
        )
        triggers = (
            *APPEND_ONLY,
            pgtrigger.Trigger(
                name="what_was_sent",
                operation=pgtrigger.Insert,
                when=pgtrigger.Before,
                func="""
                    IF NOT EXISTS (
                        SELECT FROM ledger_quoterevision r
                          JOIN ledger_storeddocument d ON d.id = r.document_id
                         WHERE r.id = NEW.revision_id AND r.status = 'sent'
                           AND d.sha256 = NEW.document_sha256)
                    THEN RAISE EXCEPTION 'only the document of a sent revision can be accepted'; END IF;
                    RETURN NEW;
                """,
            ),
        )

    def __str__(self) -> str:
        return self.signer_name
