"""Numbers spoken or dictated in Portuguese and English: one whole number for each phrase (H11)."""

import re
import unicodedata
from dataclasses import dataclass

_UNITS = {
    "pt": "um dois tres quatro cinco seis sete oito nove",
    "en": "one two three four five six seven eight nine",
}
_TEENS = {
    "pt": "dez onze doze treze quatorze quinze dezesseis dezessete dezoito dezenove",
    "en": "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
}
_TENS = {
    "pt": "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
}
_HUNDREDS = "cem duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos"
_OTHERS = {"uma": 1, "duas": 2, "catorze": 14, "cento": 100, "dezasseis": 16, "dezassete": 17, "dezanove": 19}
_SCALES = {
    "mil": 1_000, "thousand": 1_000, "milhao": 1_000_000, "milhoes": 1_000_000, "million": 1_000_000,
    "bilhao": 1_000_000_000, "bilhoes": 1_000_000_000, "billion": 1_000_000_000,
}  # fmt: skip
_JOINERS = {"e", "and"}
_WHOLE = {"real": "BRL", "reais": "BRL", "dollar": "USD", "dollars": "USD", "dolar": "USD", "dolares": "USD"}
_HUNDREDTHS = {"centavo", "centavos", "cent", "cents"}
_DOZENS = {"duzia", "duzias", "dozen"}


def _valued() -> dict[str, int]:
    words = dict(_OTHERS)
    for language in ("pt", "en"):
        words |= {word: value for value, word in enumerate(_UNITS[language].split(), 1)}
        words |= {word: value for value, word in enumerate(_TEENS[language].split(), 10)}
        words |= {word: value * 10 for value, word in enumerate(_TENS[language].split(), 2)}
    words |= {word: value * 100 for value, word in enumerate(_HUNDREDS.split(), 1)}
    words |= {word[:-2] + "as": value for word, value in words.items() if word.endswith("entos")}
    return words | {"quinhentas": 500}


_VALUES = _valued()


@dataclass(frozen=True, slots=True)
class Spoken:
    """A phrase's amount in hundredths, and the currency it named, if it did."""

    hundredths: int
    currency: str | None


def spoken_amount(text: str) -> Spoken | None:
    """The amount that the words say ("dois mil e duzentos reais" is 220000), or None: not one number."""
    words = _words(text)
    currency = None
    whole: list[str] = words
    fraction: list[str] = []
    marks = [at for at, word in enumerate(words) if word in _WHOLE]
    if len(marks) > 1:
        return None
    if marks:
        currency = _WHOLE[words[marks[0]]]
        whole, fraction = words[: marks[0]], words[marks[0] + 1 :]
        whole = whole[:-1] if whole[-1:] == ["de"] else whole  # "um milhão de reais"
        fraction = fraction[1:] if fraction[:1] and fraction[0] in {*_JOINERS, "com"} else fraction
        if fraction and fraction[-1] not in _HUNDREDTHS:
            return None
    elif words and words[-1] in _HUNDREDTHS:
        whole, fraction = [], words
    units = _number(whole) if whole else 0
    cents = _number(fraction[:-1]) if fraction else 0
    if units is None or cents is None or cents > 99 or not words or (marks and not whole):
        return None
    return Spoken(units * 100 + cents, currency)


def spoken_quantity(text: str) -> int | None:
    """The count that the words say, with dozens ("meia dúzia" is 6), or None."""
    words = _words(text)
    if words and words[-1] in _DOZENS:
        if words[:-1] in (["meia"], ["half", "a"], ["a", "half"], ["half"]):
            return 6
        count = 1 if words[:-1] == ["a"] else _number(words[:-1])
        return None if count is None else count * 12
    return _number(words)


def _words(text: str) -> list[str]:
    """Lower case, no accents, no hyphens: "milhao" is "milhão", "cinqüenta" is "cinquenta".

    Figures alone are no words: they are read elsewhere.
    """
    if not re.search(r"[^\W\d_]", text):
        return []
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))
    return re.sub(r"(?<=[a-z])-(?=[a-z])", " ", plain.strip(" .!")).split()


def _number(words: list[str]) -> int | None:
    """One number from its words, largest scale first; a digit group may stand for a word ("2 mil e 500")."""
    total, group, ceiling, limit, joined = 0, 0, 1_000, 10**12, True
    for word in words:
        if word in _JOINERS:
            if joined:
                return None
            joined = True
            continue
        if word == "hundred":
            if not 1 <= group <= 99 or group * 100 >= limit:
                return None
            group, ceiling = group * 100, 100
        elif word in _SCALES:
            scale = _SCALES[word]
            if scale >= limit or (group == 0 and word != "mil") or (joined and group):
                return None
            total, group, ceiling, limit = total + (group or 1) * scale, 0, 1_000, scale
        else:
            value = _value(word)
            digits = word.isdecimal()
            if value is None or value >= min(ceiling, limit) or (digits and group):
                return None
            group, ceiling = group + value, 0 if digits else _below(value)
        joined = False
    return None if joined or not words else total + group


def _value(word: str) -> int | None:
    if word in _VALUES:
        return _VALUES[word]
    return int(word) if re.fullmatch(r"[1-9][0-9]{0,2}", word) else None


def _below(value: int) -> int:
    """What may still follow in the same group: tens after hundreds, units after tens, else nothing."""
    if value % 100 == 0:
        return 100
    return 10 if value % 10 == 0 and value >= 20 else 0
