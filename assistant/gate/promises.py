"""After the deed: does the receipt keep what the card promised? (T82)

A tool names what its receipt has to point to (`promises`); what card and receipt both say has to be the same. A deed
in our own database that does not keep it is undone and reads as failed; one that a provider has accepted stands, and
people are alerted.
"""

from typing import Any

from assistant.models import PendingAction
from assistant.tools.registry import Receipt, Tool
from ledger.models import Client, ClientMessage, Invoice, Lead, Payment, Quote, Refund

MISMATCH = "mismatch"
"""The kind of the alert."""
MODELS: dict[str, Any] = {
    "client": Client,
    "draft": Invoice,
    "invoice": Invoice,
    "lead": Lead,
    "message": ClientMessage,
    "payment": Payment,
    "quote": Quote,
    "refund": Refund,
}
"""What a ref on a receipt points to, by the name of its fact."""
COMPARED = frozenset({"ref", "hash", "money", "count", "date", "datetime", "email", "percent"})
LATER = frozenset({"assigned_on_confirm", "without_number"})
"""Marks of facts that the card itself says will be others."""


class NotKept(Exception):
    """The receipt does not say what the card promised. `names` are the facts that are missing or differ."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


def broken(made: Tool, action: PendingAction, receipt: Receipt) -> list[str]:
    """The names of the promised facts that the receipt lacks, that point to nothing, or that differ from the card's."""
    missing = [name for name, state in made.promises.items() if not _is_there(name, state, receipt.facts.get(name))]
    shown = {
        fact["name"]: fact["value"]
        for fact in action.preview["facts"]
        if fact["kind"] in COMPARED and not LATER & set(fact["marks"])
    }
    differing = [name for name, value in receipt.facts.items() if name in shown and shown[name] != value]
    return [*missing, *differing]


def require(made: Tool, action: PendingAction, receipt: Receipt) -> None:
    """Raise NotKept where the receipt does not keep what the card promised."""
    if names := broken(made, action, receipt):
        raise NotKept(names)


def _is_there(name: str, state: str, ref: Any) -> bool:
    """Whether the ref names a row that stands, or, for `trashed`, one that lies in the trash."""
    if not isinstance(ref, str) or not ref:
        return False
    rows = MODELS[name].objects.filter(ref=ref)
    if state == "trashed":
        rows = rows.filter(deleted_at__isnull=False)
    return bool(rows.exists())
