"""Tax numbers: CNPJ (with letters since July 2026, H31), CPF, EIN. Kept compact, shown formatted."""

from enum import StrEnum

from django.utils.translation import gettext as _
from stdnum.br import cnpj, cpf
from stdnum.exceptions import ValidationError
from stdnum.us import ein

from ledger.errors import DomainError


class TaxIdKind(StrEnum):
    """Whose number it is: a Brazilian company's, a Brazilian person's, a United States employer's."""

    CNPJ = "CNPJ"
    CPF = "CPF"
    EIN = "EIN"


_FORMS = {TaxIdKind.CNPJ: cnpj, TaxIdKind.CPF: cpf, TaxIdKind.EIN: ein}


class TaxIdError(DomainError, ValueError):
    """A tax number that cannot be one."""


def parse_tax_id(text: str, kind: TaxIdKind) -> str:
    """The number in its compact form, upper case, check digits checked. Raises TaxIdError."""
    kind = TaxIdKind(kind)
    try:
        compact = str(_FORMS[kind].validate(text))
    except (ValidationError, ValueError) as wrong:
        raise _refused(text, kind) from wrong
    if len(set(compact)) == 1 or not compact.isascii():
        raise _refused(text, kind)
    return compact


def tax_id_kind(text: str, country: str) -> TaxIdKind | None:
    """The kind that a number is by its length in that country, or None; check digits are not looked at."""
    length = sum(character.isalnum() for character in text)
    kinds = {("BR", 14): TaxIdKind.CNPJ, ("BR", 11): TaxIdKind.CPF, ("US", 9): TaxIdKind.EIN}
    return kinds.get((country, length))


def format_tax_id(compact: str, kind: TaxIdKind) -> str:
    """A number from `parse_tax_id` as it is printed: `12.ABC.345/01DE-35`, `529.982.247-25`, `74-1234567`."""
    return str(_FORMS[kind].format(compact))


def mask_tax_id(compact: str, kind: TaxIdKind) -> str:
    """The number with only its end shown: `•••.•••.•••-25`."""
    shown = format_tax_id(compact, kind)
    return "".join("•" if c.isalnum() else c for c in shown[:-2]) + shown[-2:]


def _refused(text: str, kind: TaxIdKind) -> TaxIdError:
    sentence = _("That is not a valid %(kind)s number.") % {"kind": kind.value}
    return TaxIdError("TAX_ID_INVALID", sentence, kind=kind.value)
