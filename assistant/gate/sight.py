"""Who may know of a card, and for whom one waits: the rule for a card at hand, and the same rule for lists.

A test holds the two forms together, for every tool, level and role.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Generic, TypeVar

from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, QuerySet, UUIDField, Value

from assistant.gate import policy
from assistant.gate.outcome import SECOND_WANTED
from assistant.models import FINAL, OPEN, Alert, Decision, PendingAction, Status
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger import permissions
from ledger.actions.delegations import givers_of
from ledger.compiled import Compiled, Slot, an_id, some_words
from ledger.models import Membership

Row = TypeVar("Row")
SHARED = Q(routed=True) | Q(approvals__gt=1)
"""Cards that somebody else than the requester has to answer, alone or as the second person."""


def among(*statuses: Status) -> Func:
    """The rows in one of these statuses, which stand in the statement itself: as parameters of a prepared one they
    would hide from the planner that a partial index holds (measured: seconds over a million rows).
    """
    words = ", ".join(f"'{status.value}'" for status in statuses)
    return Func(F("status"), template=f"%(expressions)s IN ({words})", output_field=BooleanField())


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


Tools = dict[int, list[str]]
"""The tools that somebody may decide on by their own right, for each level."""


def rights_of(member: Membership) -> Tools:
    gated = [made for made in registry.TOOLS.values() if made.gated]
    return {level: [one.name for one in gated if policy.has_right(member, one, level)] for level in LEVELS}


def decidable(member: Membership) -> list[tuple[str, int]]:
    """Each tool and level that the member may decide, by an own right or for somebody who is away."""
    rights = [rights_of(one) for one in (member, *givers_of(member))]
    return sorted({(tool, int(level)) for held in rights for level, tools in held.items() for tool in tools})


@dataclass(frozen=True)
class Eye:
    """Who looks, for a query: the member, their own rights, and of whom they stand in for the rights of those.

    Of the latter a compiled query has one, in slots; whoever stands in for several has their queries made anew.
    """

    reader: Any
    own: Q
    given: tuple[tuple[Any, Q], ...]

    @classmethod
    def of(cls, member: Membership) -> "Eye":
        given = tuple((Value(one.pk, UUIDField()), _in(rights_of(one))) for one in givers_of(member))
        return cls(Value(member.pk, UUIDField()), _in(rights_of(member)), given)

    @property
    def decides(self) -> Q:
        """The rows of a tool and level that the member may decide."""
        return reduce(or_, (rights for _giver, rights in self.given), self.own)

    @property
    def answers(self) -> Q:
        """The rows of another's card that the member may say yes to (policy.may_answer): nobody is the second key by
        the right of somebody who asked for it or turned the first.
        """
        found = self.own
        for giver, rights in self.given:
            turned = Exists(Decision.objects.filter(action=OuterRef("pk"), member=giver))
            found |= rights & (Q(approvals=1) | (~Q(requester=giver) & Q(~turned)))
        return found


NOBODY = uuid.UUID(int=0)
SLOTS = Eye(
    an_id("reader"),
    reduce(or_, (Q(level=level, tool=some_words(f"own{level}")) for level in LEVELS)),
    ((an_id("giver"), reduce(or_, (Q(level=level, tool=some_words(f"given{level}")) for level in LEVELS))),),
)


class Looked(Generic[Row]):
    """A query of what a member looks at; `build` gets the eye and, by name, what else a run gives."""

    def __init__(self, build: Callable[..., QuerySet[Any, Row]], **slots: Slot) -> None:
        self._build, self._compiled = build, Compiled(lambda: build(SLOTS, **slots))

    def all(self, member: Membership, **more: Any) -> list[Row]:
        givers = givers_of(member)
        if len(givers) > 1:
            return list(self._build(Eye.of(member), **more))
        own, given = rights_of(member), rights_of(givers[0]) if givers else {level: [] for level in LEVELS}
        values: dict[str, Any] = {"reader": member.pk, "giver": givers[0].pk if givers else NOBODY, **more}
        for level in LEVELS:
            values |= {f"own{level}": own[level], f"given{level}": given[level]}
        return self._compiled.all(**{name: values[name] for name in self._compiled.slots})


def seen_by(eye: Eye) -> Q:
    """The rows of which `visible` is true."""
    return Q(requester=eye.reader) | (SHARED & eye.decides)


def waits_for(eye: Eye) -> Q:
    """The open cards that the member may say yes to. What one asked for oneself takes one's own right."""
    asked = Q(requester=eye.reader)
    pending = Q(status=Status.PENDING) & ((asked & eye.own) | (~asked & Q(routed=True) & eye.answers))
    undecided = Q(~Exists(Decision.objects.filter(action=OuterRef("pk"), member=eye.reader)))
    second = Q(status=Status.AWAITING_SECOND) & ~asked & undecided & eye.answers
    return Q(among(*OPEN)) & (pending | second)


def _in(rights: Tools) -> Q:
    return reduce(or_, (Q(level=level, tool__in=tools) for level, tools in rights.items()))


def visible_to(member: Membership) -> Q:
    """`seen_by` for a member at hand."""
    return seen_by(Eye.of(member))


def readable_to(member: Membership) -> Q:
    """The rows of which `readable` is true."""
    found = visible_to(member)
    if permissions.allowed(member, "read_all_actions"):
        found |= Q(among(*FINAL))
    if permissions.allowed(member, "reconcile_action"):
        found |= Q(status=Status.IN_DOUBT)
    return found


def waiting(member: Membership) -> list[tuple[uuid.UUID, uuid.UUID | None]]:
    """What waits for this member, oldest first: each card that they may decide, with its conversation; and with none,
    each alert, where they may settle those."""
    settles = permissions.allowed(member, "reconcile_action")
    return (WITH_ALERTS if settles else CARDS).all(member)


def _cards(eye: Eye) -> QuerySet[Any, tuple[uuid.UUID, uuid.UUID | None]]:
    rows = PendingAction.objects.filter(waits_for(eye)).order_by("pk")
    return rows.values_list("pk", "conversation_id")


def _with_alerts(eye: Eye) -> QuerySet[Any, tuple[uuid.UUID, uuid.UUID | None]]:
    nowhere = Value(None, UUIDField())
    alerts = Alert.objects.filter(handled_at=None).exclude(kind=SECOND_WANTED)  # its card is counted already
    found = alerts.values_list("pk").annotate(conversation=nowhere)
    return _cards(eye).order_by().union(found, all=True).order_by("pk")


CARDS = Looked(_cards)
WITH_ALERTS = Looked(_with_alerts)
