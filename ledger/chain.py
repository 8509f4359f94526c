"""The chain of the record: how a link is made, and the reading of it from its first link to its head.

The database makes the links (ledger/models/audit.py); this module makes each of them again and compares. The formulas
stand a third time, in `ledger/record/verify.py`, which goes out with an export and imports nothing of ours.

Version 1 of a link is SHA-256 of the hash before it and the body. Version 2 is SHA-256 of the hash before it, of what
the event's columns say, and of a hash of the body with a salt: so the body can be erased by a recorded deed, while who
did what kind of thing when to which record stays proven (docs/decisions/0013).
"""

import hashlib
import json
import uuid
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Subquery
from django.db.models.functions import Coalesce

from ledger.models.audit import ERASED, AuditEvent, AuditLink, ChainHead
from ledger.tenancy import current_tenant

GENESIS = "0" * 64
ERASING = "audit.erased"
"""The kind of the event that tells of an erasure; its `links` are the numbers of what was erased."""
PIECE = 2000


@dataclass(frozen=True)
class ChainState:
    """What a verification found: how many links were read and the first bad one, if any.

    `problem` is one of: missing, hash, columns, erased, head, unlinked.
    """

    length: int
    bad_seq: int | None = None
    problem: str = ""

    @property
    def whole(self) -> bool:
        return self.bad_seq is None


@dataclass(frozen=True)
class Place:
    """Where a reading stands: behind the link of this number, which has this hash."""

    seq: int = 0
    hash: str = GENESIS


class Row(NamedTuple):
    """A link with its event, as they are stored."""

    seq: int
    version: int
    hash: str
    body_hash: str
    id: uuid.UUID
    kind: str
    at: datetime
    actor: uuid.UUID | None
    door: str
    address: str
    subject_kind: str
    subject: uuid.UUID | None
    salt: str
    body: str


COLUMNS = (
    "seq",
    "version",
    "hash",
    "body_hash",
    "event_id",
    "event__kind",
    "event__at",
    "event__actor_id",
    "event__door",
    "event__address",
    "event__subject_kind",
    "event__subject_id",
    "event__salt",
    "event__body",
)


def digest(*parts: str) -> str:
    """SHA-256, in hex, of the parts with a line feed between them."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def core(row: Row, tenant_id: uuid.UUID) -> str:
    """What an event's columns say, as the database writes a JSON array of them."""
    at = row.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    said = (tenant_id, row.id, row.kind, at, row.actor, row.door, row.subject_kind, row.subject)
    return json.dumps([one if one is None else str(one) for one in said], ensure_ascii=False)


def link(previous: str, row: Row, tenant_id: uuid.UUID) -> str:
    """The hash that this link must have behind the one before it."""
    if row.version == 1:
        return digest(previous, row.body)
    return digest("2", previous, core(row, tenant_id), row.body_hash)


def follows(previous: str, row: Row, tenant_id: uuid.UUID) -> bool:
    """Whether a link follows from the one before it and its event as stored; an erasure's deed is not looked for."""
    said = row.version == 1 or digest(row.salt, row.body) == row.body_hash or erased_by(row) is not None
    return said and link(previous, row, tenant_id) == row.hash


def rows(after: int, upto: int) -> Iterator[Row]:
    """The links behind one number up to another with their events, in order. In the company's scope."""
    found = AuditLink.objects.filter(seq__gt=after, seq__lte=upto).order_by("seq").values_list(*COLUMNS)
    return (Row(*one) for one in found.iterator(chunk_size=PIECE))


def head() -> Place:
    """Where the chain of the company in scope ends."""
    found = ChainHead.objects.first()
    return Place(found.seq, found.hash) if found else Place()


def verify() -> ChainState:
    """Read the chain of the company in scope from its first link to its head.

    Finds a changed body, a changed column, a missing, moved or added link, an event without a link, an erasure without
    its deed and a cut tail. The head is read first and each later look is one statement, so that events which come
    meanwhile disturb nothing.
    """
    top = head()
    reached = walk(Place(), top.seq)
    return reached if isinstance(reached, ChainState) else end(reached, top)


def walk(place: Place, upto: int) -> Place | ChainState:
    """Read on from a place to the link of a number: where the reading stands then, or what it found wrong."""
    tenant_id, deeds = current_tenant(), Deeds()
    for row in rows(place.seq, upto):
        problem = _problem(place, row, tenant_id, deeds)
        if problem:
            return ChainState(place.seq, place.seq + 1, problem)
        place = Place(row.seq, row.hash)
    return place


def end(reached: Place, top: Place) -> ChainState:
    """What is left to see when every link up to the head has been read."""
    bad = reached.seq + 1
    standing = Coalesce(Subquery(ChainHead.objects.values("seq")[:1]), 0)
    if reached != top or AuditLink.objects.filter(seq__gt=standing).exists():
        return ChainState(reached.seq, bad, "head")
    if AuditEvent.objects.exclude(Exists(AuditLink.objects.filter(event=OuterRef("pk")))).exists():
        return ChainState(reached.seq, bad, "unlinked")
    return ChainState(reached.seq)


def _problem(place: Place, row: Row, tenant_id: uuid.UUID, deeds: "Deeds") -> str:
    if row.seq != place.seq + 1:
        return "missing"
    if link(place.hash, row, tenant_id) != row.hash:
        said_so = row.version != 1 and digest(row.salt, row.body) == row.body_hash
        return "columns" if said_so and not _columns_agree(row) else "hash"
    if row.version != 1 and digest(row.salt, row.body) != row.body_hash:
        deed = erased_by(row)
        if deed is None:
            return "hash"
        return "" if row.seq in deeds.of(deed) else "erased"
    return "" if _columns_agree(row) else "columns"


def erased_by(row: Row) -> uuid.UUID | None:
    """The deed that an erased event names; None for a body that was changed in any other way."""
    found = ERASED.fullmatch(row.body)
    return uuid.UUID(found[1]) if found and row.salt == row.address == "" else None


def _columns_agree(row: Row) -> bool:
    body = json.loads(row.body)
    return [body[name] for name in ("id", "kind", "at", "actor", "door", "subject_kind", "subject_id")] == [
        str(row.id),
        row.kind,
        row.at.isoformat(),
        str(row.actor) if row.actor else None,
        row.door,
        row.subject_kind,
        str(row.subject) if row.subject else None,
    ] and body["address"] == row.address


class Numbers:
    """A set of whole numbers as ranges: [[4, 4], [7, 9]]."""

    def __init__(self, ranges: Iterable[Any]) -> None:
        self.ranges = sorted((int(first), int(last)) for first, last in ranges)
        self._firsts = [first for first, _last in self.ranges]

    @classmethod
    def among(cls, numbers: Iterable[int]) -> "Numbers":
        """The ranges that these numbers, in ascending order, make."""
        made: list[list[int]] = []
        for number in numbers:
            if made and made[-1][1] == number - 1:
                made[-1][1] = number
            else:
                made.append([number, number])
        return cls(made)

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and number <= self.ranges[at][1]


class Deeds:
    """What each erasure on record was of, read once for each."""

    def __init__(self) -> None:
        self._known: dict[uuid.UUID, Numbers] = {}

    def of(self, deed: uuid.UUID) -> Numbers:
        """The numbers of the links that the deed erased; none where there is no such deed."""
        if deed not in self._known:
            event = AuditEvent.objects.filter(pk=deed, kind=ERASING).first()
            self._known[deed] = Numbers(event.told.get("links", ()) if event else ())
        return self._known[deed]
