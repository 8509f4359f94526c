"""The static rules: which level a proposal has, who may decide it, how many people it takes, how long it waits.

The levels follow from the effects; what a company asks for beyond them is its review policy (review.py), which only
raises. Automatic checks of figures are in guardrails.py, a person's answer in approvals.py.
"""

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from assistant.gate import guardrails, review
from assistant.gate.review import Case
from assistant.models import PendingAction
from assistant.tools.effects import Effect, Level, level_of
from assistant.tools.facts import Target, plain
from assistant.tools.registry import Context, Prepared, Tool
from ledger import permissions
from ledger.actions.delegations import givers_of, takers_of
from ledger.company_settings import CompanySettings
from ledger.compiled import Compiled
from ledger.errors import DomainError, NotAllowed
from ledger.models import Client, Lead, Membership, Suspension

MAX_OPEN_CARDS = 20
FRESH_LOGIN_SECONDS = 300
OUTWARD = frozenset(
    {
        Effect.VISIBLE,
        Effect.NOTICE,
        Effect.DOCUMENT,
        Effect.COMMITMENT,
        Effect.STRANGER,
        Effect.SPENDS,
        Effect.MONEY_IN,
        Effect.MONEY_OUT,
        Effect.PRIVATE,
    }
)


@dataclass(frozen=True)
class Verdict:
    """What a proposal needs: its level, the number of people, whether somebody else than the requester decides.

    `alone`: two people should decide and the company has one who may; that one types the amount and has a cooling-off
    of `undo_seconds` in which the deed can be taken back.
    """

    level: Level
    effects: frozenset[Effect]
    approvals: int
    routed: bool
    alone: bool
    undo_seconds: int


def pauses() -> QuerySet[Suspension]:
    """The pause that is in force, if one is."""
    return Suspension.objects.filter(ended_at=None)


PAUSED = Compiled(lambda: pauses().values_list("pk", flat=True)[:1])


def agent_paused() -> bool:
    return PAUSED.first() is not None


def may_decide(member: Membership, made: Tool, level: int) -> bool:
    """Whether this member may be one who decides an action of this tool and level, now: by an own right, or for
    somebody who is away.
    """
    return has_right(member, made, level) or any(has_right(one, made, level) for one in givers_of(member))


def has_right(member: Membership, made: Tool, level: int) -> bool:
    """Whether the member's own role and limits let them decide it."""
    return permissions.allowed(member, made.permission) and (level < Level.STRONG or member.approve_l3)


def able(made: Tool, level: int) -> set[uuid.UUID]:
    """The members who may decide an action of this tool and level now: by an own right, or for one of those."""
    own = {member.pk for member in Membership.objects.filter(active=True) if has_right(member, made, level)}
    return own | takers_of(own)


def may_answer(member: Membership, made: Tool, action: PendingAction, first: Collection[uuid.UUID]) -> bool:
    """Whether the member may say yes to this very card, which the members `first` have decided on.

    What one asked for oneself takes one's own right. Nobody is the second key to a card by the right of somebody who
    asked for it or has turned the first.
    """
    if has_right(member, made, action.level):
        return True
    if member.pk == action.requester_id:
        return False
    return any(
        has_right(one, made, action.level)
        for one in givers_of(member)
        if action.approvals == 1 or one.pk not in (action.requester_id, *first)
    )


def weigh(
    made: Tool,
    prepared: Prepared,
    ctx: Context,
    *,
    outside: Iterable[Any],
    match: str,
    settings: CompanySettings,
) -> Verdict:
    """Decide how a proposal is to be confirmed; raises where a rule refuses it or nobody could decide it (T71).

    Reading outside content raises an outward tool by one level (T88). Money out above the company's threshold takes
    two people where the company has two who may; what always takes two is never without a declared rule.
    """
    requester, policy = ctx.member, review.current().policy
    permissions.require(requester, made.permission)
    effects = made.all_effects | prepared.more_effects
    targets = [plain(target) for target in prepared.targets]
    asked = review.asked(
        policy,
        _case(
            policy,
            prepared.targets,
            tool=made.name,
            role=requester.role,
            door=ctx.door,
            amount_cents=prepared.amount_cents,
            match=match,
            outside=bool(outside),
        ),
    )
    if asked.refused:
        raise DomainError("NOT_ALLOWED_HERE", _("This company's policy does not allow this."))
    guardrails.check(made, prepared, policy, currency=ctx.company.currency)
    level = level_of(effects)
    if outside and effects & OUTWARD:
        level = Level(min(level + 1, Level.STRONG))
    level = max(level, asked.level)
    routed = not has_right(requester, made, level)
    deciders = able(made, level)
    if not deciders:
        raise NotAllowed(_("Nobody in this company may approve this, so it was not put forward."))
    two = asked.people == 2 or _takes_two(effects, prepared.amount_cents, settings)
    alone = two and len(deciders) == 1 and not routed
    wanted = guardrails.use(effects, prepared.amount_cents, prepared.messages, targets)
    guardrails.refuse_over_limit(wanted, policy, ctx.company)
    waits = undo_seconds(made, settings)
    return Verdict(
        level=level,
        effects=effects,
        approvals=2 if two and len(deciders) > 1 else 1,
        routed=routed,
        alone=alone,
        undo_seconds=max(waits, policy.cooling_off_seconds) if alone else waits,
    )


def refusal_now(action: PendingAction, made: Tool, requester: Membership, settings: CompanySettings) -> str:
    """What the company's policy, as it is now, has against an action that is about to run; "" where nothing (T25)."""
    policy = review.current().policy
    targets = [Target(**target) for target in action.targets]
    asked = review.asked(
        policy,
        _case(
            policy,
            targets,
            tool=action.tool,
            role=requester.role,
            door=action.door,
            amount_cents=action.amount_cents,
            match=action.match,
            outside=bool(action.outside),
        ),
    )
    if asked.refused:
        return _("This company's policy does not allow this any more.")
    most = policy.most_cents.get(made.name)
    if most is not None and action.amount_cents > most:
        return _("The policy was lowered below this amount after the card was confirmed.")
    two = asked.people == 2 or _takes_two(frozenset(action.effects), action.amount_cents, settings)
    if asked.level > action.level or (two and action.approvals == 1 and not action.alone and _others(action, made)):
        return _("The policy asks for more since the card was confirmed.")
    return ""


def _others(action: PendingAction, made: Tool) -> bool:
    """Whether a second person could have decided it."""
    return len(able(made, action.level)) > 1


def _case(policy: review.Policy, targets: Iterable[Target], **known: Any) -> Case:
    named = any(rule.counterparty for rule in policy.rules)
    return Case(parties=_refs(targets) if named else frozenset(), **known)


def _refs(targets: Iterable[Target]) -> frozenset[str]:
    """The refs of the clients and leads that a proposal touches."""
    found: set[str] = set()
    for model in (Client, Lead):
        ids = [target.id for target in targets if target.kind == model._meta.model_name]
        found |= set(model.objects.filter(pk__in=ids).values_list("ref", flat=True)) if ids else set()
    return frozenset(found)


def _takes_two(effects: frozenset[str], amount_cents: int, settings: CompanySettings) -> bool:
    if Effect.MONEY_OUT not in effects:
        return level_of(Effect(effect) for effect in effects) == Level.STRONG
    return settings.l3_always or amount_cents > settings.l3_threshold_cents


def require_running(made: Tool) -> None:
    """Refuse while the company's agent is paused."""
    if made.gated and agent_paused():
        raise DomainError(
            "AGENT_PAUSED", _("The assistant is paused in this company; an owner or admin can turn it on.")
        )


def expires_seconds(made: Tool, settings: CompanySettings) -> int:
    """How long the card waits: the tenant's own time for the tool, between a minute and seven days, or the tool's."""
    return max(60, min(settings.expiry_seconds.get(made.name, made.expires_seconds), 7 * 86400))


def undo_seconds(made: Tool, settings: CompanySettings) -> int:
    return settings.undo_seconds.get(made.name, made.undo_seconds)
