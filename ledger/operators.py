"""The operator's staff: how they come into a company, and how the record names them.

Nobody is shown a list of companies. Staff name one by its id, or by the e-mail address of somebody who belongs to it,
as it stands in a request for help; both are answered from tables that hold ids only, so nothing is added to the closed
list of tables without a policy (settled questions 22 and 31).
"""

import uuid
from typing import Any

from django.utils.translation import gettext as _

from ledger import audit, tenancy
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import Access, Company, User

MOST_COMPANIES = 50
"""Companies of one person that are looked at when a short name has to tell them apart."""


def is_operator(user: Any) -> bool:
    """Whether this is one of the operator's staff, now. Strangers have no account and are not."""
    return bool(user.is_authenticated and user.is_active and user.is_staff)


def require_operator(user: User) -> None:
    """Raise NotAllowed unless this is one of the operator's staff."""
    if not is_operator(user):
        raise NotAllowed(_("Only the operator's staff may do this."))


def named(user: User) -> dict[str, str]:
    """How an audit record names one of the staff, who is no member of the company and so never its `by`."""
    return {"id": str(user.pk), "email": user.email}


def find_company(text: str, slug: str = "") -> uuid.UUID:
    """The one company of that id, or of the person with that e-mail address; `slug`, where given, has to be its own.

    Called outside any scope. Raises NotFound, and SEVERAL_COMPANIES where the person belongs to more than one.
    """
    wanted = slug.strip().lower()
    found = [pk for pk in _candidates(text.strip()) if _answers(pk, wanted)]
    if not found:
        raise NotFound(_("No company answers to this. Check the id, the address and the short name."))
    if len(found) > 1:
        sentence = _("That person belongs to several companies: write the short name of the one you mean.")
        raise DomainError("SEVERAL_COMPANIES", sentence)
    return found[0]


def _candidates(text: str) -> list[uuid.UUID]:
    if "@" in text:
        of_person = Access.objects.filter(user__email__iexact=text).order_by("id")
        return list(of_person.values_list("tenant_id", flat=True)[:MOST_COMPANIES])
    try:
        return [uuid.UUID(text)]
    except ValueError:
        return []


def _answers(company_id: uuid.UUID, slug: str) -> bool:
    with tenancy.tenant(company_id):
        own = Company.objects.filter(pk=company_id).values_list("slug", flat=True).first()
    return own is not None and slug in ("", own)


def enter_company(company: Company, *, operator: User) -> None:
    """Write into the company's record that one of the staff came in. In its scope. Raises NotAllowed."""
    require_operator(operator)
    audit.record("admin.entered", by=None, subject=company, operator=named(operator))


def leave_company(company: Company, *, operator: User) -> None:
    """Write into the company's record that one of the staff left it. In its scope. Raises NotAllowed."""
    require_operator(operator)
    audit.record("admin.left", by=None, subject=company, operator=named(operator))
