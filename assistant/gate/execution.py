"""Execute a decided action, once. The claim row makes it once; the queue, which delivers at least once, only wakes.

Internal tools do claim, effect, receipt, record and audit in one transaction. External tools claim and reserve
(commit), call with no transaction open, and record (commit). A process that dies in between leaves `executing`, which
the watch turns into `in_doubt`; nothing is ever sent again (settled questions 3 and 4).
"""

import logging
import os
import socket
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import OperationalError, close_old_connections, connection, transaction
from django.db.models.expressions import Combinable
from django.utils import translation
from django.utils.translation import gettext as _

from assistant.events import announce
from assistant.gate import guardrails, promises, proposals, reading, rechecks, standing
from assistant.gate.outcome import Clock, go_on, tell
from assistant.models import Alert, Attempt, PendingAction, Status
from assistant.tools import claims, registry
from assistant.tools.claims import Claim
from assistant.tools.registry import Context, Operation, Receipt, Refused, Tool
from ledger import audit, jobs, lifeline, tenancy
from ledger.errors import DomainError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Running:
    """A claimed action on its way to the provider."""

    claim: Claim
    made: Tool
    ctx: Context
    payload: dict[str, Any]
    reserved: dict[str, Any]


@jobs.job("execute_action")
def execute(tenant_id: uuid.UUID, action_id: uuid.UUID) -> None:
    """Run a scheduled action whose time has come. A second delivery finds nothing to claim and leaves."""
    with audit.entering("system", f"worker:{os.getpid()}"):
        with tenancy.tenant(tenant_id):
            moved = lifeline.moved()
            running = None if moved else _claim(tenant_id, action_id)
        if moved:
            lifeline.mend()
            return execute(tenant_id, action_id)
        if running is not None:
            _call(running)
    return None


def _claim(tenant_id: uuid.UUID, action_id: uuid.UUID) -> Running | None:
    """`scheduled` to `executing` by one conditional UPDATE, with the attempt that proves it (T08)."""
    rows = PendingAction.objects.filter(
        tenant_id=tenant_id, pk=action_id, status=Status.SCHEDULED, execute_after__lte=Clock()
    ).update(status=Status.EXECUTING)
    if rows != 1:
        return None
    action = reading.ACTION.one(pk=action_id)
    made = registry.get(action.tool)
    limit = made.time_limit if made else 30
    lease = timedelta(seconds=limit + settings.AVAL_LEASE_SECONDS)
    attempt = open_attempt(action, Clock() + lease)
    claim = Claim(tenant_id, action.pk, attempt.token)
    with translation.override(action.language):
        refusal = rechecks.refusal(action, made)
    if refusal is None and made is not None:
        ctx = proposals.context_of(action)
        with translation.override(action.language), claims.holding(claim):
            try:
                with transaction.atomic():
                    if made.operation == Operation.INTERNAL:
                        receipt = made.part("execute")(ctx, action.payload, action.pk)
                        promises.require(made, action, receipt)
                        _executed(action, attempt, receipt)
                        return None
                    reserved = made.part("reserve")(ctx, action.payload, action.pk)
                    Attempt.objects.filter(pk=attempt.pk).update(reserved=reserved, called_at=Clock())
            except DomainError as error:
                refusal = (error.code, error.sentence)
            except promises.NotKept as error:
                log.error("Action %s did not keep what its card promised: %s", action.pk, error)
                refusal = ("PROMISE", _("It did not do what the card promised, so it was taken back."))
                mismatch(action)
            except Exception as error:
                log.exception("Action %s failed before anything was done", action.pk)
                refusal = ("ERROR", _("Something went wrong here; nothing was done."))
                _remember_error(attempt, error)
            else:
                jobs.later("watch_action", action.pk, after=lease)
                tell_running(action)
                return Running(claim, made, ctx, action.payload, reserved)
    if refusal is not None:
        fail(action, attempt, *refusal)
    return None


def tell_running(action: PendingAction) -> None:
    """The card shows that it runs; the model is told when there is an outcome."""
    reading.renew(action)
    audit.record("action.started", by=None, subject=action, digest=action.digest)
    announce(action.conversation_id, action)


def open_attempt(action: PendingAction, lease_until: Combinable) -> Attempt:
    """The one attempt that an action has: this process's, by a token of its own, until then by the database's clock."""
    attempt: Attempt = Attempt.objects.create(
        action=action, token=uuid.uuid4(), worker=f"{socket.gethostname()}:{os.getpid()}", lease_until=lease_until
    )
    return attempt


def _remember_error(attempt: Attempt, error: Exception) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(detail={"error": type(error).__name__})


def _executed(action: PendingAction, attempt: Attempt, receipt: Receipt, *, how: str = "worker") -> bool:
    """`executing` (or `in_doubt`) to `executed` with its receipt; False if another outcome is on record already."""
    stored = {
        "text": receipt.text,
        "facts": receipt.facts,
        "provider_ref": receipt.provider_ref,
        "digest": action.digest,
    }
    rows = PendingAction.objects.filter(pk=action.pk, status__in=[Status.EXECUTING, Status.IN_DOUBT]).update(
        status=Status.EXECUTED, receipt=stored, closed_at=Clock()
    )
    if rows != 1:
        return False
    Attempt.objects.filter(pk=attempt.pk).update(finished_at=Clock(), outcome="executed")
    reading.renew(action)
    if action.compensates_id:
        PendingAction.objects.filter(pk=action.compensates_id).update(compensated_by=action)
    _over(action)
    audit.record("action.executed", by=None, subject=action, receipt=stored, digest=action.digest, how=how)
    tell(action, "executed", receipt=receipt.text, how=how)
    go_on(action)
    return True


def fail(action: PendingAction, attempt: Attempt, code: str, sentence: str) -> None:
    """`executing` to `failed`: nothing was done, for this reason."""
    PendingAction.objects.filter(pk=action.pk, status=Status.EXECUTING).update(
        status=Status.FAILED, failure={"code": code, "sentence": sentence}, closed_at=Clock()
    )
    Attempt.objects.filter(pk=attempt.pk).update(finished_at=Clock(), outcome="failed")
    guardrails.give_back(action.pk)
    standing.give_back(action.pk)
    reading.renew(action)
    _over(action)
    audit.record("action.failed", by=None, subject=action, code=code, sentence=sentence, digest=action.digest)
    tell(action, "failed", code=code, sentence=sentence)
    go_on(action)


def mismatch(action: PendingAction) -> None:
    """The receipt does not keep what the card promised: people are alerted, and no rule lets the like of it run."""
    Alert.objects.get_or_create(action=action, kind=promises.MISMATCH, handled_at=None)
    standing.end_like(action, standing.Why.MISMATCH, by=None)


def _over(action: PendingAction) -> None:
    """Nothing more to watch; what people were alerted to is handled."""
    jobs.forget("watch_action", action.pk)
    jobs.forget("reconcile_action", action.pk)
    uncertain = Alert.objects.filter(action=action, handled_at=None).exclude(kind=promises.MISMATCH)
    uncertain.update(handled_at=Clock())


_callers = ThreadPoolExecutor(max_workers=8, thread_name_prefix="provider")


def _call(running: Running) -> None:
    """Ask the provider, with no transaction and no connection held, and record the answer."""
    call = running.made.part("call")
    key = running.claim.action_id

    def ask() -> dict[str, Any]:
        close_old_connections()  # the thread may have a connection since its last call, which may be gone
        with claims.holding(running.claim), translation.override(running.ctx.language):
            try:
                result: dict[str, Any] = call(running.payload, running.reserved, key)
                return result
            finally:
                close_old_connections()

    try:
        result = _callers.submit(ask).result(timeout=running.made.time_limit)
    except Refused as refused:
        _record(running, partial(_release, running, refused))
    except Exception as error:
        log.warning("The outcome of action %s is uncertain: %s", key, type(error).__name__)
        _record(running, partial(doubt, why=type(error).__name__))
    else:
        _record(running, partial(finish, running.made, result=result, how="worker"))


RECORD_WAITS = (0.1, 0.5, 2, 5, 10, 20, 30)


def _record(running: Running, write: Callable[[PendingAction, Attempt], object]) -> None:
    """Write the outcome, patiently: a database that is away for a minute does not lose the provider's answer.

    After that the lease decides: the action is in doubt and the provider is asked (fault row 17).
    """
    for wait in RECORD_WAITS:
        try:
            return _record_once(running, write)
        except OperationalError:
            log.warning("The database is away; the outcome of action %s waits", running.claim.action_id)
            connection.close()
            time.sleep(wait)
    return _record_once(running, write)


def _record_once(running: Running, write: Callable[[PendingAction, Attempt], object]) -> None:
    """Write it under the claim. A worker whose lease was taken finds its attempt closed and writes nothing."""
    with tenancy.tenant(running.claim.tenant_id):
        action = reading.HELD.one(pk=running.claim.action_id)
        attempt = reading.ATTEMPT.one(action=action.pk)
        if action.status != Status.EXECUTING or attempt.token != running.claim.token:
            audit.record("action.late_answer", by=None, subject=action, status=action.status)
            return
        write(action, attempt)


def _release(running: Running, refused: Refused, action: PendingAction, attempt: Attempt) -> None:
    running.made.part("release")(running.ctx, running.payload, running.reserved, action.pk)
    fail(action, attempt, refused.code, refused.sentence)


def finish(made: Tool, action: PendingAction, attempt: Attempt, *, result: dict[str, Any], how: str) -> None:
    """Record what the provider accepted: the domain's record, the receipt, the history and the audit together."""
    ctx = proposals.context_of(action)
    with translation.override(action.language):
        receipt = made.part("record")(ctx, action.payload, attempt.reserved, result, action.pk)
    if names := promises.broken(made, action, receipt):
        mismatch(action)
        audit.record("action.mismatch", by=None, subject=action, facts=names, digest=action.digest)
    _executed(action, attempt, receipt, how=how)


def doubt(action: PendingAction, attempt: Attempt, why: str, **more: str) -> None:
    """`executing` to `in_doubt`: shown, alerted, and looked up at the provider; never sent again (R11)."""
    rows = PendingAction.objects.filter(pk=action.pk, status=Status.EXECUTING).update(status=Status.IN_DOUBT)
    if rows != 1:
        return
    Attempt.objects.filter(pk=attempt.pk).update(outcome="in_doubt", detail={"why": why, **more})
    reading.renew(action)
    jobs.forget("watch_action", action.pk)
    Alert.objects.get_or_create(action=action, kind="in_doubt", handled_at=None)
    audit.record("action.in_doubt", by=None, subject=action, why=why, digest=action.digest)
    jobs.later("reconcile_action", action.pk)
    tell(action, "in_doubt", why=why)
    go_on(action)
