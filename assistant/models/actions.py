"""The pending action, the decisions on it and the one attempt to execute it. The database holds the state table."""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.models.audit import APPEND_ONLY, NO_TRUNCATE
from ledger.tenancy import TenantForeignKey, TenantModel


class Status(models.TextChoices):
    PENDING = "pending", _("Waiting for you")
    AWAITING_SECOND = "awaiting_second", _("Waiting for a second person")
    SCHEDULED = "scheduled", _("Confirmed, waiting to run")
    EXECUTING = "executing", _("Running")
    IN_DOUBT = "in_doubt", _("In doubt")
    EXECUTED = "executed", _("Done")
    FAILED = "failed", _("Not done")
    REJECTED = "rejected", _("Rejected")
    CANCELLED = "cancelled", _("Cancelled")
    EXPIRED = "expired", _("Expired")
    SUPERSEDED = "superseded", _("Replaced")


OPEN = (Status.PENDING, Status.AWAITING_SECOND)
FINAL = (
    Status.EXECUTED,
    Status.FAILED,
    Status.REJECTED,
    Status.CANCELLED,
    Status.EXPIRED,
    Status.SUPERSEDED,
)

UNFINISHED = (*OPEN, Status.SCHEDULED, Status.EXECUTING, Status.IN_DOUBT)

TRANSITIONS = [
    *(("pending", to) for to in ("awaiting_second", "scheduled", "rejected", "cancelled", "expired", "superseded")),
    *(("awaiting_second", to) for to in ("scheduled", "rejected", "cancelled", "expired", "superseded")),
    ("scheduled", "executing"),
    ("scheduled", "cancelled"),
    *(("executing", to) for to in ("executed", "failed", "in_doubt")),
    ("in_doubt", "executed"),
    ("in_doubt", "failed"),
]

MUTABLE = (
    "status",
    "expires_at",
    "execute_after",
    "closed_by",
    "closed_at",
    "superseded_by",
    "compensated_by",
    "receipt",
    "failure",
    "stale",
    "escalated_at",
    "seq",
)

PROOF = """
    IF NEW.status = 'scheduled' AND NOT EXISTS (
        SELECT FROM assistant_decision d
         WHERE d.action_id = NEW.id AND d.verdict = 'confirm' AND d.shown_hash = NEW.digest)
    THEN RAISE EXCEPTION 'action % was scheduled without a recorded decision', NEW.id; END IF;
    IF NEW.status IN ('executing', 'executed', 'in_doubt') AND NOT EXISTS (
        SELECT FROM assistant_attempt a WHERE a.action_id = NEW.id)
    THEN RAISE EXCEPTION 'action % runs without a claimed attempt', NEW.id; END IF;
    IF NEW.status = 'executed' AND NEW.receipt IS NULL
    THEN RAISE EXCEPTION 'action % is executed without a receipt', NEW.id; END IF;
    RETURN NULL;
"""


class PendingAction(TenantModel):
    """Everything that is needed to execute later without the model, frozen when it was shown.

    `payload_text` and `preview_text` are canonical JSON; `digest` is the SHA-256 of tool, version, payload, preview
    and summary (settled question 10). Only the columns in MUTABLE ever change; a new column is frozen by default.
    Times are UTC; `undo_seconds` is the time between the click and the run. `amount_cents` and `messages` are what it
    moves and sends, `match` how its records were found (exact, single, fuzzy), `alone` that two people should have
    decided and there is one. `stale` says, while it waits, what of it has changed since (None: nothing).
    """

    conversation = TenantForeignKey("assistant.Conversation", related_name="actions")
    turn = TenantForeignKey("assistant.Turn", null=True, related_name="actions")
    call_id = models.CharField(max_length=128, blank=True, default="")
    requester = TenantForeignKey("ledger.Membership", related_name="+")
    epoch = models.PositiveIntegerField()
    routed = models.BooleanField(default=False)
    approvals = models.PositiveSmallIntegerField(default=1)
    door = models.CharField(max_length=12)
    tool = models.CharField(max_length=60)
    tool_version = models.CharField(max_length=64)
    level = models.PositiveSmallIntegerField()
    effects = models.JSONField()
    operation = models.CharField(max_length=10)
    outside = models.JSONField(default=list)
    arguments = models.TextField()
    reason = models.TextField(blank=True, default="")
    language = models.CharField(max_length=8)
    payload_text = models.TextField()
    payload = models.JSONField()
    preview_text = models.TextField()
    preview = models.JSONField()
    summary = models.TextField()
    targets = models.JSONField()
    digest = models.CharField(max_length=64)
    sameness = models.CharField(max_length=64)
    amount_cents = models.PositiveBigIntegerField(default=0)
    messages = models.PositiveIntegerField(default=0)
    match = models.CharField(max_length=8, default="exact")
    alone = models.BooleanField(default=False)
    undo_seconds = models.PositiveIntegerField(default=0)
    compensation = models.CharField(max_length=60, blank=True, default="")
    edited_from = TenantForeignKey("self", null=True, related_name="edits")
    compensates = TenantForeignKey("self", null=True, related_name="compensations")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    expires_at = models.DateTimeField()
    execute_after = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=32, blank=True, default="")
    closed_at = models.DateTimeField(null=True)
    superseded_by = TenantForeignKey("self", null=True, related_name="+")
    compensated_by = TenantForeignKey("self", null=True, related_name="+")
    receipt = models.JSONField(null=True)
    failure = models.JSONField(null=True)
    stale = models.JSONField(null=True)
    escalated_at = models.DateTimeField(null=True)
    seq = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name, verbose_name_plural = _("pending action"), _("pending actions")
        indexes = (
            models.Index(fields=["conversation", "seq"], name="action_seq"),
            models.Index(fields=["turn"], name="action_turn"),
            models.Index(
                fields=["tenant", "conversation"],
                condition=Q(status__in=["pending", "awaiting_second"]),
                name="action_open",
            ),
            models.Index(fields=["tenant", "created_at"], name="action_made"),  # the figures of a period
            # The inbox: what is not over, oldest first; what has ended, newest first, one for each way to look at it.
            models.Index(fields=["tenant", "id"], condition=Q(status__in=UNFINISHED), name="action_unfinished"),
            models.Index(fields=["tenant", "closed_at", "id"], condition=Q(status__in=FINAL), name="action_ended"),
            models.Index(
                fields=["tenant", "requester", "closed_at", "id"],
                condition=Q(status__in=FINAL),
                name="action_ended_asked",
            ),
            models.Index(
                fields=["tenant", "tool", "closed_at", "id"], condition=Q(status__in=FINAL), name="action_ended_tool"
            ),
            models.Index(
                fields=["tenant", "status", "closed_at", "id"], condition=Q(status__in=FINAL), name="action_ended_as"
            ),
            models.Index(
                fields=["tenant", "tool", "level", "closed_at", "id"],
                condition=Q(status__in=FINAL) & (Q(routed=True) | Q(approvals__gt=1)),
                name="action_ended_shared",
            ),
        )
        constraints = (
            models.CheckConstraint(condition=Q(status__in=[s.value for s in Status]), name="action_status"),
            models.CheckConstraint(condition=Q(level__gte=1, level__lte=3), name="action_level"),
            models.CheckConstraint(condition=Q(approvals__gte=1, approvals__lte=2), name="action_approvals"),
            models.CheckConstraint(condition=Q(operation__in=["internal", "external"]), name="action_operation"),
            models.UniqueConstraint(
                fields=["conversation", "sameness"],
                condition=Q(status__in=["pending", "awaiting_second"]),
                name="action_same_once_open",
            ),
        )
        triggers = (
            pgtrigger.ReadOnly(name="frozen", exclude=list(MUTABLE)),
            pgtrigger.FSM(name="state_table", field="status", transitions=TRANSITIONS),
            pgtrigger.Trigger(
                name="starts_pending",
                operation=pgtrigger.Insert,
                when=pgtrigger.Before,
                condition=pgtrigger.Condition("NEW.status <> 'pending'"),
                func="RAISE EXCEPTION 'an action starts as pending';",
            ),
            pgtrigger.Trigger(
                name="proof",
                operation=pgtrigger.Update,
                when=pgtrigger.After,
                timing=pgtrigger.Deferred,
                condition=pgtrigger.Condition("NEW.status <> OLD.status"),
                func=PROOF,
            ),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            NO_TRUNCATE,
        )

    def __str__(self) -> str:
        return f"{self.tool} {self.status}"


class Decision(TenantModel):
    """What a person decided, on what they had been shown. One for each slot.

    Slots 1 and 2 are the first and the second person's; slot 3 is the undo of a confirmed action before it ran.
    `evidence` is in words; `attachment` says name, kind, size and sha256 of a file (its bytes: EvidenceFile).
    `assertion` is what a passkey signed, whole, so that it can be checked again (gate.passkeys).
    `standing` is the rule that decided in its writer's name, where no person clicked.
    """

    class Verdict(models.TextChoices):
        CONFIRM = "confirm"
        REJECT = "reject"
        CANCEL = "cancel"

    action = TenantForeignKey(PendingAction, related_name="decisions")
    slot = models.PositiveSmallIntegerField(default=1)
    verdict = models.CharField(max_length=8, choices=Verdict)
    member = TenantForeignKey("ledger.Membership", related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)
    door = models.CharField(max_length=12)
    address = models.CharField(max_length=64, blank=True, default="")
    reason_code = models.CharField(max_length=24, blank=True, default="")
    reason = models.TextField(blank=True, default="")
    evidence = models.TextField(blank=True, default="")
    attachment = models.JSONField(null=True)
    assertion = models.JSONField(null=True)
    seconds_shown = models.PositiveIntegerField(null=True)
    shown_hash = models.CharField(max_length=64)
    standing = TenantForeignKey("assistant.StandingApproval", null=True, related_name="+")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["action", "slot"], name="decision_slot"),
            models.CheckConstraint(
                condition=Q(door="standing", standing__isnull=False, verdict="confirm", slot=1)
                | (~Q(door="standing") & Q(standing=None)),
                name="decision_by_rule",
            ),
            models.UniqueConstraint(
                fields=["action", "member"], condition=Q(verdict="confirm"), name="decision_two_people"
            ),
            models.CheckConstraint(condition=Q(slot__in=[1, 2, 3]), name="decision_slots"),
            models.CheckConstraint(condition=Q(verdict__in=["confirm", "reject", "cancel"]), name="decision_verdict"),
        )
        triggers = APPEND_ONLY


class Attempt(TenantModel):
    """The one try to execute an action: claimed by a token, fenced by a lease, at most one for each action.

    `called_at` is set and committed before the call to a provider goes out; `finished_at` with what came of it.
    """

    action = TenantForeignKey(PendingAction, related_name="attempts")
    token = models.UUIDField()
    worker = models.CharField(max_length=120)
    claimed_at = models.DateTimeField(default=timezone.now, editable=False)
    lease_until = models.DateTimeField()
    called_at = models.DateTimeField(null=True)
    reserved = models.JSONField(default=dict)
    finished_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, blank=True, default="")
    detail = models.JSONField(default=dict)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["action"], name="attempt_once"),)
        triggers = (
            pgtrigger.ReadOnly(name="frozen", fields=["id", "tenant", "action", "token", "worker", "claimed_at"]),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            NO_TRUNCATE,
        )


class Seen(TenantModel):
    """The card was on this person's screen, first at this time. The clock of the decision starts here."""

    action = TenantForeignKey(PendingAction, related_name="views")
    member = TenantForeignKey("ledger.Membership", related_name="+")
    door = models.CharField(max_length=12)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["action", "member", "door"], name="seen_once"),)


class Alert(TenantModel):
    """Something that a person has to look at: an action in doubt, stuck or past its deadline. Open until handled."""

    kind = models.CharField(max_length=32)
    action = TenantForeignKey(PendingAction, null=True, related_name="alerts")
    raised_at = models.DateTimeField(default=timezone.now, editable=False)
    handled_at = models.DateTimeField(null=True)
    handled_by = TenantForeignKey("ledger.Membership", null=True, related_name="+")
    note = models.TextField(blank=True, default="")

    class Meta:
        verbose_name, verbose_name_plural = _("alert"), _("alerts")
        indexes = (models.Index(fields=["tenant", "id"], condition=Q(handled_at=None), name="alert_open"),)
        constraints = (
            models.UniqueConstraint(
                fields=["action", "kind"], condition=Q(handled_at=None), name="alert_one_open_of_a_kind"
            ),
        )
