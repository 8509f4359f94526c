from assistant.models.actions import (
    FINAL,
    OPEN,
    Alert,
    Attempt,
    Decision,
    PendingAction,
    Seen,
    Status,
)
from assistant.models.conversations import Conversation, Message
from assistant.models.turns import DailyUsage, ToolCall, Turn

__all__ = [
    "FINAL",
    "OPEN",
    "Alert",
    "Attempt",
    "Conversation",
    "DailyUsage",
    "Decision",
    "Message",
    "PendingAction",
    "Seen",
    "Status",
    "ToolCall",
    "Turn",
]
