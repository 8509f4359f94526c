"""Find records by name, ref, phone, e-mail, address or amount, and say honestly when more than one party fits.

One query for each kind of record, one more for contacts and one for open documents, whatever is found. Nothing is
chosen here: several parties are returned as candidates (H30).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ledger import permissions
from ledger.actions import columns
from ledger.actions.search_query import Query, Strength, read_query
from ledger.actions.search_sources import NAMED, SOURCES, Found, open_documents
from ledger.models import Membership

MOST = 20
RANK = {kind: place for place, kind in enumerate(SOURCES)}
DOCUMENTS = ("quote", "invoice")
DOCUMENTS_EACH = 5


@dataclass(frozen=True)
class Hit:
    """One record: its ref, whose it is, what tells it from others, and what is open with that party."""

    kind: str
    ref: str
    name: str
    strength: Strength
    party: str
    details: dict[str, Any]
    documents: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        shown = {"kind": self.kind, "ref": self.ref, "name": self.name, "match": self.strength.name.lower()}
        if self.party != self.ref:
            shown["party"] = self.party
        return shown | {name: value for name, value in self.details.items() if value} | self._documents()

    def _documents(self) -> dict[str, Any]:
        return {"documents": self.documents} if self.documents else {}


@dataclass(frozen=True)
class SearchResult:
    """The hits, best first; `ambiguous` when they belong to more than one party; `more` when some were left off."""

    hits: list[Hit]
    ambiguous: bool
    more: bool

    @property
    def only(self) -> Hit | None:
        """The single hit, if there is exactly one."""
        return self.hits[0] if len(self.hits) == 1 else None


def search_records(query: str, *, by: Membership, types: Iterable[str] = (), limit: int = 10) -> SearchResult:
    """Search the company's records. `types` narrows to kinds (all there are, when empty); `limit` is at most 20.

    An exact ref is an answer by itself. Otherwise every word of the query must occur, whatever its case, accents
    or apostrophes (H29); only where nothing has them all are similar spellings returned, marked as such.
    """
    permissions.require(by, "view_records")
    limit = max(1, min(limit, MOST))
    company = columns.company()
    asked = read_query(query, company.locale, company.currency)
    kinds = [kind for kind in SOURCES if kind in set(types)] if types else list(SOURCES)
    found = _gather(asked, kinds, limit)
    if not found and asked.may_be_misspelt:
        found = _gather(asked.similar(), [kind for kind in kinds if kind in NAMED], limit)
    if any(one.strength is Strength.REF for one in found):
        found = [one for one in found if one.strength is Strength.REF]
    if not types:
        found = _without_repeats(found)
    found.sort(key=lambda one: (one.strength, RANK[one.kind], one.name, one.ref))
    shown = found[:limit]
    documents = open_documents({one.party_key for one in shown}, DOCUMENTS_EACH)
    hits = [
        Hit(
            kind=one.kind,
            ref=one.ref,
            name=one.name,
            strength=one.strength,
            party=one.party_ref,
            details=one.details,
            documents=[] if one.kind in DOCUMENTS else documents.get(one.party_key, []),
        )
        for one in shown
    ]
    return SearchResult(hits, ambiguous=len({one.party_key for one in found}) > 1, more=len(found) > limit)


def _gather(asked: Query, kinds: list[str], limit: int) -> list[Found]:
    return [one for kind in kinds for one in SOURCES[kind](asked, limit + 1)]


def _without_repeats(found: list[Found]) -> list[Found]:
    """Without the documents that were only found by the name of a party who is a hit too: they stand with it."""
    parties = {one.party_key for one in found if one.kind in ("client", "lead")}
    own = (Strength.REF, Strength.AMOUNT)
    return [one for one in found if one.kind not in DOCUMENTS or one.strength in own or one.party_key not in parties]
