"""The owner's own words for what is meant, held against the record that was named (`subject_hint`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from ledger.errors import DomainError
from ledger.text import search_key

_EMPTY = frozenset(
    [
        "the",
        "a",
        "an",
        "to",
        "for",
        "of",
        "on",
        "in",
        "at",
        "my",
        "our",
        "that",
        "this",
        "it",
        "quote",
        "quotes",
        "invoice",
        "client",
        "lead",
        "message",
        "email",
        "send",
        "delete",
        "one",
        "o",
        "os",
        "as",
        "um",
        "uma",
        "de",
        "do",
        "da",
        "dos",
        "das",
        "para",
        "no",
        "na",
        "em",
        "ao",
        "à",
        "meu",
        "minha",
        "nosso",
        "esse",
        "essa",
        "orçamento",
        "orcamento",
        "fatura",
        "cliente",
        "envie",
        "enviar",
        "mande",
        "mandar",
        "apague",
        "apagar",
        "mensagem",
    ]
)


@dataclass(frozen=True)
class Candidate:
    """A record that may be meant: its ref, a label fit to show, and the text it is known by.

    `party` is the ref of whose record it is, and `state` what can be done with it: two records in one state, of two
    people, are told apart by nothing but words.
    """

    ref: str
    label: str
    text: str
    party: str = ""
    state: str = ""

    def told(self) -> dict[str, Any]:
        return {"ref": self.ref, "label": self.label}


def require_subject(hint: str | None, meant: Candidate, others: Iterable[Candidate] = ()) -> None:
    """Raise SUBJECT_UNCLEAR, with the candidates, where the words fit another record better or this one not at all.

    Words that fit another person's record as well do not choose between the two: a person does (H30).
    """
    words = frozenset(search_key(hint or "").split()) - _EMPTY
    if not words:
        return
    score = _score(words, meant)
    rivals = [other for other in others if other.ref != meant.ref and _rivals(words, meant, score, other)]
    if score and not rivals:
        return
    candidates = [candidate.told() for candidate in (*rivals[:4], meant)]
    sentence = _("“%(hint)s” does not clearly mean %(ref)s (%(label)s). Ask which one is meant.") % {
        "hint": (hint or "")[:120],
        "ref": meant.ref,
        "label": meant.label,
    }
    raise DomainError("SUBJECT_UNCLEAR", sentence, candidates=candidates)


def _rivals(words: frozenset[str], meant: Candidate, score: int, other: Candidate) -> bool:
    fits = _score(words, other)
    return fits > score or (fits == score and other.party != meant.party and other.state == meant.state)


def _score(words: frozenset[str], candidate: Candidate) -> int:
    """How many of the words the record is known by; the beginning of a longer word counts."""
    known = search_key(f"{candidate.ref} {candidate.text}").split()
    return sum(any(word == one or (len(word) > 3 and one.startswith(word)) for one in known) for word in words)
