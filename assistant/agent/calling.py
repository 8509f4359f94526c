"""One tool call, in one transaction: its effect, its result and the place of the next one, or nothing of it.

A runner that dies in the middle leaves no effect and no result, so the call can be run again; one that dies after the
commit leaves both, so it never is (the call's row is the key, T10 and L0 writes alike).
"""

import logging
import uuid
from dataclasses import dataclass

from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from psycopg import errors as pg

from assistant.agent import offered, results, sureness
from assistant.agent.claimed import Claimed, ClaimLost, Scope
from assistant.agent.ends import UNFINISHED
from assistant.events import announce
from assistant.gate import proposals
from assistant.models import PendingAction, ToolCall, Turn
from assistant.tools.facts import Outside, plain
from assistant.tools.registry import Context, ReadResult, Tool
from ledger.errors import DomainError

log = logging.getLogger(__name__)

TIME_LIMIT = 30
"""Seconds that a call may take; a tool may declare less."""


@dataclass(frozen=True)
class Result:
    """What a call came to, as it will be stored."""

    status: ToolCall.Status
    text: str
    touched: tuple[str, ...] = ()
    outside: tuple[Outside, ...] = ()
    action: PendingAction | None = None


def run_call(claimed: Claimed, call_pk: uuid.UUID) -> None:
    """Run one call and store its result; the next one of the same reply begins to show as running.

    Raises ClaimLost or StopRequested where the turn is no longer this runner's; then nothing has happened.
    """
    with claimed.scope() as scope:
        call = ToolCall.objects.select_related("message").get(pk=call_pk)
        if call.status not in UNFINISHED:
            return
        result = _attempt(scope, call)
        _store(scope, scope.hold(), call, result)


def overrun(claimed: Claimed, call_pk: uuid.UUID) -> None:
    """Give a call up that takes too long. Should it end after all, it finds its row closed and undoes itself."""
    with claimed.scope(held=True) as scope:
        call = ToolCall.objects.get(pk=call_pk)
        if call.status in UNFINISHED:
            text = results.error("TIMEOUT", _("It took too long and was given up; nothing was done."))
            _store(scope, scope.turn, call, Result(ToolCall.Status.FAILED, text))


def unknown(names: list[str]) -> str:
    """What the model is told of a tool that it does not have (H42)."""
    return results.error("UNKNOWN_TOOL", f"unknown tool; available: {', '.join(names)}", hint="Use one of these.")


def time_limit(made: Tool | None) -> float:
    return min(made.time_limit, TIME_LIMIT) if made else TIME_LIMIT


def _attempt(scope: Scope, call: ToolCall) -> Result:
    """The call's result; whatever it did is undone where it failed."""
    tools = offered.to(scope.member)
    made = tools.get(call.name)
    if made is None:
        return Result(ToolCall.Status.FAILED, unknown(list(tools)))
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{time_limit(made):.0f}s"])
    try:
        with transaction.atomic():
            return _propose(scope, call, made) if made.gated else _run(scope, call, made)
    except DomainError as refused:
        return Result(ToolCall.Status.FAILED, results.error(refused.code, refused.sentence, refused.data))
    except OperationalError as error:
        if isinstance(error.__cause__, pg.QueryCanceled):
            text = results.error("TIMEOUT", _("It took too long and was given up; nothing was done."))
            return Result(ToolCall.Status.FAILED, text)
        raise
    except Exception:
        log.exception("The tool %s failed in turn %s", call.name, call.turn_id)
        text = results.error("INTERNAL", _("Something went wrong here; nothing was done."))
        return Result(ToolCall.Status.FAILED, text)


def _run(scope: Scope, call: ToolCall, made: Tool) -> Result:
    """A tool without a gate: it reads, or writes what can be taken back."""
    if made.run is None:
        raise LookupError(f"{made.name} has nothing to run")
    answer = made.run(_context(scope), proposals.read_arguments(made, call.arguments))
    if not isinstance(answer, ReadResult):
        answer = ReadResult(answer)
    text = results.read(answer.data, answer.outside)
    return Result(ToolCall.Status.DONE, text, tuple(answer.touched), tuple(answer.outside))


def _propose(scope: Scope, call: ToolCall, made: Tool) -> Result:
    """A gated tool: a card, and nothing else. The same proposal again is the same card (T87)."""
    siblings = ToolCall.objects.filter(message_id=call.message_id, action__isnull=False)
    proposed = proposals.propose(
        _context(scope),
        made,
        call.arguments,
        conversation_id=scope.claimed.conversation_id,
        turn=scope.turn,
        call_id=call.call_id,
        reason=call.message.text,
        outside=tuple(Outside(**source) for source in scope.turn.outside),
        match=sureness.match_of(scope.claimed.conversation_id, call.arguments),
        beside=set(siblings.values_list("action_id", flat=True)),
    )
    text = results.proposed(proposed.action.pk, proposed.action.summary)
    return Result(ToolCall.Status.PROPOSED, text, action=proposed.action)


def _context(scope: Scope) -> Context:
    return Context(
        member=scope.member,
        company=scope.company,
        language=scope.language,
        door=scope.turn.door,
        conversation_id=scope.claimed.conversation_id,
        turn_id=scope.turn.pk,
    )


def _store(scope: Scope, held: Turn, call: ToolCall, result: Result) -> None:
    changed = {
        "status": result.status,
        "result": result.text,
        "touched": list(result.touched),
        "action": result.action,
        "ended_at": timezone.now(),
    }
    if ToolCall.objects.filter(pk=call.pk, status__in=UNFINISHED).update(**changed) != 1:
        raise ClaimLost
    rows = [call]
    following = ToolCall.objects.filter(message_id=call.message_id, index__gt=call.index, status__in=UNFINISHED)
    if following_call := following.order_by("index").first():
        show_running(following_call)
        rows.append(following_call)
    seen = [Outside(**source) for source in held.outside]
    if new := [source for source in result.outside if source not in seen]:
        held.outside = [plain(source) for source in dict.fromkeys([*seen, *new])]
        held.save(update_fields=["outside"])
    announce(scope.claimed.conversation_id, *rows)


def show_running(call: ToolCall) -> None:
    """Mark a call as the one that runs now; the caller announces it."""
    call.status, call.started_at = ToolCall.Status.RUNNING, timezone.now()
    call.save(update_fields=["status", "started_at"])
