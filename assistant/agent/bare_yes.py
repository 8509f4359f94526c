"""A message that is nothing but a yes. In the web chat it points to the card, it never decides (settled, 13)."""

from typing import Final

from ledger.text import search_key

WORDS: Final = frozenset({"sim", "confirmo", "confirmar", "pode", "ok", "yes", "confirm"})
MOST_WORDS: Final = 4
TYPO_FROM: Final = 6
"""Words of so many letters may have one letter wrong, missing, added or swapped with its neighbour."""


def is_exactly(text: str) -> bool:
    """Whether the whole message is one of the words: lower case, no accents, no punctuation."""
    return search_key(text) in WORDS


def is_nearly(text: str) -> bool:
    """Whether the whole message is one of the words or nearly so: "siiim", "ok, ok!", "comfirmo"."""
    words = search_key(text).split()
    return 0 < len(words) <= MOST_WORDS and all(_near(_squeezed(word)) for word in words)


def _squeezed(word: str) -> str:
    """Letters written several times in a row once; none of the words has a double letter."""
    return "".join(letter for at, letter in enumerate(word) if at == 0 or letter != word[at - 1])


def _near(word: str) -> bool:
    return word in WORDS or any(len(right) >= TYPO_FROM and _one_slip(word, right) for right in WORDS)


def _one_slip(word: str, right: str) -> bool:
    """Whether one slip of the finger turns `right` into `word`."""
    if abs(len(word) - len(right)) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(word, right, strict=False)) if a != b), min(len(word), len(right)))
    rest, wanted = word[at:], right[at:]
    swapped = rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:]
    return rest[1:] == wanted[1:] or rest == wanted[1:] or rest[1:] == wanted or swapped
