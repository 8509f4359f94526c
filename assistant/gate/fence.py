"""After a restore to an earlier moment: nothing that waits from before it runs by itself (R3, R11, fault row 32).

What was confirmed before the back-up may have been done after it, and the rows do not say so. An external deed goes in
doubt without being called: the provider is asked for its key, or a person settles it. An internal one was undone with
the rows; it fails with "nothing was done", and a person asks again. A card that is still open closes, since it may have
been confirmed and done already.
"""

import logging
import uuid
from datetime import datetime, timedelta

from django.db import OperationalError, transaction
from django.utils import translation
from django.utils.translation import gettext as _

from assistant.gate import closing, digest, execution, reading
from assistant.gate.outcome import Clock
from assistant.gate.proposals import context_of
from assistant.models import OPEN, Attempt, PendingAction, Status
from assistant.tools import claims, registry
from assistant.tools.claims import Claim
from assistant.tools.registry import Operation
from ledger import audit, jobs, lifeline, tenancy
from ledger.errors import DomainError
from ledger.models import Access

log = logging.getLogger(__name__)

WAITING = (*OPEN, Status.SCHEDULED, Status.EXECUTING)
WHY = "restored"


@lifeline.after_restore
def close_the_past(before: datetime) -> None:
    """Close every action of every company that was made before this moment and has not ended; one at a time."""
    companies = list(Access.objects.order_by("tenant_id").values_list("tenant_id", flat=True).distinct())
    for tenant_id in companies:
        with tenancy.tenant(tenant_id):
            waiting = PendingAction.objects.filter(status__in=WAITING, created_at__lt=before)
            ids = list(waiting.order_by("pk").values_list("pk", flat=True))
        for action_id in ids:
            _close(tenant_id, action_id)


def _close(tenant_id: uuid.UUID, action_id: uuid.UUID) -> None:
    with audit.entering("system", "restore"), tenancy.tenant(tenant_id):
        action = reading.HELD.one(pk=action_id)
        match action.status:
            case Status.SCHEDULED:
                attempt = _claim(action)
                with translation.override(action.language):
                    if action.operation == Operation.INTERNAL:
                        _undone(action, attempt)
                    else:
                        _doubt(action, attempt, reserve=True)
            case Status.EXECUTING:
                _doubt(action, reading.ATTEMPT.one(action=action.pk), reserve=False)
            case _:
                closing.close_open(action_id, closed_by=WHY)


def _claim(action: PendingAction) -> Attempt:
    """The one attempt that the action has. It is nobody's to run: its lease is over."""
    PendingAction.objects.filter(pk=action.pk, status=Status.SCHEDULED).update(status=Status.EXECUTING)
    jobs.forget("execute_action", action.pk)
    return execution.open_attempt(action, Clock() - timedelta(seconds=1))


def _undone(action: PendingAction, attempt: Attempt) -> None:
    sentence = _("The database was put back to an earlier moment; nothing of this is in it. Ask again.")
    execution.fail(action, attempt, "RESTORED", sentence)


def _doubt(action: PendingAction, attempt: Attempt, *, reserve: bool) -> None:
    """In doubt, with the reservation that the business needs to follow what the provider or a person will say.

    Where the records as they are now allow no reservation, a person's word is all that can settle it.
    """
    made, detail = registry.get(action.tool), {}
    if reserve:
        reserved = {}
        try:
            with transaction.atomic():
                if made is None or not digest.intact(action):
                    raise DomainError("NOT_AVAILABLE", _("This cannot be done here."))
                with claims.holding(Claim(tenancy.current_tenant(), action.pk, attempt.token)):
                    reserved = made.part("reserve")(context_of(action), action.payload, action.pk)
        except DomainError as error:
            detail = {"unreserved": error.code}
        except OperationalError:
            raise
        except Exception:
            log.exception("Action %s cannot be reserved any more", action.pk)
            detail = {"unreserved": "ERROR"}
        Attempt.objects.filter(pk=attempt.pk).update(reserved=reserved, called_at=Clock())
    PendingAction.objects.filter(pk=action.pk).update(closed_by=WHY)
    execution.doubt(action, attempt, WHY, **detail)
