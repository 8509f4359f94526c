"""Which turns a runner takes: those that are due, and those whose runner has been silent for longer than its lease.

A promise (`Due`) says where to look; the turn's row decides, by the database's clock.
"""

import logging
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import F

from assistant import turns
from assistant.agent import ends, history, steps
from assistant.agent.claimed import PEOPLE, Claimed, Scope, lease, lease_end
from assistant.agent.lines import Line
from assistant.gate.outcome import Clock
from assistant.models import Message, ToolCall, Turn
from ledger import audit, jobs, tenancy
from ledger.models import Due, Via
from ledger.tenancy import current_tenant

log = logging.getLogger(__name__)

MOST_TAKEOVERS = 3
"""After more of them the turn is given up (fault matrix, row 20)."""

TAKE = """
    UPDATE assistant_turn
       SET status = 'running', claim = %s, lease_until = clock_timestamp() + %s * interval '1 second',
           started_at = coalesce(started_at, clock_timestamp())
     WHERE id = %s AND tenant_id = %s
       AND (status = 'queued' OR (status = 'running' AND lease_until <= clock_timestamp()))
 RETURNING started_at, lease_until
"""
PICK = """
    UPDATE ledger_due SET lease = clock_timestamp() + %s * interval '1 second'
     WHERE id IN (
           SELECT id FROM ledger_due
            WHERE kind = %s AND run_at <= clock_timestamp() AND (lease IS NULL OR lease < clock_timestamp())
         ORDER BY run_at LIMIT %s FOR UPDATE SKIP LOCKED)
 RETURNING tenant_id, object_id
"""


def pick(most: int) -> list[tuple[uuid.UUID, uuid.UUID]]:
    """Promises of turns that nobody looks after, as (company, turn); other runners pass over them for a lease."""
    with connection.cursor() as cursor:
        cursor.execute(PICK, [settings.AVAL_LEASE_SECONDS, turns.KIND, most])
        return list(cursor.fetchall())


def pick_and_begin(
    most: int, *, developer: bool, window: history.Window
) -> tuple[list[tuple[uuid.UUID, uuid.UUID]], tuple[Claimed, steps.Step] | None]:
    """Pick, and where there is a single turn, claim it and find its first step without another change of threads.

    It waits for no lock: whoever holds one conversation does not keep the others from being picked.
    """
    picked = pick(most)
    if len(picked) != 1:
        return picked, None
    try:
        return [], claim_and_begin(*picked[0], developer=developer, window=window, wait=False)
    except OperationalError as error:
        log.info("Turn %s could not be begun at once: %s", picked[0][1], error)
        return picked, None
    except Exception:
        log.exception("Turn %s could not be begun at once", picked[0][1])
        return picked, None


def claim(tenant_id: uuid.UUID, turn_id: uuid.UUID) -> Claimed | None:
    """Take the turn, if it is queued or its runner is silent; else say when to look again. One transaction."""
    with tenancy.tenant(tenant_id):
        held = _claim(turn_id)
        return held[0] if held else None


def claim_and_begin(
    tenant_id: uuid.UUID, turn_id: uuid.UUID, *, developer: bool, window: history.Window, wait: bool = True
) -> tuple[Claimed, steps.Step] | None:
    """Take the turn and find its first step, in one transaction.

    If the step cannot be found nothing is claimed; `claim` alone then counts whose fault that may be.
    """
    with audit.entering(Via.AGENT, f"turn:{turn_id}"), tenancy.tenant(tenant_id):
        held = _claim(turn_id, wait=wait)
        if held is None:
            return None
        with Scope(*held).entered() as scope:
            return held[0], steps.find_step(scope, developer=developer, window=window)


def _claim(turn_id: uuid.UUID, *, wait: bool = True) -> tuple[Claimed, Turn] | None:
    """The turn, locked and now this runner's by a token of its own."""
    token, tenant_id = uuid.uuid4(), current_tenant()
    try:
        turn = turns.hold(turn_id, *PEOPLE, wait=wait)
    except Turn.DoesNotExist:
        jobs.forget(turns.KIND, turn_id)
        return None
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [token, settings.AVAL_LEASE_SECONDS, turn_id, tenant_id])
        row = cursor.fetchone()
    if row is None:
        _look_later(turn)
        return None
    silent = turn.status == Turn.Status.RUNNING
    turn.status, turn.claim = Turn.Status.RUNNING, token
    turn.started_at, turn.lease_until = row
    if silent and not _take_over(turn):
        return None
    return Claimed(tenant_id, turn.conversation_id, turn_id, token), turn


def _look_later(turn: Turn) -> None:
    if turn.status == Turn.Status.RUNNING:
        Due.objects.filter(kind=turns.KIND, object_id=turn.pk).update(lease=turn.lease_until)
    else:
        jobs.forget(turns.KIND, turn.pk)


def _take_over(turn: Turn) -> bool:
    """Close what the dead runner left open. False if the turn was ended instead, for it has killed several."""
    Due.objects.filter(kind=turns.KIND, object_id=turn.pk).update(tries=F("tries") + 1)
    tries = Due.objects.filter(kind=turns.KIND, object_id=turn.pk).values_list("tries", flat=True).first() or 1
    log.warning("Turn %s is taken over: its runner has been silent (%s)", turn.pk, tries)
    if turn.stop_requested:
        ends.stopped(turn)
        return False
    if Message.objects.filter(turn=turn, open=True).exclude(text="").exists():
        ends.close_reply(turn, history.INTERRUPTED)
    if tries > MOST_TAKEOVERS:
        ends.answer_calls(turn, history.NOT_RUN)
        ends.end_with_line(turn, Turn.Status.INTERRUPTED, Line.PROCESS_STOPPED)
        return False
    _give_up_deadly_calls(turn)
    return True


def _give_up_deadly_calls(turn: Turn) -> None:
    """A call that was running when its runner died runs once again; if that one dies as well, it may be the cause.

    `ended_at` of a call without a result is when its first attempt was cut off.
    """
    running = ToolCall.objects.filter(turn=turn, status=ToolCall.Status.RUNNING)
    if running.filter(ended_at__isnull=False).exists():
        ends.answer_calls(turn, history.NOT_RUN)
    else:
        running.update(ended_at=Clock())


@dataclass(frozen=True)
class Pulse:
    """What a runner learns when it renews its leases: which tokens still hold, and which are to stop."""

    held: frozenset[uuid.UUID]
    stopped: frozenset[uuid.UUID]


def renew(tenant_id: uuid.UUID, tokens: Iterable[uuid.UUID]) -> Pulse:
    """Renew the leases of one company's turns."""
    with tenancy.tenant(tenant_id):
        own = Turn.objects.filter(claim__in=list(tokens), status=Turn.Status.RUNNING)
        own.update(lease_until=lease_end())
        rows = list(own.values_list("claim", "stop_requested"))
    return Pulse(
        frozenset(token for token, _ in rows if token), frozenset(token for token, stop in rows if token and stop)
    )


def renew_promises(turn_ids: Iterable[uuid.UUID]) -> None:
    """Let other runners pass over these turns for another lease."""
    Due.objects.filter(kind=turns.KIND, object_id__in=list(turn_ids)).update(lease=Clock() + lease())


def by_tenant(running: Iterable[Claimed]) -> Mapping[uuid.UUID, list[Claimed]]:
    found: dict[uuid.UUID, list[Claimed]] = {}
    for claimed in running:
        found.setdefault(claimed.tenant_id, []).append(claimed)
    return found
