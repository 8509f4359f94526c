"""Write the record. The chain is made by the database (ledger/models/audit.py) and verified by ledger/chain.py."""

import contextlib
import json
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.utils import timezone

from ledger.chain import GENESIS as GENESIS
from ledger.chain import ChainState as ChainState
from ledger.chain import verify as verify
from ledger.models.audit import AuditEvent
from ledger.models.base import Via
from ledger.models.people import Membership
from ledger.tenancy import new_id


@dataclass(frozen=True)
class Origin:
    """Where a request came in: the door and the network address. Never who: that is always `by`."""

    door: str = Via.SYSTEM
    address: str = ""


_origin: ContextVar[Origin | None] = ContextVar("origin", default=None)


def origin() -> Origin:
    return _origin.get() or Origin()


@contextlib.contextmanager
def entering(door: str, address: str = "") -> Iterator[None]:
    """Name the door for what is recorded inside the block."""
    token = _origin.set(Origin(door, address[:64]))
    try:
        yield
    finally:
        _origin.reset(token)


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, no floats; the same value gives the same text for ever."""
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return str(value) if isinstance(value, str) else value
        case float():
            raise TypeError("no floats in the record")
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item) for item in value]
        case _:
            return str(value)


def record(
    kind: str,
    *,
    by: Membership | None,
    subject: models.Model | None = None,
    subject_kind: str = "",
    subject_id: uuid.UUID | None = None,
    **detail: Any,
) -> AuditEvent:
    """Append one event, in the transaction of what it tells of. `kind` is a past deed: "quote.sent"."""
    came, at, event_id = origin(), timezone.now(), new_id()
    if subject is not None:
        subject_kind, subject_id = subject._meta.model_name or "", subject.pk
    body = {
        "id": event_id,
        "kind": kind,
        "at": at.isoformat(),
        "actor": by.pk if by else None,
        "actor_name": by.name if by else None,
        "door": came.door,
        "address": came.address,
        "subject_kind": subject_kind,
        "subject_id": subject_id,
        "detail": detail,
    }
    return AuditEvent.objects.create(
        id=event_id,
        kind=kind,
        at=at,
        actor=by,
        door=came.door,
        address=came.address,
        subject_kind=subject_kind,
        subject_id=subject_id,
        body=canonical(body),
    )
