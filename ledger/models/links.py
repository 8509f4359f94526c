"""Links that open one thing to whoever holds them. Ids only: on the list of tables without a policy."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ledger.tenancy import new_id


class PublicLink(models.Model):
    """One link for one object.

    The token is derived from the row's id and the installation's key (ledger/links.py); only its SHA-256 is
    stored, to find the row before any company is known. A closed link is as good as unknown.
    """

    class Kind(models.TextChoices):
        QUOTE = "quote"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=12, choices=Kind)
    token_sha256 = models.CharField(max_length=64, unique=True)
    tenant_id = models.UUIDField()
    object_id = models.UUIDField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["kind", "object_id"], condition=Q(closed_at=None), name="publiclink_one_open"
            ),
            models.CheckConstraint(condition=Q(kind__in=["quote"]), name="publiclink_kind"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
