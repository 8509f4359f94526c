from assistant.models.actions import (
    FINAL,
    OPEN,
    UNFINISHED,
    Alert,
    Attempt,
    Decision,
    PendingAction,
    Seen,
    Status,
)
from assistant.models.conversations import Conversation, Message
from assistant.models.policies import LimitUse, Question, ReviewPolicy
from assistant.models.turns import DailyUsage, ToolCall, Turn

__all__ = [
    "FINAL",
    "OPEN",
    "UNFINISHED",
    "Alert",
    "Attempt",
    "Conversation",
    "DailyUsage",
    "Decision",
    "LimitUse",
    "Message",
    "PendingAction",
    "Question",
    "ReviewPolicy",
    "Seen",
    "Status",
    "ToolCall",
    "Turn",
]
