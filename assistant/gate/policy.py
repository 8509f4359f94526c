"""The static rules: which level a proposal has, who may decide it, how many people it takes, how long it waits."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from assistant.tools.effects import Effect, Level, level_of
from assistant.tools.registry import Prepared, Tool
from ledger import permissions
from ledger.company_settings import CompanySettings
from ledger.compiled import Compiled
from ledger.errors import DomainError, NotAllowed
from ledger.models import Membership, Suspension

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
    """What a proposal needs: its level, the number of people, and whether somebody else than the requester decides."""

    level: Level
    effects: frozenset[Effect]
    approvals: int
    routed: bool


PAUSED = Compiled(lambda: Suspension.objects.filter(ended_at=None).values_list("pk", flat=True)[:1])


def agent_paused() -> bool:
    return PAUSED.first() is not None


def may_decide(member: Membership, made: Tool, level: int) -> bool:
    """Whether this member may be one who decides an action of this tool and level, now."""
    return permissions.allowed(member, made.permission) and (level < Level.STRONG or member.approve_l3)


def weigh(
    made: Tool,
    prepared: Prepared,
    *,
    requester: Membership,
    outside: Iterable[Any],
    settings: CompanySettings,
) -> Verdict:
    """Decide how a proposal is to be confirmed; raises where nobody could (T71).

    Reading outside content raises an outward tool by one level (T88). Money out above the company's threshold takes
    two people where the company has two who may.
    """
    permissions.require(requester, made.permission)
    effects = made.all_effects | prepared.more_effects
    level = level_of(effects)
    if outside and effects & OUTWARD:
        level = Level(min(level + 1, Level.STRONG))
    routed = not may_decide(requester, made, level)
    deciders = [m for m in Membership.objects.filter(active=True) if may_decide(m, made, level)]
    if not deciders:
        raise NotAllowed(_("Nobody in this company may approve this, so it was not put forward."))
    approvals = 2 if _takes_two(effects, prepared, settings) and len(deciders) > 1 else 1
    return Verdict(level, effects, approvals, routed)


def _takes_two(effects: frozenset[Effect], prepared: Prepared, settings: CompanySettings) -> bool:
    if level_of(effects) == Level.STRONG and Effect.MONEY_OUT not in effects:
        return True
    if Effect.MONEY_OUT not in effects:
        return False
    amount = prepared.payload.get("amount_cents", 0)
    return settings.l3_always or amount > settings.l3_threshold_cents


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
