"""The loop's transactions: what a turn does next is read from its rows, so that any runner can go on with it.

Each function is one transaction under the claim; each raises ClaimLost or StopRequested where nothing may be written.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from assistant import bus, turns
from assistant.agent import calling, ends, guard, history, offered, prompt, results, usage
from assistant.agent.arguments import EXPLANATIONS
from assistant.agent.claimed import Claimed, Scope, check
from assistant.agent.lines import Line
from assistant.agent.replies import Call, Reply
from assistant.events import Along, announce
from assistant.models import Message, ToolCall, Turn
from ledger import permissions, tenancy
from ledger.company_settings import current_settings
from ledger.compiled import Compiled, an_id

MOST_CALLS: Final = 8
"""Model calls of one turn, those after a resumption included."""
MOST_UNKNOWN: Final = 3
"""Calls in a row of tools that do not exist, until the turn ends (H42)."""


COUNTED = "UPDATE assistant_turn SET calls = calls + 1 WHERE id = %s AND tenant_id = %s"
SAVED = "UPDATE assistant_message SET text = %s WHERE id = %s AND tenant_id = %s AND open"
ALONE = Compiled(lambda: Turn.objects.select_for_update(no_key=True).filter(pk=an_id()))
MESSAGE = Compiled(lambda: Message.objects.filter(pk=an_id()))


@dataclass(frozen=True)
class Over:
    """Nothing more to do now: the turn waits, or is at its end."""


@dataclass(frozen=True)
class RunCalls:
    """Calls that have no result yet, in their order."""

    calls: tuple[tuple[uuid.UUID, float], ...]
    """The row of each call and the seconds it may take."""


@dataclass(frozen=True)
class Speak:
    """Ask the model. The reply is written into this message, which is open and empty."""

    message_id: uuid.UUID
    seq: int
    opening: bus.Opening
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


Step = Over | RunCalls | Speak


def next_step(claimed: Claimed, *, developer: bool, window: history.Window) -> Step:
    """Run what is left of the last reply, wait for its cards, or ask the model again: whichever the rows say."""
    with claimed.scope(held=True) as scope:
        return find_step(scope, developer=developer, window=window)


def find_step(scope: Scope, *, developer: bool, window: history.Window) -> Step:
    """The next step of a turn that is held, in a scope that is open."""
    turn = scope.turn
    last = _last_calls(turn) if turn.calls else []
    if left := [call for call in last if call.status in ends.UNFINISHED]:
        calling.show_running(left[0])
        announce(turn.conversation_id, left[0])
        return _run_calls(scope, left)
    if cards := [call.action for call in last if call.action is not None]:
        own = any(card.turn_id == turn.pk for card in cards)
        if turns.open_cards(turn):
            turns.finish(turn, Turn.Status.WAITING)
            return Over()
        if not own or not current_settings().values.resume_turns:
            turns.finish(turn, Turn.Status.DONE)
            return Over()
    if obstacle := _obstacle(scope, turn):
        status = Turn.Status.INTERRUPTED if obstacle == Line.CALL_LIMIT else Turn.Status.FAILED
        ends.end_with_line(turn, status, obstacle)
        return Over()
    return _begin_reply(scope, turn, developer, window)


def _last_calls(turn: Turn) -> list[ToolCall]:
    """The calls of the newest reply that made any."""
    calls = ToolCall.objects.filter(turn=turn).order_by("message__position", "index").select_related("action")
    found = list(calls.defer("result", "action__payload", "action__payload_text", "action__preview_text"))
    return [call for call in found if call.message_id == found[-1].message_id]


def _obstacle(scope: Scope, turn: Turn) -> Line | None:
    """Why the model may not be asked now, if it may not."""
    if not permissions.allowed(scope.member, "use_assistant"):
        return Line.NOT_ALLOWED
    standing = usage.standing(scope.company)
    if not scope.company.active or standing.paused:
        return Line.AGENT_PAUSED
    if turn.calls >= MOST_CALLS:
        return Line.CALL_LIMIT
    return Line.DAILY_BUDGET if standing.used_up else None


def _begin_reply(scope: Scope, turn: Turn, developer: bool, window: history.Window) -> Speak:
    """Count the call before it goes out, open the reply and read the history, under the conversation's lock."""
    reply = ends.open_reply(turn) if turn.calls else None
    counted = Along(COUNTED, [turn.pk, scope.claimed.tenant_id])
    if reply is None:
        reply = Message(conversation_id=turn.conversation_id, turn=turn, role=Message.Role.ASSISTANT, open=True)
        announce(turn.conversation_id, reply, along=[counted])
    else:
        with connection.cursor() as cursor:
            cursor.execute(counted.sql, counted.params)
    past = history.read(turn.conversation_id, now=turn, developer=developer, window=window)
    tools = offered.to(scope.member)
    system = prompt.system(scope.member, door=turn.door, cut=past.cut)
    began = turn.started_at or turn.created_at
    opening = bus.Opening(turn.pk, turn.ordinal, reply.position, began, reply.created_at, reply.seq)
    messages = [{"role": "system", "content": system}, *past.messages]
    return Speak(reply.pk, reply.seq, opening, messages, offered.specs(tools))


def save_text(claimed: Claimed, message_id: uuid.UUID, text: str) -> None:
    """Keep what has been said so far. Also how the runner learns that the turn is no longer its own.

    The turn alone is locked: nothing of the conversation changes but an open reply's text.
    """
    with tenancy.tenant(claimed.tenant_id):
        check(ALONE.one(pk=claimed.turn_id), claimed.token)
        with connection.cursor() as cursor:
            cursor.execute(SAVED, [text, message_id, claimed.tenant_id])


def complete_reply(claimed: Claimed, message_id: uuid.UUID, reply: Reply) -> Step:
    """Store a whole reply with its calls; end the turn where it made none. Returns the calls to run."""
    with claimed.scope(held=True) as scope:
        tokens = reply.usage.total if reply.usage else 0
        step = _complete(scope, message_id, reply, tokens)
        usage.add(scope.company, tokens=tokens)
        return step


def _complete(scope: Scope, message_id: uuid.UUID, reply: Reply, tokens: int) -> Step:
    turn, message = scope.turn, MESSAGE.one(pk=message_id)
    message.text, message.open, message.tokens = reply.text, False, tokens
    accused = guard.unfounded(turn, reply.text) if reply.text else []
    if accused:
        message.code, message.params = history.UNFOUNDED, {"actions": [str(action.pk) for action in accused]}
    tools = offered.to(scope.member)
    calls, streak, too_many = _calls(turn, message, reply.calls, list(tools))
    turn.unknown_tools, turn.tokens = streak, turn.tokens + tokens
    left = [call for call in calls if call.status == ToolCall.Status.QUEUED]
    if left:
        calling.show_running(left[0])
    announce(turn.conversation_id, message, *calls, fields=("text", "open", "code", "params", "tokens"))
    if accused:
        ends.say(turn, Line.UNFOUNDED, cards=[action.summary for action in accused])
    if too_many:
        ends.end_with_line(turn, Turn.Status.FAILED, Line.UNKNOWN_TOOLS)
    elif not calls:
        _end(turn, reply)
    else:
        turn.save(update_fields=["unknown_tools", "tokens"])  # a turn that ends writes them with its end
        return _run_calls(scope, left)
    return Over()


def _calls(turn: Turn, message: Message, made: Sequence[Call], tools: list[str]) -> tuple[list[ToolCall], int, bool]:
    """The rows of a reply's calls, the unknown ones in a row after it, and whether those are too many.

    A call that cannot run is answered at once: cut, no JSON (H40), or a name that is not offered (H42).
    """
    streak, most = turn.unknown_tools, 0
    rows = []
    for index, call in enumerate(made):
        known = call.name in tools
        streak = 0 if known else streak + 1
        most = max(most, streak)
        result = ""
        if call.problem is not None:
            result = results.error(call.problem.upper(), EXPLANATIONS[call.problem])
        elif not known:
            result = calling.unknown(tools)
        rows.append(
            ToolCall(
                turn=turn,
                message=message,
                index=index,
                call_id=call.id,
                name=call.name,
                arguments=call.arguments_json,
                status=ToolCall.Status.FAILED if result else ToolCall.Status.QUEUED,
                result=result,
            )
        )
    too_many = most >= MOST_UNKNOWN
    for row in rows:
        if too_many and not row.result:
            row.status, row.result = ToolCall.Status.SKIPPED, results.not_run("the turn was ended")
    return ToolCall.objects.bulk_create(rows), streak, too_many


def _end(turn: Turn, reply: Reply) -> None:
    """The model has said its last word, which may be none, or too long a one."""
    if not reply.text.strip():
        ends.end_with_line(turn, Turn.Status.INTERRUPTED, Line.EMPTY)
        return
    if not reply.complete:
        ends.say(turn, Line.REPLY_CUT)
    turns.finish(turn, Turn.Status.DONE)


def _run_calls(scope: Scope, calls: list[ToolCall]) -> RunCalls:
    tools = offered.to(scope.member)
    return RunCalls(tuple((call.pk, calling.time_limit(tools.get(call.name))) for call in calls))


def fail(claimed: Claimed, status: Turn.Status, line: Line, said: str, tokens: int) -> None:
    """The model gave no whole reply: keep what it said, run nothing of it (H39), and say so."""
    with claimed.scope(held=True) as scope:
        turn = scope.turn
        ends.close_reply(turn, history.INTERRUPTED, said)
        ends.end_with_line(turn, status, line)
        usage.add(scope.company, tokens=tokens)


def end_stopped(claimed: Claimed, said: str | None) -> None:
    """The person's stop has been noticed: end the turn and keep what was said."""
    with claimed.scope(held=True, even_if_stopped=True) as scope:
        ends.stopped(scope.turn, said)


def release(claimed: Claimed, said: str | None = None) -> None:
    """This runner goes away: close what was begun and let another one go on."""
    with claimed.scope(held=True) as scope:
        turn = scope.turn
        if said:
            ends.close_reply(turn, history.INTERRUPTED, said)
        turns.finish(turn, Turn.Status.QUEUED)
