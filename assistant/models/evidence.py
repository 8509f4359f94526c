"""The file that a person gave as evidence with a decision: its bytes, beside the decision's row."""

from django.db import models
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual

from assistant.models.actions import Decision
from ledger.models.audit import APPEND_ONLY
from ledger.tenancy import TenantForeignKey, TenantModel

MOST_BYTES = 4 * 1024 * 1024


class EvidenceFile(TenantModel):
    """The bytes, at most MOST_BYTES of them. What they are called and what they are stands on the decision."""

    decision = TenantForeignKey(Decision, related_name="files")
    content = models.BinaryField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["decision"], name="evidencefile_one"),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("content"), MOST_BYTES), name="evidencefile_bounded"
            ),
        )
        triggers = APPEND_ONLY

    def __str__(self) -> str:
        return str(self.decision_id)
