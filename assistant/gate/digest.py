"""The hash of what a card shows and would run (settled question 10)."""

import hashlib
from typing import Any

from assistant.models import PendingAction
from ledger.audit import canonical


def digest(*, tool: str, version: str, payload_text: str, preview_text: str, summary: str) -> str:
    """SHA-256, in hex, of the canonical JSON of the five parts."""
    parts = {
        "tool": tool,
        "version": version,
        "payload": payload_text,
        "preview": preview_text,
        "summary": summary,
    }
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def sameness(tool: str, payload: Any) -> str:
    """SHA-256 of tool and payload: two proposals alike in this are one card (T87)."""
    return hashlib.sha256(canonical({"tool": tool, "payload": payload}).encode()).hexdigest()


def intact(action: PendingAction) -> bool:
    """Whether the stored row still hashes to the digest that was shown, and its jsonb to its text."""
    again = digest(
        tool=action.tool,
        version=action.tool_version,
        payload_text=action.payload_text,
        preview_text=action.preview_text,
        summary=action.summary,
    )
    return again == action.digest and canonical(action.payload) == action.payload_text
