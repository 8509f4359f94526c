"""What became of an action, told to the conversation in the transaction in which it happened."""

from typing import Any

from django.db.models import DateTimeField, Func

from assistant import turns
from assistant.events import announce
from assistant.gate import reading
from assistant.models import Alert, Message, PendingAction

SECOND_WANTED = "second_wanted"
"""The kind of the alert, and of the notice, that calls a second person."""


class Clock(Func):
    """The database's clock at this moment; a transaction that waited for a lock does not see an old time."""

    function = "clock_timestamp"
    arity = 0
    output_field = DateTimeField()


def tell(action: PendingAction, event: str, **params: Any) -> None:
    """Write the record that the model will read, and announce the card and the record.

    The record stands in the newest turn that has begun: history shows it where it happened.
    """
    answered(action)
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


def answered(action: PendingAction) -> None:
    """A card that somebody else had been called to has its answer: the call is over."""
    if action.escalated_at is not None:
        Alert.objects.filter(action=action, kind=SECOND_WANTED, handled_at=None).update(handled_at=Clock())


def go_on(action: PendingAction) -> None:
    """Let the action's turn go on if this was what it waited for."""
    turns.settle(action.turn)
