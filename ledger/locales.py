"""Locales of people and documents: one way to a Babel locale, one way to plain spaces."""

from functools import lru_cache

from babel import Locale

LOCALES = ("en-US", "pt-BR")
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2007": " ", "\u2009": " "})


@lru_cache(maxsize=32)
def babel_locale(code: str) -> Locale:
    """The Babel locale of a code in any spelling (`pt-BR`, `pt_BR`, Django's `pt-br`).

    Raises ValueError for an unknown one: a locale is a setting, never a person's input.
    """
    return Locale.parse(code.replace("-", "_"))


def plain(text: str) -> str:
    """The text with ordinary spaces where Babel puts no-break ones (`R$ 1.500,00`, `4:30 PM`).

    For comparing, searching and SMS, where a no-break space doubles the price (H35).
    """
    return text.translate(_SPACES)


def language_of(locale: str) -> str:
    """Django's language for a locale of people or documents: "pt-br" for Portuguese, else "en"."""
    return "pt-br" if babel_locale(locale).language == "pt" else "en"
