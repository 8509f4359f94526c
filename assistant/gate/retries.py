"""A request that failed and is made again: its new card says which attempt it is and why the one before failed (T84).

What is stored is the failure's code; its words are the reader's (assistant.tools.failures).
"""

import uuid
from typing import Any

from assistant.models import PendingAction, Status
from assistant.tools.facts import Phrase

FAILED_BEFORE = "failed_before"
"""The warning's code. Its parameters count the attempt that the card asks for, and say why the last one failed."""
TRIED = (Status.EXECUTED, Status.FAILED, Status.IN_DOUBT)


def warning(conversation_id: uuid.UUID, sameness: str, *, before: PendingAction | None) -> tuple[Phrase, ...]:
    """What a new card has to say of the attempt before it.

    `before` is the action that it takes the place of, or that is asked for again; without one it is the last in this
    conversation that was to do the same and ran.
    """
    last = before or _last_tried(conversation_id, sameness)
    if last is None:
        return ()
    said = attempt_of(last)
    if last.status == Status.FAILED:
        return (Phrase(FAILED_BEFORE, {"attempt": said + 1, "why": {"failure": code_of(last)}}),)
    if before is not None and said > 1:  # it never ran itself: what it said of the one before it still holds
        return (Phrase(FAILED_BEFORE, _said(last)),)
    return ()


def attempt_of(action: PendingAction) -> int:
    """Which attempt at the same thing this is, by its card; the first is 1."""
    return int(_said(action).get("attempt", 1))


def code_of(action: PendingAction) -> str:
    """Why the action failed; empty where it did not."""
    return str((action.failure or {}).get("code", ""))


def _said(action: PendingAction) -> dict[str, Any]:
    warnings = action.preview.get("warnings", ())
    return next((phrase["params"] for phrase in warnings if phrase["code"] == FAILED_BEFORE), {})


def _last_tried(conversation_id: uuid.UUID, sameness: str) -> PendingAction | None:
    """An action in doubt has no end yet, and so comes last."""
    tried = PendingAction.objects.filter(conversation_id=conversation_id, sameness=sameness, status__in=TRIED)
    return tried.order_by("-closed_at").first()
