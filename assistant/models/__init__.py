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
from assistant.models.checks import SpotCheck
from assistant.models.conversations import Conversation, Message
from assistant.models.evidence import EvidenceFile
from assistant.models.policies import LimitUse, Question, ReviewPolicy
from assistant.models.standing import StandingApproval, StandingUse
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
    "EvidenceFile",
    "LimitUse",
    "Message",
    "PendingAction",
    "Question",
    "ReviewPolicy",
    "Seen",
    "SpotCheck",
    "StandingApproval",
    "StandingUse",
    "Status",
    "ToolCall",
    "Turn",
]
