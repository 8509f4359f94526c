"""A card that waits for a second person: who else is called when that one does not come, and when nobody has decided.

The first approval stands on record meanwhile. After the policy's minutes (30) the backup is called by mail and by an
alert; after twice that the card expires, closed by `second_approval_timeout`, which is nobody's no. A card of level 1
simply expires.
"""

import uuid
from datetime import timedelta

from django.conf import settings
from django.utils.translation import gettext as _

from assistant.events import announce
from assistant.gate import policy, reading, review
from assistant.gate.outcome import SECOND_WANTED as WANTED
from assistant.gate.outcome import Clock
from assistant.models import OPEN, Alert, Decision, PendingAction, Status
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger import audit, jobs, reader, tenancy
from ledger.actions import staff_mail
from ledger.actions.staff_mail import Words
from ledger.models import Membership, StaffNotice


def promise(action: PendingAction) -> None:
    """Promise the call of the backup, in the transaction of the first approval."""
    if action.level <= Level.CONFIRM:
        return
    minutes = review.current().policy.second_for(action.tool).escalate_minutes
    jobs.later("escalate_action", action.pk, after=timedelta(minutes=minutes))


@jobs.job("escalate_action")
def escalate(tenant_id: uuid.UUID, action_id: uuid.UUID) -> None:
    """Call the backup of a card that still waits for its second person. Once."""
    with tenancy.tenant(tenant_id):
        action = reading.HELD.one(pk=action_id)
        if action.status != Status.AWAITING_SECOND or action.escalated_at is not None:
            return
        PendingAction.objects.filter(pk=action_id).update(escalated_at=Clock())
        called = backups(action)
        Alert.objects.get_or_create(action=action, kind=WANTED, handled_at=None)
        for member in called:
            staff_mail.notify(member, WANTED, action.pk)
        audit.record(
            "action.escalated",
            by=None,
            subject=action,
            digest=action.digest,
            called=[member.ref for member in called],
        )
        reading.renew(action)
        announce(action.conversation_id, action)


def backups(action: PendingAction) -> list[Membership]:
    """Who is called: the policy's backup where that one may decide it, else everybody else who may."""
    made = registry.get(action.tool)
    first = set(Decision.objects.filter(action=action).values_list("member_id", flat=True))
    others = Membership.objects.filter(active=True).exclude(pk__in=[action.requester_id, *first]).order_by("ref")
    able = list(others.filter(pk__in=policy.able(made, action.level))) if made else []
    backup = review.current().policy.second_for(action.tool).backup
    return [member for member in able if member.ref == backup] or able


@staff_mail.words_of(WANTED)
def words(notice: StaffNotice) -> Words | None:
    """What the backup reads: the card's own summary, and where to decide it. Nothing can be decided by mail."""
    action = reading.ACTION.first(pk=notice.subject_id)
    if action is None or action.status not in OPEN:
        return None
    link = f"{settings.AVAL_URL}/c/{action.conversation_id}/actions/{action.pk}/"
    text = _(
        "A second person has to confirm this, and nobody has yet:\n\n%(summary)s\n\n"
        "Asked for by %(name)s. Look at it and decide here until %(until)s:\n%(link)s\n"
    )
    shown = {"summary": action.summary, "name": action.requester.name, "until": reader.moment(action.expires_at)}
    subject = _("A card waits for you: %(summary)s") % {"summary": _short(action.summary)}
    return Words(subject, text % (shown | {"link": link}))


def _short(summary: str) -> str:
    """One line for a subject."""
    line = " ".join(summary.split())
    return line if len(line) <= 100 else f"{line[:99]}…"
