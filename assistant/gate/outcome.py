"""What became of an action, told to the conversation in the transaction in which it happened."""

from typing import Any

from django.db.models import DateTimeField, Func

from assistant import turns
from assistant.events import announce
from assistant.gate import reading
from assistant.models import Message, PendingAction


class Clock(Func):
    """The database's clock at this moment; a transaction that waited for a lock does not see an old time."""

    function = "clock_timestamp"
    arity = 0
    output_field = DateTimeField()


def tell(action: PendingAction, event: str, **params: Any) -> None:
    """Write the record that the model will read, and announce the card and the record.

    The record stands in the newest turn that has begun: history shows it where it happened.
    """
    begun = reading.BEGUN.first(conversation=action.conversation_id)
    record = Message(
        conversation_id=action.conversation_id,
        turn=begun or action.turn,
        role=Message.Role.RECORD,
        action=action,
        code=event,
        params=params,
    )
    announce(action.conversation_id, action, record)


def go_on(action: PendingAction) -> None:
    """Let the action's turn go on if this was what it waited for."""
    turns.settle(action.turn)
