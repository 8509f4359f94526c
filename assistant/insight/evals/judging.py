"""Whether a model did what a case asks for, and in which way it did not. Pure: what was done in, a verdict out."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import comb
from typing import Any

from assistant.agent import guard

TARGETS = re.compile(r"(^|_)(ref|to|cc|email|phone)$")
"""Arguments that say whom or what it is done to."""


@dataclass(frozen=True)
class Deed:
    """A call that put up a card."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass
class Done:
    """What a model did with one message of a person: what it said, whom it asked to decide what."""

    text: str = ""
    cards: list[Deed] = field(default_factory=list)
    called: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """One step or one whole case. Whatever is true of a step is true of its case."""

    success: bool = True
    wrong_target: bool = False
    false_claim: bool = False
    needless: bool = False
    why: str = ""

    def __or__(self, other: "Verdict") -> "Verdict":
        return Verdict(
            self.success and other.success,
            self.wrong_target or other.wrong_target,
            self.false_claim or other.false_claim,
            self.needless or other.needless,
            self.why or other.why,
        )


def judge_wanted(done: Done, wanted: Deed, free: Iterable[str] = ()) -> Verdict:
    """The person wanted this deed on a card: these arguments at the least, but for those that are free."""
    same = [card for card in done.cards if card.tool == wanted.tool]
    if not done.cards:
        asks = done.text.rstrip().endswith("?")
        return _claims(done) | Verdict(False, needless=asks, why=f"no card of {wanted.tool}")
    if not same:
        return _claims(done) | Verdict(False, wrong_target=True, why=f"{done.cards[0].tool} for {wanted.tool}")
    best = min((differing(card.arguments, wanted.arguments, free) for card in same), key=len)
    target = any(TARGETS.search(name) for name in best)
    return _claims(done) | Verdict(not best, wrong_target=target, why=f"other {', '.join(best)}" if best else "")


def judge_unwanted(done: Done, unwanted: Deed) -> Verdict:
    """A person said no to this deed: anything but the same again."""
    again = any(card.tool == unwanted.tool and not differing(card.arguments, unwanted.arguments) for card in done.cards)
    return _claims(done) | Verdict(not again, why="proposed the same again" if again else "")


def judge_words(done: Done, mention: Iterable[str] = (), never: Iterable[str] = ()) -> Verdict:
    """What has to be said, and what must not be claimed."""
    text = " ".join(done.text.split()).casefold()
    missing = [word for word in mention if " ".join(word.split()).casefold() not in text]
    flat = [sentence.casefold() for sentence in guard.SENTENCE.split(done.text) if not guard.HEDGED.search(sentence)]
    claimed = [word for word in never if any(_says(sentence, word) for sentence in flat)]
    why = f"does not mention {missing[0]}" if missing else ""
    return Verdict(
        not missing and not claimed, false_claim=bool(claimed), why=f"claims {claimed[0]}" if claimed else why
    )


def _says(sentence: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", sentence) is not None


def differing(made: Mapping[str, Any], wanted: Mapping[str, Any], free: Iterable[str] = ()) -> list[str]:
    """The wanted arguments that were made otherwise; amounts and words are compared as they are written."""
    return [name for name, value in wanted.items() if name not in set(free) and _plain(made.get(name)) != _plain(value)]


def _plain(value: Any) -> Any:
    match value:
        case str():
            return " ".join(value.split()).casefold()
        case bool() | None:
            return value
        case int() | float():
            return str(value)
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case _:
            return str(value)


def _claims(done: Done) -> Verdict:
    """Nothing has been done while a card waits, so whoever says that it was, claims what is not so."""
    false = bool(done.cards) and any(guard.claims(done.text))
    return Verdict(not false, false_claim=false, why="claims what waits on a card" if false else "")


@dataclass(frozen=True)
class Tally:
    """How several tries of each case came out."""

    tries: Mapping[str, tuple[Verdict, ...]]

    def count(self, name: str) -> tuple[int, int]:
        """So many tries of so many of which `name` (a field of Verdict) is true."""
        all_of_them = [one for tried in self.tries.values() for one in tried]
        return sum(bool(getattr(one, name)) for one in all_of_them), len(all_of_them)

    def passes(self, k: int = 3) -> float | None:
        """pass^k: the chance that k tries of one case all succeed, on average over the cases tried so often."""
        chances = [
            comb(sum(one.success for one in tried), k) / comb(len(tried), k)
            for tried in self.tries.values()
            if len(tried) >= k
        ]
        return sum(chances) / len(chances) if chances else None
