"""A client's columns from what was given: the same for a new one and a changed one."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import sealed
from ledger.actions import columns
from ledger.errors import DomainError
from ledger.models import Client, Company
from ledger.tax_ids import TaxIdError, parse_tax_id, tax_id_kind
from ledger.text import search_key

FIELDS = ("kind", "name", "tax_id", "billing_address", "language", "terms_days", "tags", "blocked", "archived")
CONTACT_FIELDS = ("contact_name", "email", "phone")


def client_columns(given: Mapping[str, Any], company: Company) -> dict[str, Any]:
    """The columns for the given fields, cleaned. Raises what the single fields raise, with the field's name."""
    written: dict[str, Any] = {}
    for name, value in given.items():
        match name:
            case "kind":
                written["kind"] = columns.choice(value, Client.Kind.values, "kind")
            case "name":
                written["name"] = columns.line(value, "name", 200, required=True)
                written["name_key"] = search_key(written["name"])[:200]
            case "tax_id":
                written |= tax_id_columns(value, company.country)
            case "billing_address":
                written |= columns.address(value, company.country)
            case "language":
                written["language"] = columns.choice(value or company.locale, Client.Language.values, "language")
            case "terms_days":
                written["terms_days"] = _terms(value)
            case "tags":
                written["tags"] = columns.tags(value)
            case "blocked":
                written["blocked"] = bool(value)
            case "archived":
                written["archived_at"] = timezone.now() if value else None
    return written


def tax_id_columns(text: str, country: str) -> dict[str, str]:
    """The columns of a tax id: checked, sealed, and found by its keyed hash. Raises TAX_ID_INVALID."""
    if not text.strip():
        return {"tax_id_kind": "", "tax_id_sealed": "", "tax_id_hash": ""}
    kind = tax_id_kind(text, country)
    if kind is None:
        raise TaxIdError("TAX_ID_INVALID", _("That is not a tax number."), field="tax_id")
    clear = parse_tax_id(text, kind)
    return {
        "tax_id_kind": kind.value,
        "tax_id_sealed": sealed.seal(clear),
        "tax_id_hash": sealed.fingerprint(f"{kind.value} {clear}"),
    }


def _terms(value: int | None) -> int | None:
    if value is not None and not 0 <= value <= 365:
        raise DomainError("OUT_OF_RANGE", _("Between 0 and 365 days."), field="terms_days")
    return value
