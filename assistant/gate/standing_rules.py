"""Writing standing approvals: by a person with the right, on a page; tried on the past before they count.

No tool and no program makes one: the doors that may are named here.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from assistant.gate import policy, standing
from assistant.gate.outcome import Clock
from assistant.gate.standing import Like, Why
from assistant.models import Decision, PendingAction, StandingApproval, Status
from assistant.tools import registry
from assistant.tools.effects import Level
from assistant.tools.registry import Tool
from ledger import audit, permissions
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import BusinessModel, Membership, Via

REPLAYED = timedelta(days=90)
MOST_REPLAYED = 5_000
LONGEST = timedelta(days=366)
OFTEN = 5
"""Unedited approvals of one kind, and no other answer, after which a rule is offered."""
PERSONS_DOORS = frozenset({str(Via.WEB), str(Via.SYSTEM)})
CLIENTS_AND_LEADS = ("client", "lead")


@dataclass(frozen=True)
class Scope:
    """What a person wants to let run. Cents; None is no bound."""

    tool: str
    party: BusinessModel | None
    most_cents: int | None
    month_cents: int | None
    month_times: int | None
    valid_until: date
    strong: bool = False
    note: str = ""


@transaction.atomic
def write(scope: Scope, *, by: Membership, today: date) -> StandingApproval:
    """Write a rule and try it on the last ninety days; it counts only when it is turned on.

    Raises NotAllowed, NO_SUCH_TOOL, NEEDS_PARTY, NEEDS_CEILING, NEEDS_MONTH, STRONG and PERIOD.
    """
    made = _checked(scope, by, today)
    party = scope.party
    rule = StandingApproval(
        writer=by,
        tool=made.name,
        tool_version=made.version,
        level=made.level,
        party_kind=(party._meta.model_name or "") if party else "",
        party_id=party.pk if party else None,
        party_ref=party.ref if party else "",
        most_cents=scope.most_cents,
        month_cents=scope.month_cents,
        month_times=scope.month_times,
        valid_until=scope.valid_until,
        strong=scope.strong,
        note=scope.note.strip()[:300],
    )
    rule.replay = replay(rule)
    rule.save(force_insert=True)
    audit.record("standing_approval.written", by=by, subject=rule, **_told(rule))
    return rule


@transaction.atomic
def turn_on(rule_id: uuid.UUID, *, by: Membership, today: date) -> StandingApproval:
    """Let a written rule count from now on: its writer does, who has seen what it would have done.

    Raises NotFound, ON_ALREADY, ENDED, and what `write` raises by now.
    """
    rule = _found(rule_id)
    if rule.writer_id != by.pk:
        raise NotAllowed(_("Only its writer turns a standing approval on."))
    if rule.ended_at is not None:
        raise DomainError("ENDED", _("This standing approval has ended."))
    if rule.on_at is not None:
        raise DomainError("ON_ALREADY", _("This standing approval is on already."))
    made = registry.get(rule.tool)
    if made is None or made.version != rule.tool_version or rule.valid_until < today:
        raise DomainError("ENDED", _("This standing approval has ended."))
    _require_right(made, by)
    StandingApproval.objects.filter(pk=rule.pk, on_at=None, ended_at=None).update(on_at=Clock())
    rule.refresh_from_db()
    audit.record("standing_approval.turned_on", by=by, subject=rule, **_told(rule))
    return rule


@transaction.atomic
def revoke(rule_id: uuid.UUID, *, by: Membership) -> StandingApproval:
    """End a rule at once: its writer or a head does. Raises NotFound, NotAllowed, ENDED."""
    rule = _found(rule_id)
    if rule.writer_id != by.pk:
        permissions.require(by, "change_settings")
    if rule.ended_at is not None:
        raise DomainError("ENDED", _("This standing approval has ended."))
    standing.end(rule, Why.REVOKED, by=by)
    rule.refresh_from_db()
    return rule


def replay(rule: StandingApproval) -> dict[str, Any]:
    """What the rule would have done in the last ninety days, month by month within its bounds.

    `saved` counts cards that a person confirmed as they were; `rejected` and `edited` name those it would have let
    through although a person did not; `undecided` counts what nobody answered.
    """
    since = timezone.now() - REPLAYED
    rows = PendingAction.objects.filter(tool=rule.tool, created_at__gte=since, edited_from=None, compensates=None)
    past = list(rows.exclude(closed_by=standing.DOOR).order_by("created_at", "pk")[:MOST_REPLAYED])
    edited = set(
        PendingAction.objects.filter(edited_from__in=past, edited_from__closed_by="edit").values_list(
            "edited_from_id", flat=True
        )
    )
    confirmed = _decided(past, Decision.Verdict.CONFIRM)
    rejected = _decided(past, Decision.Verdict.REJECT)
    found: dict[str, Any] = {"days": REPLAYED.days, "looked": len(past), "saved": 0, "undecided": 0}
    found |= {"rejected": [], "edited": []}
    months: dict[date, tuple[int, int]] = {}
    for action in past:
        like = Like.of(action)
        month = action.created_at.date().replace(day=1)
        cents, times = months.get(month, (0, 0))
        after = (cents + like.amount_cents, times + 1)
        if not standing.fits(rule, like) or not standing.within_month(rule, *after):
            continue
        months[month] = after
        if action.pk in rejected:
            found["rejected"].append(_named(action))
        elif action.pk in edited:
            found["edited"].append(_named(action))
        elif action.pk in confirmed:
            found["saved"] += 1
        else:
            found["undecided"] += 1
    return found


@dataclass(frozen=True)
class Offer:
    """A kind of action that was always confirmed as it was: a rule could do it."""

    tool: str
    party_id: uuid.UUID
    party_kind: str
    times: int
    most_cents: int


def offers() -> list[Offer]:
    """What the last ninety days suggest, most frequent first: five and more unedited approvals and nothing else."""
    since = timezone.now() - REPLAYED
    rows = (
        PendingAction.objects.filter(created_at__gte=since, level__lt=Level.STRONG, compensates=None)
        .exclude(closed_by__in=[standing.DOOR, "facts_changed", "proposed_again"])
        .annotate(edited=Q(edited_from__isnull=False))
        .order_by("-created_at")
        .values_list("tool", "targets", "status", "amount_cents", "edited", "closed_by")[:MOST_REPLAYED]
    )
    groups: dict[tuple[str, str, str], list[tuple[bool, int]]] = {}
    for tool, targets, status, cents, edited, closed_by in rows:
        party = [target for target in targets if target["kind"] in CLIENTS_AND_LEADS]
        if len(party) != 1:
            continue
        key = (tool, party[0]["kind"], party[0]["id"])
        good = status == Status.EXECUTED and not edited and closed_by != "edit"
        groups.setdefault(key, []).append((good, cents))
    ruled = set(StandingApproval.objects.filter(ended_at=None).values_list("tool", "party_id"))
    found = [
        Offer(tool, uuid.UUID(party), kind, len(seen), max(cents for _good, cents in seen))
        for (tool, kind, party), seen in groups.items()
        if len(seen) >= OFTEN and all(good for good, _cents in seen) and (tool, uuid.UUID(party)) not in ruled
    ]
    return sorted(found, key=lambda offer: -offer.times)


def _checked(scope: Scope, by: Membership, today: date) -> Tool:
    if audit.origin().door not in PERSONS_DOORS:
        raise NotAllowed(_("A standing approval is written by a person, on its page."))
    made = registry.get(scope.tool)
    if made is None or not made.gated:
        raise DomainError("NO_SUCH_TOOL", _("There is no such kind of action."), field="tool")
    _require_right(made, by)
    if made.level >= Level.APPROVE and scope.party is None:
        raise DomainError("NEEDS_PARTY", _("Say for which client."), field="party")
    if scope.party is not None and scope.party._meta.model_name not in CLIENTS_AND_LEADS:
        raise DomainError("NEEDS_PARTY", _("Say for which client."), field="party")
    if scope.month_cents is None and scope.month_times is None:
        raise DomainError("NEEDS_MONTH", _("Say how much, or how often, in one month."), field="month_times")
    if made.level >= Level.STRONG:
        if not scope.strong:
            raise DomainError("STRONG", _("Money that leaves needs your express consent."), field="strong")
        if scope.most_cents is None or scope.month_cents is None:
            raise DomainError("NEEDS_CEILING", _("Say how much at most, each time and in one month."), field="most")
    if not today < scope.valid_until <= today + LONGEST:
        raise DomainError("PERIOD", _("Choose a day that is to come, within a year."), field="valid_until")
    return made


def _require_right(made: Tool, by: Membership) -> None:
    if not policy.has_right(by, made, made.level):
        raise NotAllowed(_("You may not approve this yourself, so you cannot let it run."))


def _found(rule_id: uuid.UUID) -> StandingApproval:
    rule: StandingApproval | None = (
        StandingApproval.objects.select_for_update(of=("self",), no_key=True)
        .select_related("writer")
        .filter(pk=rule_id)
        .first()
    )
    if rule is None:
        raise NotFound(_("There is no such standing approval."))
    return rule


def _decided(actions: Iterable[PendingAction], verdict: str) -> set[uuid.UUID]:
    rows = Decision.objects.filter(action__in=[action.pk for action in actions], verdict=verdict)
    return set(rows.values_list("action_id", flat=True))


def _named(action: PendingAction) -> dict[str, Any]:
    return {"action": str(action.pk), "summary": action.summary, "day": action.created_at.date().isoformat()}


def _told(rule: StandingApproval) -> dict[str, Any]:
    return {
        "tool": rule.tool,
        "party": rule.party_ref,
        "most_cents": rule.most_cents,
        "month_cents": rule.month_cents,
        "month_times": rule.month_times,
        "valid_until": rule.valid_until.isoformat(),
        "strong": rule.strong,
        "replay": {name: len(value) if isinstance(value, list) else value for name, value in rule.replay.items()},
    }
