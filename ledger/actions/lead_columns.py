"""A lead's columns from what was given: the same for a new one and a changed one."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from ledger.actions import columns
from ledger.errors import DomainError
from ledger.models import Company, Lead, Membership
from ledger.text import search_key

FIELDS = ("name", "phone", "email", "address", "source", "service", "value_cents", "owner")


def lead_columns(given: Mapping[str, Any], company: Company) -> dict[str, Any]:
    """The columns for the given fields, cleaned. Raises UNKNOWN_FIELD and what the single fields raise."""
    columns.only(given, FIELDS)
    written: dict[str, Any] = {}
    for name, value in given.items():
        match name:
            case "name":
                written["name"] = columns.line(value, "name", 200, required=True)
                written["name_key"] = search_key(written["name"])[:200]
            case "phone":
                written["phone"] = columns.phone(value, company.country)
            case "email":
                written["email"] = columns.email(value)
            case "address":
                written |= columns.address(value, company.country)
            case "source":
                written["source"] = columns.line(value, "source", 60)
            case "service":
                written["service"] = columns.line(value, "service", 120)
            case "value_cents":
                written["value_cents"] = columns.cents(value, "value_cents")
            case "owner":
                written["owner"] = _owner(value)
    return written


def _owner(member: Membership | None) -> Membership | None:
    if member is not None and not member.active:
        raise DomainError("MEMBER_INACTIVE", _("%(name)s is no longer here.") % {"name": member.name}, field="owner")
    return member


def lead_search(lead: Lead) -> str:
    """What a lead is found by."""
    parts = (lead.ref, lead.name, lead.email, lead.phone, lead.address, lead.source, lead.service)
    return search_key(" ".join(parts))
