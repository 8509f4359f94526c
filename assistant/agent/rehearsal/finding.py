"""Finding the record that is meant: in the message, in the conversation, by a search, or by asking.

Nothing here picks between candidates: where several fit, the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.agent.rehearsal.choosing import ALL, choose, tell_apart
from assistant.agent.rehearsal.describing import described
from assistant.agent.rehearsal.intents import Intent, intent_of
from assistant.agent.rehearsal.memory import Entity
from assistant.agent.rehearsal.situation import Situation
from assistant.agent.rehearsal.steps import Step, Want, do, phrase, say
from assistant.agent.rehearsal.subjects import subjects
from assistant.agent.rehearsal.words import plain, refs_in

PREFIXES: Final = {
    "quote": ("Q", "ORC"),
    "invoice": ("INV", "FAT", "D"),
    "payment": ("PAY",),
    "client": ("C",),
    "lead": ("L",),
}
LISTERS: Final = {"quote": "list_quotes", "invoice": "list_invoices", "payment": "list_payments"}
CLOSED: Final = frozenset(
    ["accepted", "declined", "converted", "superseded", "withdrawn", "paid", "void", "written_off", "refunded"]
)
POINTING: Final = re.compile(r"\b(it|that|this|them|both|ele|ela|eles|isso|esse|essa|ambos|her|him|dele|dela)\b")


def find_party(s: Situation, want: Want, command: str, kinds: Sequence[str] = ("client", "lead")) -> Entity | Step:
    """The client or lead that `command` (the part of the message that names it) is about."""
    prefixes = [prefix for kind in kinds for prefix in PREFIXES[kind]]
    for text in (*reversed(want.answers), command):
        if refs := refs_in(text, prefixes):
            return s.memory.get(refs[0])
    query = next(iter(subjects(command)), "")
    known = [party for party in _owners(s, _found_before(s, query)) if party.kind in kinds]
    if len(known) == 1:
        return known[0]
    for answer in reversed(want.answers):
        if known and (chosen := _answered(answer, known)):
            return chosen[0]
    query = _answered_query(want, query if known or not want.answers else "") or query
    if not query:
        latest = s.memory.latest(*kinds)
        return s.memory.get(latest) if latest else say(s, "whom")
    found = _search(s, query)
    if isinstance(found, Step):
        return found
    return _one(s, query, [hit for hit in _owners(s, found) if hit.kind in kinds], want)


def find_documents(s: Situation, want: Want, command: str, kind: str) -> list[Entity] | Step:
    """The quotes, invoices or payments meant; several only if the person said so."""
    prefixes = PREFIXES[kind]
    for text in (*reversed(want.answers), command):
        if refs := refs_in(text, prefixes):
            return [s.memory.get(ref) for ref in refs]
    offered = _documents(s, s.memory.hits, kind)
    for answer in reversed(want.answers):
        if chosen := _answered(answer, offered):
            return chosen
    query = _answered_query(want, next(iter(subjects(command)), ""))
    if not query:
        return _pointed_at(s, command, kind, offered)
    found = _search(s, query)
    if isinstance(found, Step):
        return found
    documents = _documents(s, found, kind)
    if want.answers:
        documents = [one for one in documents if one in offered] or documents
    if not documents and (step := _list_theirs(s, found, kind)):
        return step
    if not documents:
        return say(s, f"no_{kind}" if found else "nobody", name=query)
    wants_all = ALL.search(plain(command)) is not None
    chosen = documents if wants_all else _narrow(documents, command, query)
    if len(documents) == 1 and len(_owners(s, found)) > 1 and not want.answers:
        return say(s, "is_it_this", one=described(s, chosen[0]))
    return chosen if wants_all or len(chosen) == 1 else which(s, chosen)


def which(s: Situation, candidates: Sequence[Entity]) -> Step:
    """Ask, naming each candidate by ref, name and amount."""
    if len(candidates) <= 3:
        listed = phrase(s, "or").join(described(s, one) for one in candidates)
        return say(s, "which_of", listed=listed, count=len(candidates))
    lines = "\n".join(f"- {described(s, one)}" for one in candidates)
    return Step(f"{phrase(s, 'several', count=len(candidates))}\n\n{lines}\n\n{phrase(s, 'which')}")


def _answered(answer: str, candidates: list[Entity]) -> list[Entity]:
    if len(candidates) == 1 and intent_of(answer) is Intent.DECIDE:
        return candidates
    return choose(answer, candidates)


def _answered_query(want: Want, query: str) -> str:
    """What to search for: the answer's words, where the command's name alone was not enough."""
    for answer in reversed(want.answers):
        if intent_of(answer) is not Intent.DECIDE and (words := tell_apart(answer)):
            return " ".join(words)
    return query


def _found_before(s: Situation, query: str) -> list[Entity]:
    """What this very search found earlier in the conversation."""
    for done in reversed(s.calls):
        if query and done.name == "search_records" and done.arguments.get("query") == query and not done.error:
            return s.memory.hits_of(done.result)
    return []


def _search(s: Situation, query: str) -> list[Entity] | Step:
    """Search once in a turn; the second time round, its hits."""
    done = s.result("search_records", query=query)
    if done is None:
        return do(s, "search_records", query=query)
    if done.error:
        return say(s, "did_not_work", why=done.error)
    return s.memory.hits_of(done.result)


def _owners(s: Situation, hits: list[Entity]) -> list[Entity]:
    """The parties among the hits, and those to whom a found document belongs."""
    refs = [hit.ref if hit.kind in ("client", "lead") else hit.party_ref for hit in hits]
    return [s.memory.get(ref) for ref in dict.fromkeys(refs) if ref]


def _one(s: Situation, query: str, parties: list[Entity], want: Want) -> Entity | Step:
    if not parties:
        return say(s, "nobody", name=query)
    if len(parties) == 1:
        return parties[0]
    exact = [party for party in parties if plain(party.name) == plain(query)]
    narrowed = exact if len(exact) == 1 else _narrow(parties, want.words, query)
    return narrowed[0] if len(narrowed) == 1 else which(s, narrowed)


def _documents(s: Situation, hits: list[Entity], kind: str) -> list[Entity]:
    """The documents among and under the hits; open ones only, if there are any."""
    found: dict[str, Entity] = {}
    for hit in hits:
        owner = hit.ref if hit.kind in ("client", "lead") else hit.party_ref
        for one in [hit] if hit.kind == kind else s.memory.of_party(owner, kind):
            found[one.ref] = one
    open_ones = [one for one in found.values() if one.fact("status") not in CLOSED]
    return open_ones or list(found.values())


def _narrow(candidates: list[Entity], command: str, query: str) -> list[Entity]:
    """By the other words of the command ("the Smith quote for Cedar Bend")."""
    rest = " ".join(run for run in subjects(command) if run != query)
    return (choose(rest, candidates, listed=False) if rest else []) or candidates


def _pointed_at(s: Situation, command: str, kind: str, offered: list[Entity]) -> list[Entity] | Step:
    """No name: "send it", "send both", "send the first one"."""
    if chosen := choose(command, offered):
        return chosen
    latest = s.memory.latest(kind)
    if latest and (POINTING.search(plain(command)) or len(command.split()) <= 5):
        return [s.memory.get(latest)]
    return which(s, offered) if len(offered) > 1 else say(s, f"which_{kind}")


def _list_theirs(s: Situation, hits: list[Entity], kind: str) -> Step | None:
    """The search knows the party but not their documents: list them, where a tool does that."""
    parties = _owners(s, hits)
    lister = s.offers(LISTERS[kind])
    if len(parties) != 1 or not lister:
        return None
    key = first_property(s, lister, ("client_ref", "party_ref", "lead_ref"))
    if not key or s.result(lister, **{key: parties[0].ref}):
        return None
    return do(s, lister, **{key: parties[0].ref})


def first_property(s: Situation, tool: str, names: Sequence[str]) -> str:
    """The first of these names that the tool's schema has, or ""."""
    properties = s.tools[tool].get("properties") or {}
    return next((name for name in names if name in properties), "")
