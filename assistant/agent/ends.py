"""How a turn comes to an end: its open reply is closed, its calls are answered, the person is told.

Every function here is called by one who holds the turn, inside a transaction.
"""

from typing import Any

from assistant import turns
from assistant.agent import history, results
from assistant.agent.lines import Line
from assistant.events import announce
from assistant.models import Message, ToolCall, Turn

UNFINISHED = (ToolCall.Status.QUEUED, ToolCall.Status.RUNNING)


def say(turn: Turn, line: Line, **params: Any) -> Message:
    """Add a line of the system to the turn; its sentence is rendered where it is shown."""
    message = Message(
        conversation_id=turn.conversation_id,
        turn=turn,
        role=Message.Role.LINE,
        code=line,
        params=params,
    )
    announce(turn.conversation_id, message)
    return message


def open_reply(turn: Turn) -> Message | None:
    """The reply that is being written, if one is."""
    return Message.objects.filter(turn=turn, role=Message.Role.ASSISTANT, open=True).first()


def close_reply(turn: Turn, code: str, said: str | None = None) -> None:
    """Close the reply that was being written, with what had been said; `said` is that where it is not stored yet."""
    reply = open_reply(turn)
    if reply is None:
        return
    if said is not None and len(said) >= len(reply.text):
        reply.text = said
    reply.open, reply.code = False, code
    announce(turn.conversation_id, reply, fields=("text", "open", "code"))


def answer_calls(turn: Turn, why: str) -> None:
    """Every call that did not run says so from now on."""
    calls = list(ToolCall.objects.filter(turn=turn, status__in=UNFINISHED).order_by("message_id", "index"))
    for call in calls:
        call.status, call.result = ToolCall.Status.SKIPPED, results.not_run(why)
        call.save(update_fields=["status", "result"])
    if calls:
        announce(turn.conversation_id, *calls)


def end_with_line(turn: Turn, status: Turn.Status, line: Line, **params: Any) -> None:
    """End the turn and say why, in a line of the system."""
    close_reply(turn, history.INTERRUPTED)
    say(turn, line, **params)
    turns.finish(turn, status, problem=line)


def stopped(turn: Turn, said: str | None = None) -> None:
    """The person's stop: keep what was said, run nothing more."""
    close_reply(turn, history.STOPPED, said)
    answer_calls(turn, "the person stopped the assistant")
    say(turn, Line.STOPPED)
    turns.finish(turn, Turn.Status.STOPPED)
