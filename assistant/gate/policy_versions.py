"""The versions of a company's review policy: which stand, which of them cannot be read, and putting one back."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from assistant.gate import review
from assistant.gate.review import Policy
from assistant.models import ReviewPolicy
from ledger import permissions
from ledger.compiled import Compiled
from ledger.errors import DomainError, NotFound
from ledger.models import Membership

ON_A_PAGE = 20
LAST: Compiled[tuple[int, str]] = Compiled(
    lambda: ReviewPolicy.objects.order_by("-number").values_list("number", "text")[:1]
)


@dataclass(frozen=True)
class Version:
    """One version: its policy, or why it cannot be read, and the policy that was in force before it."""

    number: int
    at: datetime
    by: str
    policy: Policy | None
    problem: str
    before: Policy


def unreadable() -> tuple[int, str] | None:
    """The newest version and why, where it cannot be read: then an older one is in force. One query."""
    newest = LAST.first()
    if newest is None:
        return None
    try:
        review.read(newest[1])
    except DomainError as error:
        return newest[0], error.sentence
    return None


def newest_number(current: review.Current) -> int:
    """The number that the next change has to name as the one it was made from."""
    return current.bad[0][0] if current.bad else current.number


def page(before: int | None = None) -> tuple[list[Version], int | None]:
    """Versions, newest first, and the number to go on from. A version that cannot be read was never in force."""
    rows = ReviewPolicy.objects.select_related("created_by").order_by("-number")
    if before is not None:
        rows = rows.filter(number__lt=before)
    found = list(rows[: ON_A_PAGE + review.LOOKED_BACK])
    made: list[Version] = []
    in_force = review.BUILT_IN
    for row in reversed(found):
        policy, problem = _read(row.text)
        made.append(Version(row.number, row.created_at, row.created_by.name, policy, problem, in_force))
        in_force = policy or in_force
    shown = made[::-1][:ON_A_PAGE]
    return shown, shown[-1].number if len(found) > ON_A_PAGE else None


def put_back(number: int, *, by: Membership, expected: int) -> ReviewPolicy:
    """Make what an older version says the newest one. Raises as review.change, and NotFound."""
    permissions.require(by, "change_settings")
    text = ReviewPolicy.objects.filter(number=number).values_list("text", flat=True).first()
    if text is None:
        raise NotFound(_("There is no such version."))
    return review.change(by=by, text=text, expected=expected)


def _read(text: str) -> tuple[Policy | None, str]:
    try:
        return review.read(text), ""
    except DomainError as error:
        return None, error.sentence
