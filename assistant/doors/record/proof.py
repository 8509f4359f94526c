"""What the chain itself says of some events: their links, each made again from what is stored."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from assistant.doors.record.evidence import door, moment, who
from ledger import chain, record_words
from ledger.models import AuditEvent, AuditLink
from ledger.tenancy import current_tenant


@dataclass(frozen=True)
class Proof:
    """One link. `holds` where its hash follows from the link before it and from the event as it is stored now."""

    seq: int
    at: str
    word: str
    who: str
    door: str
    address: str
    hash: str
    holds: bool
    erased: bool


def of(events: Iterable[AuditEvent]) -> list[Proof]:
    """The links of the events, in order; two queries. An event without a link has none (it has just been written)."""
    by_id: dict[uuid.UUID, AuditEvent] = {event.pk: event for event in events}
    found = AuditLink.objects.filter(event__in=list(by_id)).order_by("seq").values_list(*chain.COLUMNS)
    rows = [chain.Row(*one) for one in found]
    before = dict(AuditLink.objects.filter(seq__in=[row.seq - 1 for row in rows]).values_list("seq", "hash"))
    tenant_id = current_tenant()
    return [
        Proof(
            seq=row.seq,
            at=moment(row.at),
            word=record_words.word(row.kind),
            who=who(by_id[row.id]),
            door=door(row.door),
            address=row.address,
            hash=row.hash,
            holds=chain.follows(before.get(row.seq - 1, chain.GENESIS), row, tenant_id),
            erased=chain.erased_by(row) is not None,
        )
        for row in rows
    ]
