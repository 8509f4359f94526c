"""Documents as they were rendered: the bytes, kept for ever beside what they were made from."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ledger.models.audit import APPEND_ONLY
from ledger.tenancy import TenantModel


class StoredDocument(TenantModel):
    """One rendered file. The same content is stored once; its name is the SHA-256 of its bytes. Append-only.

    `kind` says what it is ("quote"), `subject_id` which row it was made from (a quote's revision); `preview`
    is its first page as PNG; `complete` is false where a character is in none of the fonts and prints as an empty
    box. Lists defer the two byte columns.
    """

    kind = models.CharField(max_length=16)
    subject_id = models.UUIDField()
    sha256 = models.CharField(max_length=64)
    content = models.BinaryField()
    pages = models.PositiveSmallIntegerField()
    preview = models.BinaryField()
    complete = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["tenant", "sha256"], name="storeddocument_once"),
            models.CheckConstraint(condition=Q(sha256__regex=r"^[0-9a-f]{64}$"), name="storeddocument_sha256"),
            models.CheckConstraint(condition=Q(pages__gte=1), name="storeddocument_pages"),
        )
        indexes = (models.Index(fields=["tenant", "subject_id"], name="storeddocument_subject"),)
        triggers = APPEND_ONLY

    def __str__(self) -> str:
        return f"{self.kind} {self.sha256[:12]}"
