"""The living card: while it waits, a change of what it was computed from shows on the card itself, with the difference.

Whoever changes a record looks, in the same transaction, whether a card waits on it; the worker then prepares the card's
request once more, without putting anything up, and keeps what differs beside the frozen card (`stale`). A press on such
a card only ever asks anew (approvals.confirm).
"""

import uuid
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from assistant.events import announce
from assistant.gate import proposals, reading, renewing, targets
from assistant.models import OPEN, PendingAction
from assistant.tools import registry
from assistant.tools.facts import plain
from ledger import audit, jobs, tenancy
from ledger.actions import rows
from ledger.errors import DomainError
from ledger.models import BusinessModel


@rows.on_write
def look_for_cards(row: BusinessModel) -> None:
    """Promise a fresh look at every card that waits on this record."""
    target = [{"kind": row._meta.model_name, "id": str(row.pk)}]
    waiting = PendingAction.objects.filter(status__in=OPEN, targets__contains=target)
    for action_id in waiting.values_list("pk", flat=True):
        jobs.later("freshen_card", action_id)


@jobs.job("freshen_card")
def freshen(tenant_id: uuid.UUID, action_id: uuid.UUID) -> None:
    """Keep beside an open card what of it has changed since it was put up."""
    with tenancy.tenant(tenant_id):
        action = reading.ACTION.one(pk=action_id)
        if action.status not in OPEN or not targets.moved(action.targets):
            return
        stale = _now(action)
        if stale == action.stale:
            return
        rows_changed = PendingAction.objects.filter(pk=action_id, status__in=OPEN).update(stale=stale)
        if rows_changed != 1:
            return
        reading.renew(action)
        audit.record("action.went_stale", by=None, subject=action, digest=action.digest, stale=stale)
        announce(action.conversation_id, action)


def _now(action: PendingAction) -> dict[str, Any]:
    """What the same request would show now: `changes` as between two cards, or the sentence that refuses it."""
    made = registry.get(action.tool)
    with translation.override(action.language):
        if made is None:
            return {"changes": [], "refused": _("This cannot be done here.")}
        try:
            arguments = proposals.read_arguments(made, action.arguments)
            prepared = made.part("prepare")(proposals.context_of(action), arguments)
        except DomainError as error:
            return {"changes": [], "refused": str(error.sentence)}
    return {"changes": renewing.differences(action.preview, plain(prepared.preview)), "refused": ""}
