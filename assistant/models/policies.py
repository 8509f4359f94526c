"""What a company's own review policy says, what of its daily limits is used, and what was asked about a card."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.models.audit import APPEND_ONLY
from ledger.tenancy import TenantForeignKey, TenantModel


class ReviewPolicy(TenantModel):
    """One version of a company's review policy, as text (gate/review.py reads it). Append-only: the newest counts."""

    number = models.PositiveIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = TenantForeignKey("ledger.Membership", related_name="+")

    class Meta:
        verbose_name, verbose_name_plural = _("review policy"), _("review policies")
        constraints = (models.UniqueConstraint(fields=["tenant", "number"], name="review_policy_number"),)
        triggers = APPEND_ONLY


class LimitUse(TenantModel):
    """What one claimed action takes of the day's limits: cents, messages and the clients or leads that it touches.

    `day` is the company's. An action that came to nothing gives it back: `given_back_at`.
    """

    action = TenantForeignKey("assistant.PendingAction", related_name="+")
    day = models.DateField()
    money_in_cents = models.PositiveBigIntegerField(default=0)
    money_out_cents = models.PositiveBigIntegerField(default=0)
    messages = models.PositiveIntegerField(default=0)
    parties = models.JSONField(default=list)
    given_back_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(fields=["tenant", "day"], condition=models.Q(given_back_at=None), name="limit_use_day"),
        )
        constraints = (models.UniqueConstraint(fields=["action"], name="limit_use_once"),)


class Question(TenantModel):
    """A person's question about a waiting card and the answer that the records gave. It decides nothing.

    `code` names the question; `answer` is facts as a card has them (tools/facts.py), in a list for each record that it
    speaks of.
    """

    action = TenantForeignKey("assistant.PendingAction", related_name="questions")
    member = TenantForeignKey("ledger.Membership", related_name="+")
    code = models.CharField(max_length=32)
    answer = models.JSONField()
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("question"), _("questions")
        triggers = APPEND_ONLY
