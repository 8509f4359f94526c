from ledger.models.audit import AuditEvent, AuditLink, ChainCheck, ChainHead
from ledger.models.base import BusinessModel, Via
from ledger.models.clients import Client, Contact, Site
from ledger.models.company import Company, Sequence, SettingsVersion
from ledger.models.documents import StoredDocument
from ledger.models.due import Due
from ledger.models.forms import SubmittedForm
from ledger.models.invoice_lines import CreditNote, InvoiceLine
from ledger.models.invoices import Invoice
from ledger.models.knocks import Knock
from ledger.models.leads import OPEN_STAGES, Lead, LostReason, Stage, StageChange
from ledger.models.lifelines import Lifeline
from ledger.models.links import PublicLink
from ledger.models.messages import Attachment, Channel, ClientMessage, DeliveryEvent, Suppression
from ledger.models.notes import Note
from ledger.models.notices import Delegation, StaffNotice
from ledger.models.passkeys import Passkey
from ledger.models.payments import Allocation, Payment, Refund
from ledger.models.people import Access, Language, Membership, Role, Suspension, User
from ledger.models.pricebook import PriceItem, PriceVersion
from ledger.models.quote_lines import QuoteLine
from ledger.models.quote_revisions import QuoteRevision
from ledger.models.quotes import Acceptance, Quote
from ledger.models.sandbox import SandboxDelivery, SandboxKnob

__all__ = [
    "OPEN_STAGES",
    "Acceptance",
    "Access",
    "Allocation",
    "Attachment",
    "AuditEvent",
    "AuditLink",
    "BusinessModel",
    "ChainCheck",
    "ChainHead",
    "Channel",
    "Client",
    "ClientMessage",
    "Company",
    "Contact",
    "CreditNote",
    "Delegation",
    "DeliveryEvent",
    "Due",
    "Invoice",
    "InvoiceLine",
    "Knock",
    "Language",
    "Lead",
    "Lifeline",
    "LostReason",
    "Membership",
    "Note",
    "Passkey",
    "Payment",
    "PriceItem",
    "PriceVersion",
    "PublicLink",
    "Quote",
    "QuoteLine",
    "QuoteRevision",
    "Refund",
    "Role",
    "SandboxDelivery",
    "SandboxKnob",
    "Sequence",
    "SettingsVersion",
    "Site",
    "StaffNotice",
    "Stage",
    "StageChange",
    "StoredDocument",
    "SubmittedForm",
    "Suppression",
    "Suspension",
    "User",
    "Via",
]
