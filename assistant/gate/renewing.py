"""The same request put up anew: edited, computed from records that moved, or asked again."""

import json
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from assistant.gate import closing, retries, standing
from assistant.gate.outcome import tell
from assistant.gate.proposals import context_of, open_cards_of, propose, sources_of
from assistant.models import PendingAction
from assistant.tools.registry import Tool
from ledger.errors import DomainError
from ledger.models import Membership

ASKED_AGAIN = "asked_again"
"""The record that a person has put a request up once more, by its card."""


@transaction.atomic
def edit(
    action: PendingAction, made: Tool, *, by: Membership, fields: dict[str, Any], shown_hash: str
) -> PendingAction:
    """Change fields of an open action: a new action, prepared and gated again, that supersedes the old one (R2, T27).

    Raises DomainError where the new values do not fit; then the card stays as it was (H46).
    """
    unknown = sorted(set(fields) - set(made.editable))
    if unknown:
        raise DomainError(
            "NOT_EDITABLE", _("These fields cannot be edited: %(fields)s.") % {"fields": ", ".join(unknown)}
        )
    arguments = json.loads(action.arguments) | fields
    kept = {key: value for key, value in arguments.items() if value is not None}
    text = json.dumps(kept, ensure_ascii=False)
    standing.end_like(action, standing.Why.EDITED, by=by)
    return _replace(action, made, by=by, arguments=text, event="edited", closed_by="edit", shown_hash=shown_hash)


@transaction.atomic
def refresh(action: PendingAction, made: Tool, *, shown_hash: str) -> PendingAction:
    """The same request computed from the records as they are now; supersedes the card that has gone stale."""
    return _replace(
        action,
        made,
        by=action.requester,
        arguments=action.arguments,
        event="superseded",
        closed_by="facts_changed",
        shown_hash=shown_hash,
    )


def _replace(
    action: PendingAction,
    made: Tool,
    *,
    by: Membership,
    arguments: str,
    event: str,
    closed_by: str,
    shown_hash: str,
) -> PendingAction:
    open_cards_of(action.conversation_id)  # locked in their order before one of them changes
    closing.supersede(action, by=by, closed_by=closed_by, shown_hash=shown_hash, quietly=True)
    successor = propose(
        context_of(action),
        made,
        arguments,
        conversation_id=action.conversation_id,
        turn=action.turn,
        call_id=action.call_id,
        reason=action.reason,
        outside=sources_of(action),
        match=action.match,
        edited_from=action,
    ).action
    closing.replaced(
        action, successor, event=event, closed_by=closed_by, by=by.name, changes=changes(action, successor)
    )
    return successor


def changes(before: PendingAction, after: PendingAction) -> list[dict[str, Any]]:
    """The facts that differ between two cards, in the order of the newer card: name, kind, before, after."""
    return differences(before.preview, after.preview)


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, Any]]:
    """The same of two previews."""
    old = {fact["name"]: fact for fact in before["facts"]}
    new = {fact["name"]: fact for fact in after["facts"]}
    return [
        {
            "name": name,
            "kind": (new.get(name) or old[name])["kind"],
            "before": old.get(name, {}).get("value"),
            "after": new.get(name, {}).get("value"),
        }
        for name in [*new, *(name for name in old if name not in new)]
        if old.get(name, {}).get("value") != new.get(name, {}).get("value")
    ]


@transaction.atomic
def ask_again(action: PendingAction, made: Tool) -> PendingAction:
    """The same request with today's facts, as a new card; for one that expired, failed or was cancelled.

    The new card and the history say so where it failed (T84).
    """
    asked = propose(
        context_of(action),
        made,
        action.arguments,
        conversation_id=action.conversation_id,
        turn=action.turn,
        call_id=action.call_id,
        reason=action.reason,
        outside=sources_of(action),
        again_of=action,
        match=action.match,
    )
    if not asked.again:
        failed = {"action": str(action.pk), "code": retries.code_of(action)} if action.failure else None
        attempt = retries.attempt_of(asked.action)
        tell(asked.action, ASKED_AGAIN, attempt=attempt if attempt > 1 else None, failed_before=failed)
    return asked.action
