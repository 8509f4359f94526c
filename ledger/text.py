"""Text from outside: cleaned where it is stored, made visible where it is shown, folded where it is sought.

A character that changes how a text looks without being seen (bidi controls, zero-width and tag characters,
fillers) can make a card show something else than what runs; none passes silently (T23, H33).
"""

import re
import unicodedata
from typing import NamedTuple

_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2065\u2800\u3164\uffa0")
_ORDINARY_SPACES = frozenset(" \u00a0\u202f")  # a no-break space is what Babel writes
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"
_APOSTROPHES = dict.fromkeys(map(ord, "'’‘‛`´ʼʹ′＇"))
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})
_MOST_MARKS = 3  # combining marks on one letter; more are a tower over the neighbouring lines
_PADDING = re.compile(r" {8,}|\n{5,}")


class Visible(NamedTuple):
    """A text fit to be judged by, and whether something in it would not have been seen."""

    text: str
    hidden: bool


def clean_line(text: str) -> str:
    """The text as one line, for a name, an address or a subject: so stored, it may reach a mail header.

    Line breaks and every kind of space become one space; control, bidi, zero-width, tag and filler characters,
    NUL and lone surrogates go (H33). The rest is composed (NFC).
    """
    return " ".join(_seen(text).split())


def clean_block(text: str) -> str:
    """The text as paragraphs: as `clean_line`, but line breaks (as LF), tabs and runs of spaces stay."""
    lines = re.sub(r"\r\n?|[\u0085\u2028\u2029\x0b\x0c]", "\n", text).split("\n")
    return "\n".join(_seen(line, keep="\t").rstrip() for line in lines).strip("\n")


def visible(text: str, *, lines: bool = False) -> Visible:
    """The text with everything unseen written out: `⟨U+202E⟩`, and padding as `⟨␠×40⟩` or `⟨⏎×12⟩` (T23).

    With `lines`, line breaks and tabs are ordinary. Nothing is removed and the escape's own bracket is escaped,
    so two different texts never look the same because of what cannot be seen.
    """
    if text.isascii() and text.isprintable() and _PADDING.search(text) is None:
        return Visible(text, False)  # what most texts are, without a look at each character
    shown: list[str] = []
    marks = 0
    for at, character in enumerate(text):
        marks = marks + 1 if unicodedata.combining(character) else 0
        ordinary = lines and character in "\n\t"
        unseen = marks > _MOST_MARKS or character == "⟨" or (not ordinary and _is_hidden(text, at))
        shown.append(f"⟨U+{ord(character):04X}⟩" if unseen else character)
    padded = _PADDING.sub(_counted, "".join(shown))
    return Visible(padded, padded != text)


def search_key(text: str) -> str:
    """The form in which names are compared and sought, never shown: "D’ANGELO" is "dangelo" (H29).

    Case, accents, apostrophes and punctuation go; an e-mail address stays whole.
    """
    split = unicodedata.normalize("NFKD", clean_line(text).translate(_APOSTROPHES))
    folded = unicodedata.normalize("NFKD", split.casefold()).translate(_APOSTROPHES)
    bare = "".join(c for c in folded if not unicodedata.combining(c)).translate(_LETTERS)
    return " ".join(part for word in bare.split() for part in ([word] if "@" in word else _parts(word)))


def scripts(text: str) -> frozenset[str]:
    """The scripts of the letters in a text, by their Unicode names: {"LATIN"}, {"LATIN", "CYRILLIC"}."""
    letters = (c for c in unicodedata.normalize("NFKC", text) if c.isalpha())
    return frozenset(unicodedata.name(c, "UNKNOWN").split()[0] for c in letters)


def mixes_scripts(word: str) -> bool:
    """Whether one word joins letters of more than one script: a look-alike ("pаypal" with a Cyrillic а)."""
    return len(scripts(word) - {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}) > 1


def _seen(text: str, keep: str = "") -> str:
    """The text without what a reader would not see, every space an ordinary one, in composed form."""
    before, seen = None, "".join(" " if c.isspace() and c not in keep else c for c in text)
    while seen != before:  # what was apart may compose or join now
        before, composed = seen, unicodedata.normalize("NFC", seen)
        seen = "".join(c for at, c in enumerate(composed) if c in keep or not _is_hidden(composed, at))
    return seen


def _is_hidden(text: str, at: int) -> bool:
    """Whether a reader would not see this character. The joints of an emoji are seen as part of it."""
    character = text[at]
    if character in (_EMOJI_STYLE, _JOINER):
        return not _joins_emoji(text, at)
    if character in _FILLERS or "\ufe00" <= character < _EMOJI_STYLE:
        return True
    if "\U000e0000" <= character <= "\U000e0fff" or ord(character) & 0xFFFE == 0xFFFE:
        return True
    category = unicodedata.category(character)
    if category == "Zs":
        return character not in _ORDINARY_SPACES
    return category in _HIDDEN_CATEGORIES or "\ufdd0" <= character <= "\ufdef" or "\ufff0" <= character <= "\ufff8"


def _joins_emoji(text: str, at: int) -> bool:
    before = text[at - 1] if at else ""
    if text[at] == _EMOJI_STYLE:
        return _is_emoji(before)
    behind = before in (_EMOJI_STYLE, *"\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff") or _is_emoji(before)
    return behind and _is_emoji(text[at + 1 : at + 2])


def _is_emoji(character: str) -> bool:
    return bool(character) and unicodedata.category(character) == "So"


def _counted(run: re.Match[str]) -> str:
    return f"⟨␠×{len(run[0])}⟩" if run[0][0] == " " else f"\n⟨⏎×{len(run[0])}⟩\n"


def _parts(word: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in word).split()
