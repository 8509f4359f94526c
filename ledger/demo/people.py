"""The companies themselves and who signs in to them."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from ledger import tenancy
from ledger.actions.company import create_company
from ledger.actions.members import add_member, user_for
from ledger.demo.world import Seed, World, major
from ledger.models import Access, Company, Language, Membership, User


@dataclass(frozen=True)
class Login:
    """One way in: address, name, role, company."""

    email: str
    name: str
    role: str
    company: str


OPERATOR = "operator@aval.example"


def ensure_operator(password: str) -> Login:
    """The one who runs the installation: an account for the admin, of no company."""
    user = user_for(OPERATOR)
    if not user.has_usable_password():
        user.set_password(password)
        user.is_staff = user.is_superuser = True
        user.save(update_fields=["password", "is_staff", "is_superuser"])
    return Login(OPERATOR, "Operator", "staff", "/admin/ (names a company by a member's e-mail)")


def ensure_company(seed: Seed, frozen: date, password: str) -> tuple[World, list[Login]]:
    """The company of a seed and its people, made where they are not there. Called outside any scope."""
    owner = _sign_in(seed["members"][0], seed, password)
    company = _company_of(owner, seed["slug"]) or _found(seed, owner)
    with tenancy.tenant(company.pk):
        boss = Membership.objects.get(user=owner)
        world = World(company, boss, frozen)
        for entry in seed["members"]:
            _join(world, entry, seed, password)
    return world, [Login(entry["email"], entry["name"], entry["role"], company.name) for entry in seed["members"]]


def _company_of(owner: User, slug: str) -> Company | None:
    for tenant_id in Access.objects.filter(user=owner).values_list("tenant_id", flat=True):
        with tenancy.tenant(tenant_id):
            company = Company.objects.get(pk=tenant_id)
            if company.slug == slug:
                return company
    return None


def _found(seed: Seed, owner: User) -> Company:
    first = seed["members"][0]
    return create_company(
        slug=seed["slug"],
        name=seed["name"],
        country=seed["country"],
        timezone=seed["timezone"],
        locale=seed.get("locale", "en-US"),
        owner=owner,
        owner_name=first["name"],
        owner_phone=first.get("phone", ""),
        tax_id=seed.get("tax_id", {}).get("value", ""),
        address=seed.get("address", ""),
        phone=seed.get("phone", ""),
        email=seed.get("email", ""),
        settings=_settings(seed),
    ).company


def _settings(seed: Seed) -> dict[str, Any]:
    policy = seed.get("policy", {})
    given = {
        name: seed.get(name) for name in ("tax_mode", "tax_rounding", "rounding", "quote_format", "invoice_format")
    }
    given |= {"terms_days": seed.get("payment_terms_days"), "discount_limits": policy.get("discount_limit")}
    if "l3_dual_threshold" in policy:
        given["l3_threshold_cents"] = major(policy["l3_dual_threshold"])
    return {name: value for name, value in given.items() if value is not None}


def _join(world: World, entry: Seed, seed: Seed, password: str) -> None:
    user = _sign_in(entry, seed, password)
    member = Membership.objects.filter(user=user).first() or add_member(
        by=world.owner,
        email=user.email,
        name=entry["name"],
        role=entry["role"],
        approve_l3=entry.get("approve_l3", False),
        phone=entry.get("phone", ""),
    )
    world.members[entry["ref"]] = member


def _sign_in(entry: Seed, seed: Seed, password: str) -> User:
    language = Language.PORTUGUESE if seed.get("locale") == "pt-BR" else Language.ENGLISH
    user = user_for(entry["email"], language=language)
    if not user.has_usable_password():
        user.set_password(password)
        user.save(update_fields=["password"])
    return user
