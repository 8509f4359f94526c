from ledger.models.audit import AuditEvent, AuditLink, ChainHead
from ledger.models.base import BusinessModel, Via
from ledger.models.clients import Client, Contact, Site, TaxIdKind
from ledger.models.company import Company, Sequence, SettingsVersion
from ledger.models.due import Due
from ledger.models.forms import SubmittedForm
from ledger.models.leads import OPEN_STAGES, Lead, LostReason, Stage, StageChange
from ledger.models.notes import Note
from ledger.models.people import Access, Language, Membership, Role, Suspension, User
from ledger.models.sandbox import SandboxDelivery, SandboxKnob

__all__ = [
    "OPEN_STAGES",
    "Access",
    "AuditEvent",
    "AuditLink",
    "BusinessModel",
    "ChainHead",
    "Client",
    "Company",
    "Contact",
    "Due",
    "Language",
    "Lead",
    "LostReason",
    "Membership",
    "Note",
    "Role",
    "SandboxDelivery",
    "SandboxKnob",
    "Sequence",
    "SettingsVersion",
    "Site",
    "Stage",
    "StageChange",
    "SubmittedForm",
    "Suspension",
    "TaxIdKind",
    "User",
    "Via",
]
