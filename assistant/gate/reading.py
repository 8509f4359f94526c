"""The gate's own reads, compiled once: an action has some fifty columns, and one click reads it several times."""

from assistant.models import Attempt, Decision, PendingAction, Turn
from ledger.compiled import Compiled, an_id
from ledger.models import Membership

ACTION = Compiled(lambda: PendingAction.objects.select_related("turn").filter(pk=an_id()))
HELD = Compiled(lambda: PendingAction.objects.select_for_update(no_key=True).filter(pk=an_id()))
IN_CONVERSATION = Compiled(lambda: PendingAction.objects.filter(pk=an_id(), conversation_id=an_id("conversation")))
ATTEMPT = Compiled(lambda: Attempt.objects.filter(action=an_id("action")))
MEMBER = Compiled(lambda: Membership.objects.select_related("tenant").filter(pk=an_id()))
CONFIRMED = Compiled(
    lambda: Decision.objects.filter(action=an_id("action"), verdict=Decision.Verdict.CONFIRM).select_related("member")
)
BEGUN = Compiled(
    lambda: (
        Turn.objects.filter(conversation_id=an_id("conversation"))
        .exclude(status=Turn.Status.QUEUED, started_at=None)
        .order_by("-ordinal")[:1]
    )
)
"""The newest turn of a conversation that has begun."""


def renew(action: PendingAction) -> None:
    """Read the action's columns anew, into the object at hand."""
    found = ACTION.one(pk=action.pk)
    for field in PendingAction._meta.concrete_fields:
        setattr(action, field.attname, getattr(found, field.attname))
