"""Standing approvals at work: an action inside a person's rule runs without a card, counted and on record.

A rule never stretches: what it does not fit exactly waits for a person. It is consumed under the lock of its row, so
that two proposals cannot both take the last of a month. Its writer's right is read anew each time, at the proposal and
at the claim. The first edit, rejection, undo or mismatch of something like it ends it.
"""

import logging
import uuid
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Count, F, Q, Sum, Value
from django.utils.translation import gettext as _

from assistant.gate import guardrails, policy
from assistant.gate.outcome import Clock
from assistant.models import Decision, PendingAction, StandingApproval, StandingUse, Status
from assistant.tools import registry
from assistant.tools.registry import Tool
from ledger import audit, jobs
from ledger.actions import staff_mail
from ledger.actions.staff_mail import Words
from ledger.models import Membership, StaffNotice

log = logging.getLogger(__name__)

DOOR = "standing"
"""The door of a decision that a rule made, and what closed its card."""
ENDED = "standing_ended"
Why = StandingApproval.Why


@dataclass(frozen=True)
class Like:
    """What of an action a rule is held against."""

    tool: str
    level: int
    parties: frozenset[str]
    amount_cents: int
    plain: bool

    @classmethod
    def of(cls, action: PendingAction) -> "Like":
        """`plain` is one that nothing speaks against: no warning, nothing read from outside, a sure match."""
        sure = not action.outside and action.match != "fuzzy" and not action.preview.get("warnings")
        single = action.approvals == 1 and not action.alone
        return cls(
            action.tool, action.level, guardrails.parties_of(action.targets), action.amount_cents, sure and single
        )


def fits(rule: StandingApproval, like: Like) -> bool:
    """Whether a rule covers it, its month aside."""
    return (
        like.plain
        and like.tool == rule.tool
        and like.level <= rule.level
        and (rule.party_id is None or like.parties == {str(rule.party_id)})
        and (rule.most_cents is None or like.amount_cents <= rule.most_cents)
    )


def apply(action: PendingAction, made: Tool, today: date) -> bool:
    """Let a new action run by a rule, if one covers it: decided in the name of the rule's writer, and counted.

    In the transaction that puts the action up, before it is announced.
    """
    like = Like.of(action)
    if action.compensates_id or action.edited_from_id or not like.plain:
        return False
    for rule in _held(made.name):
        if fits(rule, like) and _stands(rule, made, today) and _has_room(rule, like, today):
            _run_by(rule, action, like, today)
            return True
    return False


def refusal(action: PendingAction) -> str:
    """Why an action that a rule confirmed may not run now; "" where it may, or where a person confirmed it."""
    if action.closed_by != DOOR:
        return ""
    ended = StandingUse.objects.filter(action=action, standing__ended_at__isnull=False).exists()
    return _("The standing approval was ended before it ran.") if ended else ""


def give_back(action_id: uuid.UUID) -> None:
    """Nothing was done: the month has the room again."""
    StandingUse.objects.filter(action_id=action_id, given_back_at=None).update(given_back_at=Clock())


def end_like(action: PendingAction, why: str, *, by: Membership | None) -> None:
    """A person said no to something like it, or it went wrong: every rule for this tool and counterparty ends."""
    parties = [uuid.UUID(party) for party in guardrails.parties_of(action.targets)]
    for rule in _held(action.tool, Q(party_id__in=parties) | Q(party_id=None)):
        end(rule, why, by=by)


def end(rule: StandingApproval, why: str, *, by: Membership | None) -> None:
    """End a rule that the caller holds, and tell its writer where it was not the writer who did."""
    StandingApproval.objects.filter(pk=rule.pk, ended_at=None).update(ended_at=Clock(), ended_by=by, ended_why=why)
    audit.record("standing_approval.ended", by=by, subject=rule, why=str(why), tool=rule.tool, party=rule.party_ref)
    if by is None or by.pk != rule.writer_id:
        staff_mail.notify(rule.writer, ENDED, rule.pk)


def _held(tool: str, more: Q | None = None) -> list[StandingApproval]:
    """The rules in force for a tool, locked in one order, with their writers."""
    rules = StandingApproval.objects.select_for_update(of=("self",), no_key=True).select_related("writer")
    found = rules.filter(tool=tool, ended_at=None, on_at__isnull=False)
    return list((found.filter(more) if more is not None else found).order_by("pk"))


def _stands(rule: StandingApproval, made: Tool, today: date) -> bool:
    """Whether a rule still holds; one that does not is ended here, with the reason."""
    why = ""
    if rule.valid_until < today:
        why = Why.OVER
    elif rule.tool_version != made.version:
        why = Why.TOOL_CHANGED
    elif not policy.has_right(rule.writer, made, rule.level):
        why = Why.NO_RIGHT
    if why:
        end(rule, why, by=None)
    return not why


def _has_room(rule: StandingApproval, like: Like, today: date) -> bool:
    used = StandingUse.objects.filter(standing=rule, month=today.replace(day=1), given_back_at=None).aggregate(
        cents=Sum("amount_cents", default=0), times=Count("pk")
    )
    return within_month(rule, used["cents"] + like.amount_cents, used["times"] + 1)


def within_month(rule: StandingApproval, cents: int, times: int) -> bool:
    """Whether a month may come to so much."""
    return (rule.month_cents is None or cents <= rule.month_cents) and (
        rule.month_times is None or times <= rule.month_times
    )


def _run_by(rule: StandingApproval, action: PendingAction, like: Like, today: date) -> None:
    StandingUse.objects.create(standing=rule, action=action, month=today.replace(day=1), amount_cents=like.amount_cents)
    Decision.objects.create(
        action=action,
        slot=1,
        verdict=Decision.Verdict.CONFIRM,
        member=rule.writer,
        door=DOOR,
        standing=rule,
        shown_hash=action.digest,
    )
    PendingAction.objects.filter(pk=action.pk, status=Status.PENDING).update(
        status=Status.SCHEDULED,
        execute_after=Clock() + F("undo_seconds") * Value(timedelta(seconds=1)),
        closed_by=DOOR,
        closed_at=Clock(),
    )
    action.refresh_from_db()
    audit.record(
        "action.confirmed_by_rule",
        by=rule.writer,
        subject=action,
        digest=action.digest,
        standing=str(rule.pk),
        amount_cents=like.amount_cents,
    )
    jobs.forget("expire_action", action.pk)
    jobs.later("execute_action", action.pk, at=action.execute_after if action.undo_seconds else None)


@staff_mail.words_of(ENDED)
def words(notice: StaffNotice) -> Words | None:
    """What the writer reads when a rule of theirs has ended by itself or by somebody else."""
    rule = StandingApproval.objects.filter(pk=notice.subject_id).first()
    made = registry.get(rule.tool) if rule else None
    if rule is None or made is None:
        return None
    named = {"tool": made.label, "party": rule.party_ref or _("every client"), "why": Why(rule.ended_why).label}
    return Words(
        _("Your standing approval for “%(tool)s” has ended") % named,
        _(
            "Your standing approval for “%(tool)s” (%(party)s) has ended: %(why)s.\n\n"
            "From now on such actions wait for a person again.\n"
        )
        % named,
    )
