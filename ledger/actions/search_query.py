"""What was asked, read once: a ref, words, an amount."""

import re
from dataclasses import dataclass, replace
from enum import IntEnum

from django.db.models import Q

from ledger.amounts import Ambiguous, read_amount
from ledger.cents import MoneyError
from ledger.refs import is_ref
from ledger.text import clean_line, search_key

_MONEY = re.compile(r"(?:r\$|us\$|\$|usd|brl)\s*[0-9][0-9.,]*|[0-9][0-9.,]*[.,][0-9]{2}", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
LONGEST = 200
MOST_WORDS = 12

# Words that say what is looked for rather than what it is called; left out unless nothing else was said.
FILLERS = frozenset(
    search_key(
        """the a an of for on in at to and house home place client customer lead quote quotes estimate invoice invoices
        o os as um uma de do da dos das no na em para e casa cliente orçamento orçamentos fatura faturas"""
    ).split()
)


class Strength(IntEnum):
    """How sure a match is, surest first."""

    REF = 0
    NAME = 1
    AMOUNT = 2
    WORDS = 3
    PART = 4
    SIMILAR = 5


@dataclass(frozen=True)
class Query:
    """`key` is the whole question folded, `words` those that must occur; `cents` the amounts it may mean."""

    ref: str
    key: str
    words: tuple[str, ...]
    cents: tuple[int, ...]
    only_amount: bool
    fuzzy: bool = False

    def similar(self) -> "Query":
        """The same question for names that are spelt nearly so."""
        return replace(self, fuzzy=True)

    @property
    def may_be_misspelt(self) -> bool:
        return not self.ref and not self.cents and len(self.key) >= 4

    def contained(self, column: str = "search") -> Q:
        """Every word occurs in the column. Of no words, nothing does."""
        if not self.words or self.only_amount:
            return Q(pk=None)
        condition = Q()
        for word in self.words:
            condition &= Q(**{f"{column}__contains": word})
        return condition

    def strength(self, *, ref: str, name_key: str, search: str) -> Strength:
        """How well a row that was found answers the question."""
        if self.fuzzy:
            return Strength.SIMILAR
        if self.ref and ref == self.ref:
            return Strength.REF
        if name_key and name_key == " ".join(self.words):
            return Strength.NAME
        return Strength.WORDS if set(self.words) <= set(search.split()) else Strength.PART


def read_query(text: str, locale: str, currency: str) -> Query:
    """The question as it is asked of the database."""
    line = clean_line(text)[:LONGEST]
    ref = line.upper() if is_ref(line.upper()) else ""
    key = search_key(_POSSESSIVE.sub("", line))
    spoken = tuple(dict.fromkeys(key.split()))[:MOST_WORDS]
    told = tuple(word for word in spoken if word not in FILLERS)
    cents = _cents(line, locale, currency)
    only_amount = bool(cents) and _MONEY.fullmatch(line) is not None
    return Query(ref=ref, key=key, words=told or spoken, cents=cents, only_amount=only_amount)


def _cents(line: str, locale: str, currency: str) -> tuple[int, ...]:
    if not any(character.isdigit() for character in line):
        return ()
    try:
        read = read_amount(line, locale, currency)
    except MoneyError:
        return ()
    return read.candidates if isinstance(read, Ambiguous) else (read.cents,)
