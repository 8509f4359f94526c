from ledger.models.audit import AuditEvent, AuditLink, ChainHead
from ledger.models.base import BusinessModel, Via
from ledger.models.company import Company, Sequence, SettingsVersion
from ledger.models.due import Due
from ledger.models.people import Access, Language, Membership, Role, Suspension, User
from ledger.models.sandbox import SandboxDelivery, SandboxKnob

__all__ = [
    "Access",
    "AuditEvent",
    "AuditLink",
    "BusinessModel",
    "ChainHead",
    "Company",
    "Due",
    "Language",
    "Membership",
    "Role",
    "SandboxDelivery",
    "SandboxKnob",
    "Sequence",
    "SettingsVersion",
    "Suspension",
    "User",
    "Via",
]
