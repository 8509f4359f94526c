"""What a person has to look at stays open until somebody with the right to says what they found."""

import uuid

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from assistant.gate.outcome import Clock
from assistant.models import Alert
from ledger import audit, permissions
from ledger.errors import DomainError
from ledger.models import Membership

IN_DOUBT = "in_doubt"
CHAIN_BROKEN = "chain_broken"
KINDS: dict[str, Promise] = {
    IN_DOUBT: lazy("An action is in doubt"),
    CHAIN_BROKEN: lazy("The audit chain is broken"),
}
"""The word for each kind; whoever raises a new one adds it here."""


def word(kind: str) -> str:
    return str(KINDS.get(kind, kind.replace("_", " ").capitalize()))


def open_for(member: Membership) -> list[Alert]:
    """The open alerts that this member may handle, oldest first, each with its action."""
    if not permissions.allowed(member, "reconcile_action"):
        return []
    return list(Alert.objects.filter(handled_at=None).select_related("action").order_by("pk"))


@transaction.atomic
def handle(alert_id: uuid.UUID, *, by: Membership, note: str) -> Alert:
    """Somebody has looked, and says what they found; that stays on record.

    An action in doubt is settled instead (reconciliation.settle), which handles its alert. Raises NotAllowed,
    NOTE_REQUIRED, NOT_OPEN and SETTLE_IT.
    """
    permissions.require(by, "reconcile_action")
    note = note.strip()[:2000]
    if not note:
        raise DomainError("NOTE_REQUIRED", _("Write a note: what did you find?"))
    found = Alert.objects.filter(pk=alert_id).first()
    if found is not None and found.kind == IN_DOUBT and found.handled_at is None:
        raise DomainError("SETTLE_IT", _("Say what became of the action; that settles the alert."))
    rows = Alert.objects.filter(pk=alert_id, handled_at=None).update(handled_at=Clock(), handled_by=by, note=note)
    if found is None or rows != 1:
        raise DomainError("NOT_OPEN", _("Somebody has handled this already."))
    found.refresh_from_db()
    audit.record("alert.handled", by=by, subject=found, alert=found.kind, note=note, action=found.action_id)
    return found
