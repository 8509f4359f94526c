"""Write and verify the record. The chain itself is made by the database (ledger/models/audit.py)."""

import contextlib
import hashlib
import json
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from ledger.models.audit import AuditEvent, AuditLink, ChainHead
from ledger.models.base import Via
from ledger.models.people import Membership
from ledger.tenancy import current_tenant, new_id

GENESIS = "0" * 64


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


@dataclass(frozen=True)
class ChainState:
    """What a verification found: how many links were read and the first bad one, if any."""

    length: int
    bad_seq: int | None = None
    problem: str = ""

    @property
    def whole(self) -> bool:
        return self.bad_seq is None


def verify() -> ChainState:
    """Read the chain of the company in scope from its first link to its head.

    Finds a changed body, a changed column, a missing, moved or added link, an event without a link and a cut tail.
    The head is read first and each later look is one statement, so that events which come meanwhile disturb nothing.
    """
    head = ChainHead.objects.first()
    seq, top = (head.seq, head.hash) if head else (0, GENESIS)
    previous, expected = GENESIS, 1
    links = AuditLink.objects.filter(seq__lte=seq).order_by("seq").select_related("event")
    for link in links.iterator(chunk_size=2000):
        event = link.event
        if link.seq != expected:
            return ChainState(expected - 1, expected, "missing")
        if hashlib.sha256(f"{previous}\n{event.body}".encode()).hexdigest() != link.hash:
            return ChainState(expected - 1, expected, "hash")
        if not _columns_agree(event):
            return ChainState(expected - 1, expected, "columns")
        previous, expected = link.hash, expected + 1
    standing = Coalesce(Subquery(ChainHead.objects.values("seq")[:1]), 0)
    if (seq, top) != (expected - 1, previous) or AuditLink.objects.filter(seq__gt=standing).exists():
        return ChainState(expected - 1, expected, "head")
    if AuditEvent.objects.exclude(Exists(AuditLink.objects.filter(event=OuterRef("pk")))).exists():
        return ChainState(expected - 1, expected, "unlinked")
    return ChainState(expected - 1)


def _columns_agree(event: AuditEvent) -> bool:
    body = json.loads(event.body)
    return (body["id"], body["kind"], body["at"], body["actor"], body["door"], body["subject_id"]) == (
        str(event.id),
        event.kind,
        event.at.isoformat(),
        str(event.actor_id) if event.actor_id else None,
        event.door,
        str(event.subject_id) if event.subject_id else None,
    ) and event.tenant_id == current_tenant()
