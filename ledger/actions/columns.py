"""What people and programs give, as the columns take it: cleaned, checked, or refused with the field's name."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from ledger import contacts
from ledger.cents import MAX_CENTS
from ledger.errors import DomainError
from ledger.models import Company
from ledger.models.address import PARTS, Address
from ledger.tenancy import current_tenant
from ledger.text import clean_block, clean_line, search_key

MOST_TAGS = 50


def company() -> Company:
    """The company in scope."""
    return Company.objects.get(pk=current_tenant())


def line(text: str, field: str, most: int, *, required: bool = False) -> str:
    """One cleaned line of at most `most` characters. Raises REQUIRED or TOO_LONG."""
    return _checked(clean_line(text), field, most, required)


def block(text: str, field: str, most: int, *, required: bool = False) -> str:
    """Cleaned paragraphs of at most `most` characters. Raises REQUIRED or TOO_LONG."""
    return _checked(clean_block(text), field, most, required)


def _checked(text: str, field: str, most: int, required: bool) -> str:
    if required and not text:
        raise DomainError("REQUIRED", _("This is needed."), field=field)
    if len(text) > most:
        raise DomainError(
            "TOO_LONG", _("At most %(most)d characters fit here.") % {"most": most}, field=field, most=most
        )
    return text


def email(text: str) -> str:
    """A checked address, or empty. Raises EMAIL_INVALID."""
    return contacts.parse_email(text) if text.strip() else ""


def phone(text: str, country: str) -> str:
    """A number in E.164, read as dialled in `country`, or empty. Raises PHONE_INVALID or PHONE_NO_AREA_CODE."""
    return contacts.parse_phone(text, country) if text.strip() else ""


def cents(value: int, field: str) -> int:
    """Whole cents from zero up. Raises AMOUNT_OUT_OF_RANGE."""
    if not 0 <= value <= MAX_CENTS:
        raise DomainError("AMOUNT_OUT_OF_RANGE", _("That amount is out of range."), field=field)
    return value


def address(parts: Mapping[str, str], country: str) -> dict[str, str]:
    """The columns of an address, its key among them; `country` where none is given. An empty address stays empty.

    Raises UNKNOWN_FIELD for a part that there is not, TOO_LONG, and ADDRESS_INCOMPLETE for a town without a street.
    """
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        raise DomainError("UNKNOWN_FIELD", _("An address has no part of that name."), field=unknown[0])
    columns = {part: line(parts.get(part, ""), part, _length(part)) for part in PARTS}
    if not any(columns.values()):
        return columns | {"address_key": ""}
    if not columns["line1"]:
        raise DomainError("ADDRESS_INCOMPLETE", _("The address lacks its street."), field="line1")
    columns["country"] = columns["country"].upper() or country
    return columns | {"address_key": search_key(f"{columns['line1']} {columns['city']}")}


def _length(part: str) -> int:
    column: Any = Address._meta.get_field(part)
    return int(column.max_length)


def choice(value: str, known: Iterable[str], field: str) -> str:
    """One of the known words. Raises UNKNOWN_CHOICE with them."""
    words = list(known)
    if value not in words:
        raise DomainError("UNKNOWN_CHOICE", _("That is not one of the choices."), field=field, known=words)
    return value


def tags(values: Iterable[str]) -> list[str]:
    """Cleaned tags, each once, in their order. Raises TOO_LONG or TOO_MANY."""
    cleaned = list(dict.fromkeys(tag for tag in (line(value, "tags", 40) for value in values) if tag))
    if len(cleaned) > MOST_TAGS:
        raise DomainError("TOO_MANY", _("At most %(most)d tags fit here.") % {"most": MOST_TAGS}, field="tags")
    return cleaned


def only(changes: Mapping[str, object], known: Iterable[str]) -> None:
    """Raises UNKNOWN_FIELD if a change names a field that may not be changed so, or NOTHING_TO_CHANGE."""
    unknown = sorted(set(changes) - set(known))
    if unknown:
        sentence = _("There is no field %(field)s to change.") % {"field": unknown[0]}
        raise DomainError("UNKNOWN_FIELD", sentence, field=unknown[0], known=sorted(known))
    if not changes:
        raise DomainError("NOTHING_TO_CHANGE", _("There is nothing to change."))
