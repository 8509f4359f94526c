"""The records that tool results have shown in this conversation, whatever shape the results have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

REF: Final = re.compile(r"([A-Z]{1,4})-\d{1,12}\Z")
KINDS: Final = {
    "C": "client",
    "L": "lead",
    "S": "site",
    "Q": "quote",
    "ORC": "quote",
    "INV": "invoice",
    "FAT": "invoice",
    "D": "invoice",
    "PAY": "payment",
    "PI": "price_item",
}
NAMES: Final = ("name", "title", "description", "client_name", "party_name", "client", "party", "lead")
PARTIES: Final = ("client", "party", "lead", "client_ref", "party_ref", "lead_ref")
REF_KEYS: Final = (
    "ref",
    "number",
    "quote_ref",
    "invoice_ref",
    "client_ref",
    "lead_ref",
    "payment_ref",
    "price_item_ref",
)
LISTS: Final = (
    "items",
    "hits",
    "results",
    "documents",
    "quotes",
    "invoices",
    "clients",
    "leads",
    "payments",
    "actions",
    "records",
)


@dataclass(slots=True)
class Entity:
    """One record as far as it has been seen."""

    ref: str
    facts: dict[str, Any] = field(default_factory=dict)
    owner: Entity | None = None
    party_ref: str = ""
    party_name: str = ""

    @property
    def kind(self) -> str:
        return kind_of(self.ref)

    @property
    def name(self) -> str:
        for key in NAMES:
            found = self.facts.get(key)
            if isinstance(found, dict):
                found = found.get("name")
            if isinstance(found, str) and found and not REF.match(found):
                return found
        return ""

    def fact(self, *keys: str) -> str:
        """The first of these facts, as text; {"amount": …} and {"value": …} count as what they hold."""
        for key in keys:
            found = self.facts.get(key)
            if isinstance(found, dict):
                found = found.get("text") or found.get("formatted") or found.get("amount") or found.get("value")
            if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
                return str(found)
        return ""

    @property
    def total(self) -> str:
        return self.fact("total", "amount", "total_text")

    @property
    def words(self) -> str:
        """Everything that may tell this record from another: its own facts, and its owner's without their lists."""
        own = list(_texts(self.facts))
        if self.owner:
            own += _texts({key: value for key, value in self.owner.facts.items() if not isinstance(value, list)})
        return " ".join(own)


@dataclass(slots=True)
class Memory:
    """`hits` are what the last search found, in its order; `mentioned` all refs, the latest last.

    `currency` is the code that results named last ("USD"), or "".
    """

    entities: dict[str, Entity] = field(default_factory=dict)
    hits: list[Entity] = field(default_factory=list)
    ambiguous: bool = False
    mentioned: list[str] = field(default_factory=list)
    currency: str = ""

    @classmethod
    def of(cls, calls: Iterable[tuple[str, Mapping[str, Any], Mapping[str, Any]]]) -> Memory:
        memory = cls()
        for name, arguments, result in calls:
            memory._mention(_refs(arguments))
            found = memory._learn(result, arguments)
            if name == "search_records" and not result.get("error"):
                memory.hits = [memory.entities[ref] for ref in found]
                memory.ambiguous = bool(result.get("ambiguous"))
        return memory

    def hits_of(self, result: Mapping[str, Any]) -> list[Entity]:
        """The records at the top of a search's result, in its order."""
        refs = [ref_of(item) for item in items_of(result) if isinstance(item, dict)]
        return [self.entities[ref] for ref in dict.fromkeys(refs) if ref in self.entities]

    def get(self, ref: str) -> Entity:
        return self.entities.get(ref) or Entity(ref)

    def of_party(self, party_ref: str, kind: str) -> list[Entity]:
        """The party's documents of a kind that have been seen."""
        return [entity for entity in self.entities.values() if entity.party_ref == party_ref and entity.kind == kind]

    def latest(self, *kinds: str) -> str:
        """The record of these kinds that was mentioned last, or ""."""
        return next((ref for ref in reversed(self.mentioned) if kind_of(ref) in kinds), "")

    def _mention(self, refs: Iterable[str]) -> None:
        for ref in refs:
            if ref in self.mentioned:
                self.mentioned.remove(ref)
            self.mentioned.append(ref)

    def _learn(self, result: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
        """Take in all records of a result; return those at its top, in order. A list for a party is the party's."""
        asked_for = next((arguments[key] for key in PARTIES if isinstance(arguments.get(key), str)), "")
        party = self.entities.get(asked_for)
        if isinstance(result.get("currency"), str):
            self.currency = result["currency"]
        listed = [] if ref_of(result) else [item for item in items_of(result) if isinstance(item, dict)]
        found = []
        for item in listed or [dict(result)]:
            entity = self._entity(item, party)
            if entity:
                found.append(entity.ref)
        self._mention(found[-1:] if len(found) == 1 else [])
        return list(dict.fromkeys(found))

    def _entity(self, data: Mapping[str, Any], party: Entity | None) -> Entity | None:
        ref = ref_of(data)
        entity = None
        if ref:
            entity = self.entities.setdefault(ref, Entity(ref))
            entity.facts.update(data)
            self._tie(entity, party)
        owner = self._owner_of(entity) or party
        if isinstance(data.get("currency"), str):
            self.currency = data["currency"]
        for value in data.values():
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, dict):
                    self._entity(inner, owner)
                elif isinstance(value, list) and isinstance(inner, str) and REF.match(inner):
                    self._tie(self.entities.setdefault(inner, Entity(inner)), owner)
        return entity

    def _owner_of(self, entity: Entity | None) -> Entity | None:
        """To whom what stands inside this record belongs."""
        if entity is None or entity.kind in ("client", "lead"):
            return entity
        return self.entities.setdefault(entity.party_ref, Entity(entity.party_ref)) if entity.party_ref else None

    def _tie(self, entity: Entity, party: Entity | None) -> None:
        if party and party.ref != entity.ref and kind_of(entity.ref) not in ("client", "lead", "price_item"):
            entity.owner, entity.party_ref, entity.party_name = party, party.ref, party.name
            return
        for key in PARTIES:
            found = entity.facts.get(key)
            if isinstance(found, dict):
                entity.party_ref = str(found.get("ref") or entity.party_ref)
                entity.party_name = str(found.get("name") or entity.party_name)
            elif isinstance(found, str) and REF.match(found) and found != entity.ref:
                entity.party_ref = found
            elif isinstance(found, str) and found:
                entity.party_name = entity.party_name or found
        named = entity.facts.get("client_name") or entity.facts.get("party_name")
        entity.party_name = str(named or entity.party_name)
        entity.owner = self.entities.get(entity.party_ref) or entity.owner


def kind_of(ref: str) -> str:
    return KINDS.get(ref.partition("-")[0], "")


def ref_of(data: Mapping[str, Any]) -> str:
    for key in REF_KEYS:
        found = data.get(key)
        if isinstance(found, str) and REF.match(found):
            return found
    return ""


def items_of(result: Mapping[str, Any]) -> list[Any]:
    """The list that a result is about."""
    for key in LISTS:
        if isinstance(result.get(key), list):
            return list(result[key])
    return next((value for value in result.values() if isinstance(value, list)), [])


def _refs(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if REF.match(value):
            yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _refs(inner)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
