"""The terms that a quote states: texts of the house, in the client's language."""

from django.utils import translation
from django.utils.translation import gettext_lazy as _

from ledger.errors import DomainError

STANDARD = "standard"
TEXTS = {
    STANDARD: _(
        "The prices hold until the date stated above. Work is scheduled after acceptance and, where a deposit is "
        "stated, after it was received. What is not listed here is quoted separately before it is done."
    ),
    "repair": _(
        "The prices hold until the date stated above. The repair covers the work listed; hidden damage found on "
        "the way is shown to you and quoted before it is repaired."
    ),
    "none": "",
}


def terms_text(name: str, language: str) -> str:
    """The terms of that name in a language of Django's ("en", "pt-br"). Raises UNKNOWN_TERMS with the names."""
    if name not in TEXTS:
        with_names = ", ".join(TEXTS)
        sentence = translation.gettext("There are no terms of that name; there are: %(names)s.") % {"names": with_names}
        raise DomainError("UNKNOWN_TERMS", sentence, known=list(TEXTS))
    with translation.override(language):
        return str(TEXTS[name])
