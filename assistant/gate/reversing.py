"""What was done can be taken back where its tool names a reverse: a deed of its own; history is never rolled back."""

import json

from django.db import transaction
from django.utils.translation import gettext as _

from assistant.gate import proposals, reading
from assistant.gate.outcome import tell
from assistant.models import Message, PendingAction, Status
from assistant.tools import registry
from assistant.tools.registry import Context, Tool
from ledger import audit, permissions
from ledger.errors import DomainError
from ledger.models import Membership

REVERSED = "reversed"
"""The code of the record of a reverse that needed no card."""


def reverse_of(action: PendingAction) -> Tool | None:
    """The tool that takes this deed back, if there is one and the deed's own tool knows how to ask it."""
    made = registry.get(action.tool)
    if made is None or made.reverse is None or not action.compensation:
        return None
    return registry.get(action.compensation)


@transaction.atomic
def reverse(action: PendingAction, *, by: Membership, language: str, door: str) -> PendingAction:
    """Ask for the reverse of an executed action: the new card, or the action itself where its reverse needs none.

    A reverse of level 0 runs at once, as the agent's would. Raises NOT_REVERSIBLE, ALREADY_REVERSED, NotAllowed and
    what the reverse itself refuses.
    """
    held = reading.HELD.one(pk=action.pk)
    made, back = registry.get(held.tool), reverse_of(held)
    if made is None or back is None or held.status != Status.EXECUTED:
        raise DomainError("NOT_REVERSIBLE", _("This cannot be taken back from here."))
    if held.compensated_by_id or records([held]):
        raise DomainError("ALREADY_REVERSED", _("This was taken back already."))
    permissions.require(by, back.permission)
    ctx = Context(by, by.tenant, language, door, held.conversation_id)
    arguments = json.dumps(made.part("reverse")(held.payload, held.receipt or {}), ensure_ascii=False)
    if back.gated:
        return proposals.propose(ctx, back, arguments, conversation_id=held.conversation_id, compensates=held).action
    back.part("run")(ctx, proposals.read_arguments(back, arguments))
    audit.record("action.reversed", by=by, subject=held, tool=back.name, arguments=arguments, digest=held.digest)
    tell(held, REVERSED, by=by.name)
    held.refresh_from_db()
    return held


def records(actions: list[PendingAction]) -> list[Message]:
    """The records of reverses that needed no card, for those of these actions that have one; one query."""
    done = [one.pk for one in actions if one.status == Status.EXECUTED and one.compensation]
    if not done:
        return []
    return list(Message.objects.filter(action__in=done, role=Message.Role.RECORD, code=REVERSED))
