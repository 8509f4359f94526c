"""Leads: somebody who may become a client, and the way each one went."""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.models.address import Address
from ledger.models.audit import APPEND_ONLY
from ledger.models.base import BusinessModel
from ledger.models.clients import Client
from ledger.models.people import Membership
from ledger.tenancy import TenantForeignKey, TenantModel


class Stage(models.TextChoices):
    NEW = "new", _("New")
    CONTACTED = "contacted", _("Contacted")
    INSPECTION_SCHEDULED = "inspection_scheduled", _("Inspection scheduled")
    ESTIMATING = "estimating", _("Estimating")
    QUOTED = "quoted", _("Quoted")
    WON = "won", _("Won")
    LOST = "lost", _("Lost")
    JUNK = "junk", _("Junk")


OPEN_STAGES = (Stage.NEW, Stage.CONTACTED, Stage.INSPECTION_SCHEDULED, Stage.ESTIMATING, Stage.QUOTED)

# Open stages in any order (the board lets a card be moved back), from each of them out; a lost or junk lead
# may be opened again as contacted; won is final.
TRANSITIONS = [
    *((one.value, other.value) for one in OPEN_STAGES for other in OPEN_STAGES if one != other),
    *((one.value, end.value) for one in OPEN_STAGES for end in (Stage.WON, Stage.LOST, Stage.JUNK)),
    (Stage.LOST.value, Stage.CONTACTED.value),
    (Stage.JUNK.value, Stage.CONTACTED.value),
]


class LostReason(models.TextChoices):
    PRICE = "price", _("Price")
    COMPETITOR = "competitor", _("Went to a competitor")
    NO_REPLY = "no_reply", _("No reply")
    OUT_OF_AREA = "out_of_area", _("Out of our area")
    TIMING = "timing", _("Timing")
    DUPLICATE = "duplicate", _("Duplicate")
    OTHER = "other", _("Other")


class Lead(Address, BusinessModel):
    """Somebody who asked. `value_cents` is what the job may bring, in the company's currency.

    Duplicates (same phone, e-mail or address) are warned about, never refused by the database: two people
    may share a telephone.
    """

    name = models.CharField(_("name"), max_length=200)
    name_key = models.CharField(max_length=200, editable=False)
    phone = models.CharField(_("phone"), max_length=20, blank=True, default="")
    email = models.EmailField(_("e-mail"), blank=True, default="")
    source = models.CharField(_("source"), max_length=60, blank=True, default="")
    service = models.CharField(_("service"), max_length=120, blank=True, default="")
    value_cents = models.BigIntegerField(_("expected value"), default=0)
    owner = TenantForeignKey(Membership, null=True, blank=True, related_name="+", verbose_name=_("owner"))
    stage = models.CharField(_("stage"), max_length=20, choices=Stage, default=Stage.NEW, editable=False)
    lost_reason = models.CharField(max_length=12, choices=LostReason, blank=True, default="", editable=False)
    stage_changed_at = models.DateTimeField(default=timezone.now, editable=False)
    first_response_at = models.DateTimeField(null=True, editable=False)
    converted_client = TenantForeignKey(Client, null=True, related_name="leads", editable=False)
    converted_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("lead"), _("leads")
        indexes = (
            models.Index(fields=["tenant", "-created_at", "-id"], name="lead_newest"),
            models.Index(fields=["tenant", "stage", "-created_at", "-id"], name="lead_stage_newest"),
            models.Index(fields=["tenant", "name_key"], name="lead_name"),
            models.Index(fields=["tenant", "address_key"], condition=~Q(address_key=""), name="lead_address"),
            models.Index(fields=["tenant", "phone"], condition=~Q(phone=""), name="lead_phone"),
            models.Index("tenant", Lower("email"), condition=~Q(email=""), name="lead_email"),
        )
        constraints = (
            models.CheckConstraint(condition=~Q(name=""), name="lead_named"),
            models.CheckConstraint(condition=Q(value_cents__gte=0), name="lead_value"),
            models.CheckConstraint(condition=Q(stage__in=[s.value for s in Stage]), name="lead_stage"),
            models.CheckConstraint(
                condition=Q(stage="lost", lost_reason__in=[r.value for r in LostReason])
                | (~Q(stage="lost") & Q(lost_reason="")),
                name="lead_lost_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(converted_client=None, converted_at=None)
                | Q(stage="won", converted_client__isnull=False, converted_at__isnull=False),
                name="lead_converted_is_won",
            ),
            models.CheckConstraint(condition=Q(deleted_at=None) | ~Q(stage="won"), name="lead_won_is_kept"),
        )
        triggers = (pgtrigger.FSM(name="stage_table", field="stage", transitions=TRANSITIONS),)

    @property
    def is_open(self) -> bool:
        return self.deleted_at is None and self.stage in OPEN_STAGES

    @property
    def is_convertible(self) -> bool:
        """Whether it may become a client: open, or won by an accepted quote and not a client yet."""
        return self.is_open or (self.stage == Stage.WON and self.converted_client_id is None)


class StageChange(TenantModel):
    """One step of a lead on the board. Append-only; the time between two rows is the time in a stage."""

    lead = TenantForeignKey(Lead, related_name="stage_changes")
    from_stage = models.CharField(max_length=20, choices=Stage, blank=True, default="")
    to_stage = models.CharField(max_length=20, choices=Stage)
    lost_reason = models.CharField(max_length=12, choices=LostReason, blank=True, default="")
    note = models.CharField(max_length=500, blank=True, default="")
    at = models.DateTimeField(default=timezone.now)
    by = TenantForeignKey(Membership, null=True, related_name="+")

    class Meta:
        verbose_name, verbose_name_plural = _("stage change"), _("stage changes")
        indexes = (models.Index(fields=["lead", "at"], name="stagechange_of_lead"),)
        triggers = APPEND_ONLY
