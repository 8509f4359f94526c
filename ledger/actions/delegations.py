"""While one is away: another member decides what that one may decide, for a while. Never what oneself asked for."""

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.compiled import Compiled, an_id
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import Delegation, Membership

LONGEST = timedelta(days=90)
GIVERS: Compiled[Membership] = Compiled(
    lambda: Membership.objects.filter(
        active=True,
        given__taker_id=an_id("taker"),
        given__ended_at=None,
        given__starts_at__lte=Now(),
        given__ends_at__gt=Now(),
    ).order_by("pk")
)


def givers_of(member: Membership) -> list[Membership]:
    """The members for whom this one decides at this moment; read once for each object in hand."""
    found: list[Membership] | None = getattr(member, "_givers", None)
    if found is None:
        found = member._givers = GIVERS.all(taker=member.pk)  # type: ignore[attr-defined]
    return found


def takers_of(givers: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """The active members who decide at this moment for one of these."""
    now = Now()
    rows = Delegation.objects.filter(
        giver__in=givers, ended_at=None, starts_at__lte=now, ends_at__gt=now, taker__active=True
    )
    return set(rows.values_list("taker_id", flat=True))


def standing() -> list[Delegation]:
    """What is in force or will be, soonest first, with the people."""
    rows = Delegation.objects.filter(ended_at=None, ends_at__gt=Now()).select_related("giver", "taker")
    return list(rows.order_by("starts_at", "pk"))


@transaction.atomic
def delegate(
    giver: Membership, taker: Membership, *, by: Membership, starts_at: datetime, ends_at: datetime
) -> Delegation:
    """Let `taker` decide for `giver` meanwhile. One gives one's own right; heads may do it for somebody else.

    Raises NotAllowed, SAME_PERSON, INACTIVE, and PERIOD for one that is over, upside down or longer than 90 days.
    """
    if by.pk != giver.pk:
        permissions.require(by, "manage_members")
    elif not by.active:
        raise NotAllowed(_("You may not do this in this company."))
    if giver.pk == taker.pk:
        raise DomainError("SAME_PERSON", _("Choose somebody else."), field="taker")
    if not (giver.active and taker.active):
        raise DomainError("INACTIVE", _("That person is not active in this company."), field="taker")
    if not starts_at < ends_at or ends_at <= timezone.now() or ends_at - starts_at > LONGEST:
        raise DomainError(
            "PERIOD", _("Choose a time that is still to come and no longer than 90 days."), field="ends_at"
        )
    stored: Delegation = Delegation.objects.create(
        giver=giver, taker=taker, starts_at=starts_at, ends_at=ends_at, created_by=by
    )
    audit.record(
        "delegation.given",
        by=by,
        subject=stored,
        giver=giver.ref,
        taker=taker.ref,
        starts_at=starts_at.isoformat(),
        ends_at=ends_at.isoformat(),
    )
    return stored


@transaction.atomic
def end(delegation_id: uuid.UUID, *, by: Membership) -> Delegation:
    """Take it back at once: its giver, its taker or a head may. Raises NotFound, NotAllowed, ENDED."""
    found: Delegation | None = (
        Delegation.objects.select_for_update(of=("self",), no_key=True)
        .select_related("giver", "taker")
        .filter(pk=delegation_id)
        .first()
    )
    if found is None:
        raise NotFound(_("There is no such delegation."))
    if by.pk not in (found.giver_id, found.taker_id):
        permissions.require(by, "manage_members")
    if found.ended_at is not None:
        raise DomainError("ENDED", _("That is over already."))
    found.ended_at, found.ended_by = timezone.now(), by
    found.save(update_fields=["ended_at", "ended_by"])
    audit.record("delegation.ended", by=by, subject=found, giver=found.giver.ref, taker=found.taker.ref)
    return found
