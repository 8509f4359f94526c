"""What is in doubt is looked up at the provider by its key, or settled by a person. Nothing is ever sent again."""

import logging
import uuid
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from assistant.gate import execution, guardrails, reading, standing
from assistant.gate.outcome import Clock, go_on, tell
from assistant.gate.proposals import context_of
from assistant.models import Alert, Attempt, PendingAction, Status
from assistant.tools import registry
from ledger import audit, jobs, operators, permissions, tenancy
from ledger.errors import DomainError
from ledger.models import Due, Membership, User

log = logging.getLogger(__name__)

WAITS = (30, 60, 300, 900, 3600)


@jobs.job("watch_action")
def watch(tenant_id: uuid.UUID, action_id: uuid.UUID) -> None:
    """An action that is still executing past its lease is in doubt: its worker died or lost its answer."""
    with tenancy.tenant(tenant_id):
        action = reading.HELD.one(pk=action_id)
        attempt = Attempt.objects.filter(action=action, lease_until__lte=Clock()).first()
        if action.status == Status.EXECUTING and attempt is not None:
            execution.doubt(action, attempt, "lease")


@jobs.job("reconcile_action")
def reconcile(tenant_id: uuid.UUID, action_id: uuid.UUID) -> None:
    """Ask the provider what became of the key. Its own positive record settles it; anything else waits."""
    with tenancy.tenant(tenant_id):
        action = PendingAction.objects.get(pk=action_id)
        attempt = Attempt.objects.get(action=action)
        promise = Due.objects.filter(kind="reconcile_action", object_id=action_id).first()
    made = registry.get(action.tool)
    if action.status != Status.IN_DOUBT or made is None or made.reconcile is None:
        return
    found = None
    try:
        if "unreserved" not in attempt.detail:  # else the business could not follow: a person settles it
            found = made.reconcile(action.payload, attempt.reserved, action.pk)
    except Exception:
        log.exception("The provider could not be asked about action %s", action_id)
    with tenancy.tenant(tenant_id):
        action = reading.HELD.one(pk=action_id)
        if action.status != Status.IN_DOUBT:
            return
        audit.record("action.looked_up", by=None, subject=action, found=found is not None)
        if found is not None:
            execution.finish(made, action, attempt, result=found.result, how="reconciled")
        else:
            tries = promise.tries if promise else 1
            wait = WAITS[min(tries, len(WAITS)) - 1]
            jobs.later("reconcile_action", action_id, after=timedelta(seconds=wait), again=True)


@transaction.atomic
def settle(
    action_id: uuid.UUID,
    *,
    by: Membership | None,
    done: bool,
    note: str,
    reference: str = "",
    operator: User | None = None,
) -> PendingAction:
    """A person says what became of an action in doubt, with a note that stays on record (R11).

    The person is a member with the right to (`by`) or, with `by` None, one of the operator's staff, whom the audit
    names. `reference` is the provider's own, where the person has it. What was done is recorded in the business as
    the provider's answer would have been, what was not done is released. Raises NOTE_REQUIRED, NOT_IN_DOUBT,
    NotAllowed.
    """
    if operator is not None:
        operators.require_operator(operator)
    elif by is not None:
        permissions.require(by, "reconcile_action")
    else:
        raise ValueError("somebody settles an action")
    note, reference = note.strip()[:2000], reference.strip()[:80]
    if not note:
        raise DomainError("NOTE_REQUIRED", _("Write a note: how do you know?"))
    action = reading.HELD.first(pk=action_id)
    if action is None or action.status != Status.IN_DOUBT:
        raise DomainError("NOT_IN_DOUBT", _("This action is not in doubt."))
    attempt = Attempt.objects.get(action=action)
    facts = _follow(action, attempt, done=done, reference=reference)
    stored = {"text": note, "facts": facts, "provider_ref": reference, "digest": action.digest} if done else None
    PendingAction.objects.filter(pk=action.pk, status=Status.IN_DOUBT).update(
        status=Status.EXECUTED if done else Status.FAILED,
        receipt=stored,
        failure=None if done else {"code": "SETTLED", "sentence": note},
        closed_at=Clock(),
        closed_by="person",
    )
    if not done:
        guardrails.give_back(action.pk)
        standing.give_back(action.pk)
    if done and action.compensates_id:
        PendingAction.objects.filter(pk=action.compensates_id).update(compensated_by=action)
    Attempt.objects.filter(pk=attempt.pk).update(finished_at=Clock(), outcome="executed" if done else "failed")
    Alert.objects.filter(action=action, handled_at=None).update(handled_at=Clock(), handled_by=by, note=note)
    jobs.forget("reconcile_action", action.pk)
    action.refresh_from_db()
    audit.record(
        "action.settled",
        by=by,
        subject=action,
        done=done,
        note=note,
        reference=reference,
        digest=action.digest,
        operator=operators.named(operator) if operator else None,
    )
    name = by.name if by else "operator"
    tell(action, "executed" if done else "failed", receipt=note, sentence=note, how="person", by=name)
    go_on(action)
    return action


def _follow(action: PendingAction, attempt: Attempt, *, done: bool, reference: str) -> dict[str, Any]:
    """Let the business know what became of its reservation; gives the receipt's facts."""
    made = registry.get(action.tool)
    if made is None or "unreserved" in attempt.detail:
        return {}
    ctx, answer = context_of(action), {"provider": "person", "provider_id": reference}
    with translation.override(action.language):
        if done and made.record:
            return made.record(ctx, action.payload, attempt.reserved, answer, action.pk).facts
        if not done and made.release:
            made.release(ctx, action.payload, attempt.reserved, action.pk)
    return {}
