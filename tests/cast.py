"""The cast: fresh companies for each test, so that tests on real commits do not see each other.

dana owns Lone Ridge Roofing, alex sells there, sam is the admin who approves second; mallory owns another company,
bia owns Telhados Aurora, in Portuguese. Every company has a slug and addresses of its own.
"""

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ledger import tenancy
from ledger.actions.clients import create_client
from ledger.actions.company import Founded, create_company
from ledger.actions.leads import create_lead
from ledger.actions.members import add_member, user_for
from ledger.models import Client, Company, Language, Lead, Membership, Role, User

PASSWORD = "correct horse battery"


@dataclass
class Cast:
    """A company and its people by first name: `cast.dana`, or `cast["dana"]`."""

    company: Company
    people: dict[str, Membership] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Membership:
        try:
            return self.__dict__["people"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name: str) -> Membership:
        return self.people[name]

    @property
    def owner(self) -> Membership:
        return next(iter(self.people.values()))

    @property
    def tenant_id(self) -> Any:
        return self.company.pk

    @contextlib.contextmanager
    def scope(self) -> Iterator["Cast"]:
        """The company's scope: one transaction, committed at the end of the block."""
        with tenancy.tenant(self.company.pk):
            yield self


def lone_ridge(**settings: Any) -> Cast:
    """Lone Ridge Roofing (US, USD, sales tax on top) with dana, alex and sam. Called outside any scope."""
    cast = _found("Lone Ridge Roofing LLC", "lone-ridge", "US", "America/Chicago", "en-US", "dana", settings)
    _join(cast, "alex", Role.SALES)
    _join(cast, "sam", Role.ADMIN, approve_l3=True)
    return cast


def aurora(**settings: Any) -> Cast:
    """Telhados Aurora (Brazil, BRL, tax inside the prices) with bia. Called outside any scope."""
    settings = {"tax_mode": "inclusive", "quote_format": "ORC-{seq:04d}", "invoice_format": "FAT-{seq:04d}"} | settings
    return _found("Telhados Aurora Ltda", "aurora", "BR", "America/Sao_Paulo", "pt-BR", "bia", settings)


def strangers(**settings: Any) -> Cast:
    """Another company, with mallory. Called outside any scope."""
    return _found("Other Co", "other-co", "US", "America/New_York", "en-US", "mallory", settings)


def john_smith(cast: Cast, **given: Any) -> Client:
    """A client of the cast, in the scope that the caller holds."""
    values = {
        "kind": "person",
        "name": "John Smith",
        "email": "john.smith@example.com",
        "phone": "+15125550142",
        "address": {"line1": "1418 Cedar Bend Dr", "city": "Austin", "region": "TX", "postal_code": "78758"},
        "on_duplicate": "create",
    }
    return create_client(by=cast.owner, **(values | given))


def joanne_smith(cast: Cast, **given: Any) -> Lead:
    """A lead of the cast, in the scope that the caller holds."""
    values = {
        "name": "Joanne Smith",
        "phone": "+15125550148",
        "source": "website",
        "address": {"line1": "88 Barton Hills Dr", "city": "Austin", "region": "TX", "postal_code": "78704"},
        "on_duplicate": "create",
    }
    return create_lead(by=cast.owner, **(values | given))


def _found(
    name: str, slug: str, country: str, timezone: str, locale: str, owner: str, settings: dict[str, Any]
) -> Cast:
    mark = secrets.token_hex(4)
    founded: Founded = create_company(
        slug=f"{slug}-{mark}",
        name=name,
        country=country,
        timezone=timezone,
        locale=locale,
        owner=_person(f"{owner}-{mark}@{slug}.example", locale),
        owner_name=owner.title(),
        email=f"office@{slug}.example",
        settings=settings,
    )
    return Cast(founded.company, {owner: founded.owner})


def _join(cast: Cast, name: str, role: str, **given: Any) -> None:
    mark = cast.company.slug.rpartition("-")[2]
    address = _person(f"{name}-{mark}@loneridge.example", cast.company.locale).email
    with cast.scope():
        cast.people[name] = add_member(by=cast.owner, email=address, name=name.title(), role=role, **given)


def _person(email: str, locale: str) -> User:
    user = user_for(email, language=Language.PORTUGUESE if locale == "pt-BR" else Language.ENGLISH)
    if not user.has_usable_password():
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
    return user
