"""One company's actions with what was decided and tried, read once for all checks."""

import uuid
from dataclasses import dataclass

from assistant.models import Attempt, Decision, PendingAction

CONFIRM = Decision.Verdict.CONFIRM


@dataclass(frozen=True)
class Rows:
    """Of the company in scope."""

    actions: dict[uuid.UUID, PendingAction]
    decisions: list[Decision]
    attempts: dict[uuid.UUID, Attempt]

    @classmethod
    def read(cls) -> "Rows":
        return cls(
            actions={action.pk: action for action in PendingAction.objects.all()},
            decisions=list(Decision.objects.all()),
            attempts={attempt.action_id: attempt for attempt in Attempt.objects.all()},
        )
