"""A company comes into being, and its settings change."""

import zoneinfo
from collections.abc import Mapping
from typing import Any, NamedTuple

from babel import Locale, UnknownLocaleError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from pydantic import ValidationError

from ledger import audit, permissions, tenancy
from ledger.actions import columns
from ledger.actions.members import new_membership
from ledger.company_settings import CompanySettings, current_settings
from ledger.errors import DomainError
from ledger.models import Company, Membership, Role, SettingsVersion, User

CURRENCIES = {Company.Country.US: "USD", Company.Country.BR: "BRL"}


class Founded(NamedTuple):
    """A new company and its first owner."""

    company: Company
    owner: Membership


def create_company(
    *,
    slug: str,
    name: str,
    country: str,
    timezone: str,
    owner: User,
    owner_name: str,
    locale: str = "en-US",
    tax_id: str = "",
    address: str = "",
    phone: str = "",
    email: str = "",
    owner_phone: str = "",
    settings: Mapping[str, Any] | None = None,
) -> Founded:
    """Make a company with its first settings and its first owner, who may approve L3. Called outside any scope.

    Raises SLUG_TAKEN, and INVALID_SETTING, UNKNOWN_ZONE or UNKNOWN_LOCALE for what cannot be.
    """
    _check_place(country, timezone, locale)
    values = checked_settings(settings or {})
    company_id = tenancy.new_id()
    try:
        with tenancy.tenant(company_id):
            company = Company.objects.create(
                pk=company_id,
                slug=slug,
                name=columns.line(name, "name", 160, required=True),
                country=country,
                currency=CURRENCIES[Company.Country(country)],
                locale=locale,
                timezone=timezone,
                tax_id=columns.line(tax_id, "tax_id", 20),
                address=columns.line(address, "address", 240),
                phone=columns.phone(phone, country),
                email=columns.email(email),
            )
            SettingsVersion.objects.create(number=1, values=values.as_json())
            member = new_membership(
                owner, name=owner_name, role=Role.OWNER, approve_l3=True, phone=owner_phone, country=country
            )
            audit.record("company.created", by=member, subject=company, name=company.name, country=country)
    except IntegrityError as taken:
        if "slug" not in str(taken):
            raise
        raise DomainError("SLUG_TAKEN", _("That short name is taken."), field="slug") from taken
    return Founded(company, member)


@transaction.atomic
def change_settings(*, by: Membership, changes: Mapping[str, Any]) -> SettingsVersion:
    """Write a new version of the settings with these changes; documents made before keep theirs.

    Raises INVALID_SETTING with the field's name.
    """
    permissions.require(by, "change_settings")
    Company.objects.select_for_update().get(pk=tenancy.current_tenant())
    version, values = current_settings()
    changed = checked_settings(values.as_json() | dict(changes))
    before, after = values.as_json(), changed.as_json()
    differing = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
    if not differing:
        return version
    version = SettingsVersion.objects.create(number=version.number + 1, values=after, created_by=by)
    audit.record("settings.changed", by=by, subject=version, number=version.number, changes=differing)
    return version


def checked_settings(values: Mapping[str, Any]) -> CompanySettings:
    """The values as settings. Raises INVALID_SETTING for an unknown name or a value that may not be."""
    unknown = sorted(set(values) - set(CompanySettings.model_fields))
    if unknown:
        raise DomainError("INVALID_SETTING", _("There is no setting of that name."), field=unknown[0])
    try:
        return CompanySettings.model_validate(dict(values))
    except ValidationError as wrong:
        first = wrong.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DomainError("INVALID_SETTING", _("That setting may not have this value."), field=field) from wrong


def _check_place(country: str, timezone: str, locale: str) -> None:
    if country not in CURRENCIES:
        raise DomainError("UNKNOWN_COUNTRY", _("Companies are in the United States or Brazil."), field="country")
    if timezone not in zoneinfo.available_timezones():
        raise DomainError("UNKNOWN_ZONE", _("There is no time zone of that name."), field="timezone")
    try:
        Locale.parse(locale, sep="-")
    except (ValueError, UnknownLocaleError) as wrong:
        raise DomainError("UNKNOWN_LOCALE", _("There is no language of that name."), field="locale") from wrong
