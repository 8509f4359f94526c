"""How sure it is that the records of a proposal are those that the person means, by the conversation alone.

exact: the person named the ref, or a search found it by its ref. single: the newest search that returned it had one
party and a sure match; what was read by way of such a record counts with it. fuzzy: it was one of several parties, was
found by a part of a word or a similar spelling, or nothing here returned it. A person who was asked which one is meant
and says it has told them apart. Nothing of it comes from what the model says of itself; it only raises what is asked.
"""

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import F, IntegerField, QuerySet, TextField, Value

from assistant.models import Message, ToolCall
from ledger.compiled import Compiled, an_id
from ledger.refs import REF, is_ref
from ledger.text import search_key

LOOKED_BACK: Final = 120
"""Messages and calls, newest first, that are looked at."""
FARTHEST: Final = 3
"""Reads in a row through which a ref is followed back."""
GRADES: Final = ("exact", "single", "fuzzy")
SURE: Final = frozenset({"ref", "name", "amount", "words"})
SEARCH: Final = "search_records"
_REF: Final = re.compile(rf"(?<![A-Z0-9-]){REF}(?![A-Z0-9-])")


@dataclass(frozen=True)
class Said:
    """What the person wrote."""

    position: int
    text: str

    def names(self, ref: str) -> bool:
        return ref in _REF.findall(self.text.upper())


@dataclass(frozen=True)
class Read:
    """What a tool answered: `refs` are all that its answer holds."""

    position: int
    tool: str
    arguments: str
    result: str

    def holds(self, ref: str) -> bool:
        return ref in _REF.findall(self.result)


@dataclass(frozen=True)
class Talk:
    """A conversation as far as it matters here, newest first."""

    said: Sequence[Said]
    reads: Sequence[Read]


def _spoken() -> QuerySet[Any]:
    own, nothing = an_id("conversation"), Value("", output_field=TextField())
    columns = ("at", "place", "tool", "given", "told")
    said = Message.objects.filter(conversation=own, role=Message.Role.USER).annotate(
        at=F("position"), place=Value(-1, output_field=IntegerField()), tool=nothing, given=nothing, told=F("text")
    )
    read = ToolCall.objects.filter(turn__conversation=own, status=ToolCall.Status.DONE).annotate(
        at=F("message__position"), place=F("index"), tool=F("name"), given=F("arguments"), told=F("result")
    )
    rows = said.values_list(*columns).union(read.values_list(*columns), all=True)
    return rows.order_by("-at", "-place")[:LOOKED_BACK]


SPOKEN: Compiled[tuple[int, int, str, str, str]] = Compiled(_spoken)


def match_of(conversation_id: uuid.UUID, arguments: str) -> str:
    """How the records that a call names were found: exact, single or fuzzy, the least sure of them. One query.

    A call that names no record is exact: there was nothing to find.
    """
    refs = set(refs_in(arguments))
    if not refs:
        return GRADES[0]
    rows = SPOKEN.all(conversation=conversation_id)
    talk = Talk(
        said=[Said(position, text) for position, index, _name, _arguments, text in rows if index < 0],
        reads=[Read(position, name, given, text) for position, index, name, given, text in rows if index >= 0],
    )
    return _worst(_of(ref, talk, FARTHEST) for ref in refs)


def refs_in(arguments: str) -> Iterator[str]:
    """Every value of the arguments that is a ref by itself."""
    try:
        waiting = [json.loads(arguments)]
    except ValueError:
        return
    while waiting:
        match waiting.pop():
            case dict() as found:
                waiting += found.values()
            case list() as found:
                waiting += found
            case str() as text if is_ref(text.strip().upper()):
                yield text.strip().upper()


def _of(ref: str, talk: Talk, steps: int) -> str:
    if any(one.names(ref) for one in talk.said):
        return "exact"
    holding = [read for read in talk.reads if read.holds(ref)]
    for read in holding:
        if read.tool == SEARCH and (found := _searched(ref, read, talk)):
            return found
    for read in holding if steps else ():
        by_way_of = [other for other in refs_in(read.arguments) if other != ref]
        return _worst(["single", *(_of(other, talk, steps - 1) for other in by_way_of)])
    return "fuzzy"


def _searched(ref: str, read: Read, talk: Talk) -> str:
    """What a search says of the ref; "" where its answer was cut so short that it cannot be read."""
    try:
        body = json.loads(read.result)
        hits = [hit for hit in body["hits"] if ref in _REF.findall(json.dumps(hit))]
        everyone: list[dict[str, Any]] = body["hits"]
    except (ValueError, KeyError, TypeError):
        return ""
    if any(hit["ref"] == ref and hit["match"] == "ref" for hit in hits):
        return "exact"
    sure = bool(hits) and any(hit["match"] in SURE for hit in hits)
    if not body.get("ambiguous"):
        return "single" if sure else "fuzzy"
    said = [one for one in talk.said if one.position > read.position]
    return "single" if sure and _told_apart(hits, everyone, said) else "fuzzy"


def _told_apart(hits: list[dict[str, Any]], everyone: list[dict[str, Any]], said: Sequence[Said]) -> bool:
    """Whether the person has since used a word that tells this party from all others that were found."""
    party = {hit.get("party", hit["ref"]) for hit in hits}
    others = [hit for hit in everyone if hit.get("party", hit["ref"]) not in party]
    known = _words(hits) - _words(others)
    strange = _words(others) - _words(hits)
    spoken = {word for one in said for word in search_key(one.text).split()}
    return len(party) == 1 and bool(spoken & known) and not spoken & strange


def _words(hits: Iterable[dict[str, Any]]) -> set[str]:
    """The words that a person would tell a party by."""
    told = (str(hit.get(name, "")) for hit in hits for name in ("kind", "name", "party_name", "city"))
    return {word for text in told for word in search_key(text).split()}


def _worst(grades: Iterable[str]) -> str:
    return max(grades, key=GRADES.index)
