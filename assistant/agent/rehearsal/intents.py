"""What a message asks for, by the patterns of intents.toml in English and Portuguese."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from assistant.agent.rehearsal.words import REF, plain


class Intent(StrEnum):
    GREETING = "greeting"
    THANKS = "thanks"
    FAREWELL = "farewell"
    WHO_ARE_YOU = "who_are_you"
    CAPABILITIES = "capabilities"
    DECIDE = "decide"
    PENDING = "pending"
    OUTCOME = "outcome"
    AGAIN = "again"
    AMEND = "amend"
    NEVER_MIND = "never_mind"
    OVERDUE = "overdue"
    REFUND = "refund"
    RECORD_PAYMENT = "record_payment"
    LIST_PAYMENTS = "list_payments"
    PRICE = "price"
    REMIND = "remind"
    CONVERT_LEAD = "convert_lead"
    MOVE_LEAD = "move_lead"
    CREATE_LEAD = "create_lead"
    DELETE_LEAD = "delete_lead"
    LIST_LEADS = "list_leads"
    CREATE_CLIENT = "create_client"
    DELETE_CLIENT = "delete_client"
    ARCHIVE_CLIENT = "archive_client"
    UPDATE_CONTACT = "update_contact"
    LIST_CLIENTS = "list_clients"
    DELETE_QUOTE = "delete_quote"
    PREVIEW_QUOTE = "preview_quote"
    EDIT_LINES = "edit_lines"
    SEND_INVOICE = "send_invoice"
    CREATE_INVOICE = "create_invoice"
    SEND_QUOTE = "send_quote"
    SEND_IT = "send_it"
    CREATE_QUOTE = "create_quote"
    LIST_INVOICES = "list_invoices"
    GET_INVOICE = "get_invoice"
    LIST_QUOTES = "list_quotes"
    GET_QUOTE = "get_quote"
    NOTE = "note"
    DRAFT = "draft"
    EMAIL = "email"
    TOTAL = "total"
    SHOW = "show"


def _read() -> Iterator[tuple[Intent, re.Pattern[str]]]:
    data = tomllib.loads(Path(__file__).with_name("intents.toml").read_text(encoding="utf-8"))
    for entry in data["intent"]:
        for pattern in entry["match"]:
            for name, words in data["words"].items():
                pattern = pattern.replace(f"{{{name}}}", words)
            yield Intent(entry["name"]), re.compile(pattern)


PATTERNS: Final = tuple(_read())


def intent_of(text: str) -> Intent | None:
    """What the text asks for, or None. A ref alone asks nothing."""
    words = plain(text)
    if not re.search(r"[a-z]", REF.sub("", words)):
        return None
    return next((intent for intent, pattern in PATTERNS if pattern.match(words)), None)
