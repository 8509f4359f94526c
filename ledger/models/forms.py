"""Forms that were already taken: the second post of the same form finds its key here (H22)."""

import uuid

from django.db import models
from django.utils import timezone

from ledger.tenancy import TenantModel


class SubmittedForm(TenantModel):
    """One form that was posted and taken. `key` came with the form; `location` is where its answer led."""

    key = models.UUIDField(default=uuid.uuid4)
    location = models.CharField(max_length=400, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = (models.Index(fields=["tenant", "created_at"], name="submittedform_age"),)
        constraints = (models.UniqueConstraint(fields=["tenant", "key"], name="submittedform_once"),)
