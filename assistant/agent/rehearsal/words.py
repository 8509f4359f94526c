"""Words of English and Portuguese: comparing them, and finding names, refs, numbers and addresses in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from assistant.agent.rehearsal.lexicon import LEXICON

TOKEN: Final = re.compile(r"[^\W_][\w'’.@+/&-]*")
REF: Final = re.compile(r"\b(Q|ORC|INV|FAT|PAY|PI|C|L|S|D|P|CT|T|M|A|CN|CC)-(\d{1,12})\b", re.IGNORECASE)
LOOSE_REF: Final = re.compile(r"\b(Q|ORC|INV|FAT|PAY)[ #]?(\d{3,8})\b", re.IGNORECASE)
NAMED_REF: Final = re.compile(
    r"\b(quote|estimate|or[cç]amento|invoice|fatura|payment|pagamento)(?: n[o.º°]*| number| #)? ?#?(\d{3,6})\b",
    re.IGNORECASE,
)
PREFIXES: Final = {
    "quote": "Q",
    "estimate": "Q",
    "orcamento": "ORC",
    "invoice": "INV",
    "fatura": "FAT",
    "payment": "PAY",
    "pagamento": "PAY",
}
EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
PHONE: Final = re.compile(r"\+?\(?\d[\d ().-]{6,16}\d")
MONEY: Final = re.compile(
    r"(?:R\$|US\$|\$)\s*(\d[\d.,]*\d|\d)"
    r"|(?<![\w-])(\d[\d.,]*\d|\d)\s*(?:dollars?|bucks|usd|reais|real|brl|conto|pila)\b"
    r"|(?<![\w#/-])(\d[\d.,]*\d|\d)(?![\w%/-])",
    re.IGNORECASE,
)

_ENGLISH: Final = LEXICON["english"]
_PORTUGUESE: Final = LEXICON["portuguese"]


def plain(text: str) -> str:
    """Lower case without accents, single spaces: the form in which words are compared."""
    decomposed = unicodedata.normalize("NFKD", text.lower().replace("’", "'"))
    kept = "".join(character for character in decomposed if not unicodedata.combining(character))
    return re.sub(r"\s+", " ", kept).strip()


def tokens(text: str) -> list[str]:
    """The words as written, without a possessive and without punctuation at their end."""
    found = [word.rstrip(".-'’/&+@") for word in TOKEN.findall(text)]
    return [re.sub(r"['’]s$", "", word) for word in found if word]


def language_of(text: str) -> tuple[int, int]:
    """How many words only English and only Portuguese have. An address is in no language ("…@example.com")."""
    text = EMAIL.sub(" ", text)
    words = set(re.findall(r"[a-z]+", plain(text)))
    return len((words & _ENGLISH) - _PORTUGUESE), len((words & _PORTUGUESE) - _ENGLISH) + _marks(text)


def _marks(text: str) -> int:
    return 2 if re.search(r"[ãõçáéíóúâêôà]", text.lower()) else 0


def refs_in(text: str, prefixes: Iterable[str] = ()) -> list[str]:
    """Public refs in their order: `Q-1042`, also written `q1042`, "quote 1042" or "orçamento 312"."""
    found: list[tuple[int, str]] = [(m.start(), f"{m[1].upper()}-{m[2]}") for m in REF.finditer(text)]
    found += [(m.start(), f"{m[1].upper()}-{m[2]}") for m in LOOSE_REF.finditer(text)]
    found += [(m.start(), f"{PREFIXES[plain(m[1])]}-{m[2].zfill(4)}") for m in NAMED_REF.finditer(text)]
    wanted = tuple(prefixes)
    ordered = [ref for _, ref in sorted(found) if not wanted or ref.split("-")[0] in wanted]
    return list(dict.fromkeys(ordered))


def without_refs(text: str) -> str:
    for pattern in (REF, LOOSE_REF, NAMED_REF):
        text = pattern.sub(" ", text)
    return text


def amounts_in(text: str, language: str) -> list[str]:
    """Sums of money as decimal text in major units ("1250.00"), in their order; refs, phones and dates are
    none.
    """
    bare = PHONE.sub(lambda m: m[0] if len(re.sub(r"\D", "", m[0])) < 8 else " ", without_refs(EMAIL.sub(" ", text)))
    return [amount for m in MONEY.finditer(bare) if (amount := decimal_text(m[1] or m[2] or m[3], language))]


def decimal_text(number: str, language: str, places: int = 2) -> str:
    """A number as people write it, as decimal text: `1.234,50` in Portuguese is 1234.50, in English
    `1,234.50`.
    """
    number = number.rstrip(".,")
    group, point = (".", ",") if language == "pt" else (",", ".")
    if number.count(group) == 1 and point not in number and len(number.rsplit(group)[1]) != 3:
        group, point = point, group  # one separator that cannot be a thousand's
    whole, _, part = number.replace(group, "").partition(point)
    if not whole.isdecimal() or (part and not part.isdecimal()) or len(part) > places:
        return ""
    return f"{int(whole)}.{part.ljust(2, '0')}" if places == 2 else f"{int(whole)}" + (f".{part}" if part else "")


def phone_in(text: str) -> str:
    for found in PHONE.finditer(without_refs(text)):
        if 8 <= len(re.sub(r"\D", "", found[0])) <= 15:
            return str(found[0]).strip()
    return ""


def email_in(text: str) -> str:
    found = EMAIL.search(text)
    return str(found[0]) if found else ""
