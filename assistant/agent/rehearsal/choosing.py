"""Which of the candidates a person means: by ref, by place in the list, or by words that only one of them
has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.agent.rehearsal.lexicon import LEXICON
from assistant.agent.rehearsal.memory import Entity
from assistant.agent.rehearsal.words import plain, refs_in, tokens

PLACES: Final = (
    (r"\b(first|1st|top|number one|primeir[oa])\b", 0),
    (r"\b(second|2nd|number two|segund[oa])\b", 1),
    (r"\b(third|3rd|terceir[oa])\b", 2),
    (r"\b(fourth|4th|quart[oa])\b", 3),
    (r"\b(last|bottom|ultim[oa])\b", -1),
)
BARE_NUMBER: Final = re.compile(r"(?:number |numero |n |#|opcao |option )?([1-9])\.?\Z")
ALL: Final = re.compile(r"\b(both|all|every|each|everyone|everything|os dois|as duas|amb[oa]s|tod[oa]s|cada)\b")
FILLER: Final = LEXICON["filler"]


def choose(text: str, candidates: Sequence[Entity], *, listed: bool = True) -> list[Entity]:
    """The candidates meant: one, all for "both", or none if the text does not tell them apart.

    Before they were listed to the person, "the last invoice" is no place in the list.
    """
    wanted = set(refs_in(text))
    by_ref = [entity for entity in candidates if wanted & {entity.ref, entity.party_ref}]
    if by_ref:
        return by_ref
    said = plain(text).rstrip(".!?")
    if ALL.search(said) and len(candidates) > 1:
        return list(candidates)
    return (_by_place(said, candidates) if listed else []) or _by_words(text, candidates)


def tell_apart(text: str) -> list[str]:
    """The words of a text that could name something."""
    return [word for word in tokens(text) if plain(word) not in FILLER]


def _by_place(said: str, candidates: Sequence[Entity]) -> list[Entity]:
    for pattern, place in PLACES:
        if re.search(pattern, said):
            return [candidates[place]] if place < len(candidates) else []
    number = BARE_NUMBER.match(said)
    if number and int(number[1]) <= len(candidates):
        return [candidates[int(number[1]) - 1]]
    return []


def _by_words(text: str, candidates: Sequence[Entity]) -> list[Entity]:
    """The one candidate that has more of the words than any other."""
    words = [plain(word) for word in tell_apart(text)]
    scores = [_score(words, entity) for entity in candidates]
    best = max(scores, default=0)
    return [candidates[scores.index(best)]] if best and scores.count(best) == 1 else []


def _score(words: Sequence[str], entity: Entity) -> int:
    known = set(re.findall(r"[a-z0-9.,]+", plain(f"{entity.words} {entity.party_name} {entity.ref}")))
    return sum(word in known or word.rstrip("s") in known for word in words)
