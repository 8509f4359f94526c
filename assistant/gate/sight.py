"""Who may know of a card, and for whom one waits: the rule for a card at hand, and the same rule for lists.

A test holds the two forms together, for every tool, level and role.
"""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, UUIDField, Value
from django.db.models.expressions import Combinable

from assistant.gate import policy
from assistant.models import FINAL, OPEN, Alert, Decision, PendingAction, Status
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger import permissions
from ledger.compiled import Compiled, an_id, some_words
from ledger.models import Membership

SHARED = Q(routed=True) | Q(approvals__gt=1)
"""Cards that somebody else than the requester has to answer, alone or as the second person."""
LEVELS = (Level.CONFIRM, Level.APPROVE, Level.STRONG)


def visible(action: PendingAction, member: Membership) -> bool:
    """Whether the card is this member's to see and, while it waits, to answer."""
    if action.requester_id == member.pk:
        return True
    made = registry.get(action.tool)
    shared = action.routed or action.approvals > 1
    return bool(shared and made and policy.may_decide(member, made, action.level))


def readable(action: PendingAction, member: Membership) -> bool:
    """Whether this member may read the card as well as those whom it is for: heads what has ended, and whoever
    settles what is in doubt."""
    if visible(action, member):
        return True
    if action.status in FINAL:
        return permissions.allowed(member, "read_all_actions")
    return action.status == Status.IN_DOUBT and permissions.allowed(member, "reconcile_action")


def decidable(member: Membership) -> dict[str, list[str]]:
    """The gated tools that the member may decide on, by level ("may1" to "may3")."""
    gated = [made for made in registry.TOOLS.values() if made.gated]
    return {f"may{level}": [one.name for one in gated if policy.may_decide(member, one, level)] for level in LEVELS}


def visible_to(member: Membership) -> Q:
    """The rows of which `visible` is true."""
    may = decidable(member)
    named = {level: Q(tool__in=may[f"may{level}"]) for level in LEVELS}
    return Q(requester=member) | (SHARED & _by_level(named))


def readable_to(member: Membership) -> Q:
    """The rows of which `readable` is true."""
    found = visible_to(member)
    if permissions.allowed(member, "read_all_actions"):
        found |= Q(status__in=FINAL)
    if permissions.allowed(member, "reconcile_action"):
        found |= Q(status=Status.IN_DOUBT)
    return found


def waiting(member: Membership) -> list[tuple[uuid.UUID, uuid.UUID | None]]:
    """What waits for this member, oldest first: each card that they may decide, with its conversation; and with none,
    each alert, where they may settle those."""
    settles = permissions.allowed(member, "reconcile_action")
    return (WITH_ALERTS if settles else CARDS).all(reader=member.pk, **decidable(member))


def waits_for(member: Membership) -> Q:
    """The open cards that this member may decide."""
    may = decidable(member)
    return _waits(Value(member.pk, UUIDField()), {level: Q(tool__in=may[f"may{level}"]) for level in LEVELS})


def _waits(reader: Combinable, named: dict[Level, Q]) -> Q:
    pending = Q(status=Status.PENDING) & (Q(requester=reader) | Q(routed=True))
    undecided = Q(~Exists(Decision.objects.filter(action=OuterRef("pk"), member=reader)))
    second = Q(status=Status.AWAITING_SECOND) & ~Q(requester=reader) & undecided
    return Q(status__in=OPEN) & _by_level(named) & (pending | second)


def _by_level(named: dict[Level, Q]) -> Q:
    return _any(Q(level=level) & tools for level, tools in named.items())


def _any(rules: Iterable[Q]) -> Q:
    found = Q()
    for rule in rules:
        found |= rule
    return found


def _cards() -> QuerySet[Any, Any]:
    named = {level: Q(tool=some_words(f"may{level}")) for level in LEVELS}
    return PendingAction.objects.filter(_waits(an_id("reader"), named)).values_list("pk", "conversation_id")


def _alerts() -> QuerySet[Any, Any]:
    nowhere = Value(None, UUIDField())
    return Alert.objects.filter(handled_at=None).values_list("pk").annotate(conversation=nowhere)


CARDS: Compiled[tuple[uuid.UUID, uuid.UUID | None]] = Compiled(lambda: _cards().order_by("pk"))
WITH_ALERTS: Compiled[tuple[uuid.UUID, uuid.UUID | None]] = Compiled(
    lambda: _cards().union(_alerts(), all=True).order_by("pk")
)
