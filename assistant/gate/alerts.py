"""What a person has to look at stays open until somebody with the right to says what they found."""

import uuid

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from assistant.gate.outcome import SECOND_WANTED, Clock
from assistant.gate.promises import MISMATCH
from assistant.models import Alert
from ledger import audit, permissions
from ledger.compiled import Compiled
from ledger.errors import DomainError
from ledger.models import Membership

IN_DOUBT = "in_doubt"
CHAIN_BROKEN = "chain_broken"
KINDS: dict[str, Promise] = {
    IN_DOUBT: lazy("An action is in doubt"),
    CHAIN_BROKEN: lazy("The audit chain is broken"),
    MISMATCH: lazy("A receipt does not keep what its card promised"),
    SECOND_WANTED: lazy("A second person is wanted"),
}
"""The word for each kind; whoever raises a new one adds it here."""


OF_A_CARD = frozenset({IN_DOUBT, SECOND_WANTED})
"""Kinds that end with what becomes of their card, and so are not handled by themselves."""


def word(kind: str) -> str:
    return str(KINDS.get(kind, kind.replace("_", " ").capitalize()))


def open_for(member: Membership) -> list[Alert]:
    """The open alerts that this member may handle by a note, oldest first, each with its action."""
    if not permissions.allowed(member, "reconcile_action"):
        return []
    rows = Alert.objects.filter(handled_at=None).exclude(kind__in=OF_A_CARD).select_related("action")
    return list(rows.order_by("pk"))


def number_open() -> int:
    """How many alerts of the company a note would close."""
    return len(OPEN.all())


OPEN = Compiled(lambda: Alert.objects.filter(handled_at=None).exclude(kind__in=OF_A_CARD).values_list("pk", flat=True))


@transaction.atomic
def handle(alert_id: uuid.UUID, *, by: Membership, note: str) -> Alert:
    """Somebody has looked, and says what they found; that stays on record.

    What ends with its card is not handled here: one in doubt is settled (reconciliation.settle), one that waits for a
    second person is decided. Raises NotAllowed, NOTE_REQUIRED, NOT_OPEN and OF_A_CARD.
    """
    permissions.require(by, "reconcile_action")
    note = note.strip()[:2000]
    if not note:
        raise DomainError("NOTE_REQUIRED", _("Write a note: what did you find?"))
    found = Alert.objects.filter(pk=alert_id).first()
    if found is not None and found.kind in OF_A_CARD and found.handled_at is None:
        raise DomainError("OF_A_CARD", _("Say what became of the action; that settles the alert."))
    rows = Alert.objects.filter(pk=alert_id, handled_at=None).update(handled_at=Clock(), handled_by=by, note=note)
    if found is None or rows != 1:
        raise DomainError("NOT_OPEN", _("Somebody has handled this already."))
    found.refresh_from_db()
    audit.record("alert.handled", by=by, subject=found, alert=found.kind, note=note, action=found.action_id)
    return found
