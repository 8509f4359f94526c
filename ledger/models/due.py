"""What has to be looked at, and when: ids only, on the closed list of tables without a policy."""

import uuid

from django.db import models


class Due(models.Model):
    """A promise to run the job `kind` for one row at or after `run_at`.

    Written in the transaction that makes the promise, removed by the job when it is kept. The queue's message is
    only a wake-up; a sweep finds what a lost wake-up left.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    object_id = models.UUIDField()
    tenant_id = models.UUIDField()
    run_at = models.DateTimeField()
    lease = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["kind", "object_id"], name="due_once"),)
        indexes = (models.Index(fields=["run_at"], name="due_run_at"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"
