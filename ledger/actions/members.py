"""Who belongs to a company and as what. Each change makes what was permitted before count no longer (`epoch`)."""

from decimal import Decimal

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import columns
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import Access, Company, Language, Membership, Role, User
from ledger.numbering import take_number


def user_for(email: str, *, language: str = "") -> User:
    """The person of that address; made without a password, so that nobody signs in as them, if there is none yet."""
    address = columns.email(email)
    if not address:
        raise DomainError("REQUIRED", _("This is needed."), field="email")
    known = User.objects.filter(email__iexact=address).first()
    return known or User.objects.create_user(address, language=language or Language.ENGLISH)


def new_membership(
    user: User,
    *,
    name: str,
    role: str,
    approve_l3: bool = False,
    discount_limit: Decimal = Decimal(0),
    phone: str = "",
    country: str,
    ref: str = "",
) -> Membership:
    """The rows of a membership and of the way in, without asking who may: for `create_company` and `add_member`."""
    member = Membership.objects.create(
        ref=ref or take_number("member"),
        user=user,
        name=columns.line(name, "name", 160, required=True),
        phone=columns.phone(phone, country),
        role=Role(role),
        approve_l3=approve_l3,
        discount_limit=discount_limit,
    )
    _let_in(member)
    return member


@transaction.atomic
def add_member(
    *,
    by: Membership,
    email: str,
    name: str,
    role: str,
    approve_l3: bool = False,
    discount_limit: Decimal = Decimal(0),
    phone: str = "",
    language: str = "",
) -> Membership:
    """Let a person into the company; one who left before comes back, as what is said now.

    Raises ALREADY_MEMBER. Only an owner makes an owner.
    """
    permissions.require(by, "manage_members")
    _require_owner_for(by, role)
    company = columns.company()
    user = user_for(email, language=language)
    former = Membership.objects.select_for_update().filter(user=user).first()
    if former is None:
        member = new_membership(
            user,
            name=name,
            role=role,
            approve_l3=approve_l3,
            discount_limit=discount_limit,
            phone=phone,
            country=company.country,
        )
    else:
        member = _come_back(former, name, role, approve_l3, discount_limit, phone, company)
    audit.record("member.added", by=by, subject=member, ref=member.ref, role=member.role, approve_l3=approve_l3)
    return member


def _come_back(
    former: Membership, name: str, role: str, approve_l3: bool, limit: Decimal, phone: str, company: Company
) -> Membership:
    if former.active:
        raise DomainError("ALREADY_MEMBER", _("%(name)s is already here.") % {"name": former.name}, ref=former.ref)
    _write(
        former,
        name=columns.line(name, "name", 160, required=True),
        phone=columns.phone(phone, company.country),
        role=Role(role),
        approve_l3=approve_l3,
        discount_limit=limit,
        active=True,
    )
    _let_in(former)
    return former


@transaction.atomic
def change_member_role(
    member: Membership,
    *,
    by: Membership,
    role: str,
    approve_l3: bool | None = None,
    discount_limit: Decimal | None = None,
) -> Membership:
    """Give a member another role, the right to approve L3, or another discount limit (in percent).

    Nobody changes their own; only an owner makes or unmakes an owner, and the last one stays (I9).
    """
    permissions.require(by, "manage_members")
    held, others = _held(member)
    _refuse_self(held, by)
    _require_owner_for(by, role, held.role)
    changes = {
        "role": Role(role),
        "approve_l3": held.approve_l3 if approve_l3 is None else approve_l3,
        "discount_limit": held.discount_limit if discount_limit is None else discount_limit,
    }
    differing = {name: [getattr(held, name), value] for name, value in changes.items() if getattr(held, name) != value}
    if not differing:
        return held
    if held.role == Role.OWNER and role != Role.OWNER:
        _require_others(held, others)
    _write(held, **changes)
    audit.record("member.changed", by=by, subject=held, ref=held.ref, changes=differing)
    return held


@transaction.atomic
def deactivate_member(member: Membership, *, by: Membership) -> Membership:
    """Close the company to a member, at once: the way in goes and what they were permitted no longer counts."""
    permissions.require(by, "manage_members")
    held, others = _held(member)
    _refuse_self(held, by)
    _require_owner_for(by, held.role)
    if held.role == Role.OWNER:
        _require_others(held, others)
    if held.active:
        _write(held, active=False)
        Access.objects.filter(user_id=held.user_id, tenant_id=held.tenant_id).delete()
        audit.record("member.deactivated", by=by, subject=held, ref=held.ref, role=held.role)
    return held


def _held(member: Membership) -> tuple[Membership, int]:
    """The member and how many other owners there are, all held in one order, so that two removals take turns."""
    owners = Q(role=Role.OWNER, active=True)
    rows = list(Membership.objects.select_for_update().filter(Q(pk=member.pk) | owners).order_by("pk"))
    held = next((row for row in rows if row.pk == member.pk), None)
    if held is None:
        raise NotFound(_("There is no such member."))
    return held, sum(row.pk != held.pk for row in rows)


def _write(member: Membership, **changes: object) -> None:
    """Set the columns and raise the epoch: what the person asked for before is asked anew (I16)."""
    for name, value in (changes | {"epoch": member.epoch + 1}).items():
        setattr(member, name, value)
    member.save(update_fields=[*changes, "epoch"])


def _let_in(member: Membership) -> None:
    Access.objects.get_or_create(user_id=member.user_id, tenant_id=member.tenant_id)


def _refuse_self(member: Membership, by: Membership) -> None:
    if member.pk == by.pk:
        raise NotAllowed(_("Nobody changes their own role."), deed="manage_members")


def _require_owner_for(by: Membership, *roles: str) -> None:
    if Role.OWNER in roles and by.role != Role.OWNER:
        raise NotAllowed(_("Only an owner makes or unmakes an owner."), deed="manage_members")


def _require_others(member: Membership, other_owners: int) -> None:
    if other_owners == 0:
        raise DomainError("LAST_OWNER", _("A company keeps at least one owner."), ref=member.ref)
