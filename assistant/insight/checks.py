"""Deeds that are looked at afterwards: a share is drawn each day, and a person marks each right or wrong (SpotCheck).

What is drawn follows from the deed's id, so that nobody chooses, and the same deeds are drawn however often it is
tried. Whoever may read a receipt may mark it wrong at any time. A wrong one that got through is a figure, and a case
for the evals.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from assistant.gate import review, sight
from assistant.gate.outcome import Clock
from assistant.models import PendingAction, SpotCheck, Status
from assistant.tools import registry
from ledger import audit, jobs, permissions, regular, tenancy
from ledger.errors import DomainError, NotFound
from ledger.models import Company, Membership
from ledger.tenancy import current_tenant

KIND = "draw_checks"
HOUR = 4
BACK = timedelta(days=8)
"""How far back a drawing looks: further than a worker is ever down."""
READING = "view_records"
"""The permission of tools that only look: they do nothing that could be wrong afterwards."""
DRAW = """
    INSERT INTO assistant_spotcheck (id, tenant_id, action_id, call_id, tool, sampled, drawn_at, mark, note)
    SELECT gen_random_uuid(), %(tenant)s, action_id, call_id, tool, true, statement_timestamp(), '', ''
      FROM (SELECT id AS action_id, NULL::uuid AS call_id, tool, id FROM assistant_pendingaction
             WHERE tenant_id = %(tenant)s AND status = 'executed' AND closed_at >= %(since)s
         UNION ALL
            SELECT NULL, id, name, id FROM assistant_toolcall
             WHERE tenant_id = %(tenant)s AND id >= %(first)s AND status = 'done' AND name = ANY(%(writes)s)
           ) AS deeds
     WHERE ('x' || substr(md5(deeds.id::text), 1, 8))::bit(32)::bigint %% 100 < %(percent)s
        ON CONFLICT DO NOTHING
"""


@regular.job(KIND)
def draw_daily(tenant_id: uuid.UUID, company_id: uuid.UUID) -> None:
    """Draw from what was done since the last time, and promise the next night."""
    with tenancy.tenant(tenant_id):
        draw(timezone.now() - BACK)
        company = Company.objects.get(pk=company_id)
        again = regular.next_time(company.pk, company.timezone, timezone.now(), hour=HOUR)
        jobs.later(KIND, company_id, at=again)


def draw(since: datetime) -> int:
    """Put the policy's share of the deeds done since then in the queue; those that are in it stay. Returns how many."""
    given: dict[str, Any] = {
        "tenant": current_tenant(),
        "since": since,
        "first": uuid.UUID(int=int(since.timestamp() * 1000) << 80),
        "writes": [made.name for made in registry.TOOLS.values() if not made.gated and made.permission != READING],
        "percent": review.current().policy.review_percent,
    }
    with connection.cursor() as cursor:
        cursor.execute(DRAW, given)
        return int(cursor.rowcount)


def waiting_for(member: Membership) -> "QuerySet[SpotCheck]":
    """What this member may mark and nobody has, oldest first."""
    if not permissions.allowed(member, "add_note"):
        return SpotCheck.objects.none()
    return _readable(member, "").order_by("drawn_at", "pk")


def found_wrong(member: Membership) -> "QuerySet[SpotCheck]":
    """What was marked wrong and this member may read, newest first."""
    return _readable(member, SpotCheck.Mark.WRONG).select_related("member").order_by("-at", "-pk")


def _readable(member: Membership, mark: str) -> "QuerySet[SpotCheck]":
    marked = SpotCheck.objects.filter(mark=mark)
    actions = PendingAction.objects.filter(sight.readable_to(member), pk__in=marked.values("action"))
    heads = permissions.allowed(member, "read_all_actions")
    calls = Q(call__isnull=False) if heads else Q(call__turn__member=member)
    found = marked.filter(Q(action__in=actions.values("pk")) | calls)
    return found.select_related("action__requester", "call__turn__member")


@transaction.atomic
def mark(check_id: uuid.UUID, *, by: Membership, right: bool, note: str = "") -> SpotCheck:
    """Say of a drawn deed whether it was right. What is wrong takes a note. Raises NotFound, NOTE_REQUIRED, MARKED."""
    note = _note(note, required=not right)
    found = SpotCheck.objects.filter(pk=check_id, sampled=True).first()
    if found is None or (not found.mark and not waiting_for(by).filter(pk=check_id).exists()):
        raise NotFound(_("There is nothing here to look at."))
    word = SpotCheck.Mark.RIGHT if right else SpotCheck.Mark.WRONG
    rows = SpotCheck.objects.filter(pk=check_id, mark="").update(mark=word, note=note, member=by, at=Clock())
    if rows != 1:
        raise DomainError("MARKED", _("Somebody has marked this already."))
    found.refresh_from_db()
    _record(found, by)
    return found


@transaction.atomic
def report_wrong(action: PendingAction, *, by: Membership, note: str) -> SpotCheck:
    """Say of a receipt, unasked, that it is wrong. Once for each person; the caller has seen that they may read it.

    Raises NOTE_REQUIRED, NOT_DONE and MARKED.
    """
    note = _note(note, required=True)
    if action.status != Status.EXECUTED:
        raise DomainError("NOT_DONE", _("Only what was done can be marked wrong."))
    fields: dict[str, Any] = {"mark": SpotCheck.Mark.WRONG, "note": note, "member": by, "at": timezone.now()}
    made = SpotCheck(action=action, tool=action.tool, sampled=False, **fields)
    SpotCheck.objects.bulk_create([made], ignore_conflicts=True)
    if not SpotCheck.objects.filter(pk=made.pk).exists():
        raise DomainError("MARKED", _("You have marked this wrong already."))
    _record(made, by)
    return made


def _note(note: str, *, required: bool) -> str:
    note = note.replace("\x00", "").strip()[:2000]
    if required and not note:
        raise DomainError("NOTE_REQUIRED", _("Write what is wrong with it."))
    return note


def _record(made: SpotCheck, by: Membership) -> None:
    about: dict[str, Any] = {"action": made.action_id, "call": made.call_id, "tool": made.tool}
    audit.record("check.marked", by=by, subject=made, mark=made.mark, note=made.note, sampled=made.sampled, **about)
