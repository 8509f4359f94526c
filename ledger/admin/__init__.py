"""The operator's pages, a module for each noun; Django loads this package when it starts."""

from ledger.admin import (
    audit,
    clients,
    company,
    invoices,
    leads,
    messages,
    payments,
    pricebook,
    quotes,
    sandbox,
    staff,
)

__all__ = [
    "audit",
    "clients",
    "company",
    "invoices",
    "leads",
    "messages",
    "payments",
    "pricebook",
    "quotes",
    "sandbox",
    "staff",
]
