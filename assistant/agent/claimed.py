"""A runner's hold on one turn. Everything that the loop writes is written under it, or not at all.

The claim is a token on the turn's row. Whoever takes a silent turn over writes a token of its own, and from then on
the old runner, if it still lives, finds at the end of each transaction that the turn is no longer its own.
"""

import contextlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models.expressions import CombinedExpression

from assistant import turns
from assistant.gate.outcome import Clock
from assistant.models import Turn
from ledger import audit, reader, tenancy
from ledger.compiled import Compiled, an_id
from ledger.models import Company, Membership, Via

PEOPLE = ("member__user", "member__tenant")
TURN = Compiled(lambda: Turn.objects.select_related(*PEOPLE).filter(pk=an_id()))


class ClaimLost(Exception):
    """The turn belongs to another runner now, or is over: write nothing more."""


class StopRequested(Exception):
    """The person wants the turn to stop: nothing new begins."""


@dataclass(frozen=True)
class Claimed:
    """Which turn, whose, and the token that this runner holds it by."""

    tenant_id: uuid.UUID
    conversation_id: uuid.UUID
    turn_id: uuid.UUID
    token: uuid.UUID

    @contextlib.contextmanager
    def scope(self, *, held: bool = False, even_if_stopped: bool = False) -> Iterator["Scope"]:
        """One transaction in the turn's company, in the name of its member, in their language and time zone.

        With `held` conversation and turn are locked from the start, for transactions that touch no action and no
        document; the others call `hold` when they have.

        Raises:
            ClaimLost: another runner has the turn, or it is over.
            StopRequested: its person stopped it.
        """
        with audit.entering(Via.AGENT, f"turn:{self.turn_id}"), tenancy.tenant(self.tenant_id):
            if held:
                turn = turns.hold(self.turn_id, *PEOPLE)
                check(turn, self.token, even_if_stopped=even_if_stopped)
            else:
                turn = TURN.one(pk=self.turn_id)
            with Scope(self, turn).entered() as scope:
                yield scope


@dataclass(frozen=True)
class Scope:
    """What one transaction of the loop knows: the turn as it was at the start, and who it works for."""

    claimed: Claimed
    turn: Turn

    @property
    def member(self) -> Membership:
        member: Membership = self.turn.member
        return member

    @property
    def company(self) -> Company:
        return self.member.tenant

    @property
    def language(self) -> str:
        return self.member.user.language

    @property
    def zone(self) -> str:
        return self.member.timezone or self.company.timezone

    @contextlib.contextmanager
    def entered(self) -> Iterator["Scope"]:
        """In the member's language and time zone."""
        with reader.reading(self.language, self.zone):
            yield self

    def hold(self) -> Turn:
        """Lock conversation and turn until the commit; raises as `Claimed.scope` does."""
        held = turns.hold(self.turn.pk)
        check(held, self.claimed.token)
        return held


def check(turn: Turn, token: uuid.UUID, *, even_if_stopped: bool = False) -> None:
    """Raise ClaimLost or StopRequested unless the locked turn is this runner's to write."""
    if turn.status != Turn.Status.RUNNING or turn.claim != token:
        raise ClaimLost
    if turn.stop_requested and not even_if_stopped:
        raise StopRequested


def lease() -> timedelta:
    """How long a turn may be silent before another runner takes it over."""
    return timedelta(seconds=settings.AVAL_LEASE_SECONDS)


def lease_end() -> CombinedExpression:
    """When a lease that begins now runs out, by the database's clock."""
    return Clock() + lease()
