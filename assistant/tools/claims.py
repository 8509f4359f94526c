"""The key to a tool's effect: a claimed attempt, checked in the database at the moment of use (R1, T35)."""

import contextlib
import uuid
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.db.models import CharField

from assistant.models import PendingAction, Status
from ledger import audit, tenancy
from ledger.compiled import Compiled, Slot, an_id


class Unclaimed(RuntimeError):
    """A tool's effect was reached without the claimed attempt of a decided action."""


@dataclass(frozen=True)
class Claim:
    """One worker's claim on one action."""

    tenant_id: uuid.UUID
    action_id: uuid.UUID
    token: uuid.UUID


CLAIMED = Compiled(
    lambda: PendingAction.objects.filter(
        pk=an_id(),
        tool=Slot("tool", CharField()),
        status=Status.EXECUTING,
        attempts__token=an_id("token"),
        attempts__finished_at=None,
    ).values_list("payload_text", flat=True)
)
"""The payload of an action that is executing under a claim."""

_claim: ContextVar[Claim | None] = ContextVar("claim", default=None)


@contextlib.contextmanager
def holding(claim: Claim) -> Iterator[None]:
    """Carry a claim while its tool runs."""
    token = _claim.set(claim)
    try:
        yield
    finally:
        _claim.reset(token)


def verify(tool: str, payload: dict[str, Any], key: uuid.UUID) -> None:
    """Raise Unclaimed unless this action is executing under the claim held here, with exactly this payload."""
    claim = _claim.get()
    if claim is None or claim.action_id != key:
        raise Unclaimed(f"{tool} needs a claimed attempt")
    with tenancy.tenant(claim.tenant_id):
        if CLAIMED.first(pk=key, tool=tool, token=claim.token) != audit.canonical(payload):
            raise Unclaimed(f"{tool} needs a claimed attempt with this payload")


def guarded(tool: str, part: Callable[..., Any], payload_at: int) -> Callable[..., Any]:
    """The same function behind `verify`; `payload_at` is the payload's place among its arguments, the key is last."""

    @wraps(part)
    def run(*args: Any) -> Any:
        verify(tool, args[payload_at], args[-1])
        return part(*args)

    return run
