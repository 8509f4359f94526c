"""What is looked at once more when a decided action is about to run: tool, hash, people, policy, records, limits."""

from django.utils.translation import gettext as _

from assistant.gate import digest, guardrails, policy, reading, standing, targets
from assistant.models import PendingAction
from assistant.tools.registry import Tool
from ledger import permissions
from ledger.company_settings import current_settings
from ledger.models import Due

MAX_TRIES = 5


def refusal(action: PendingAction, made: Tool | None) -> tuple[str, str] | None:
    """Whether something changed since the click that forbids it now: (code, sentence), or None."""
    if made is None or made.version != action.tool_version:
        return "TOOL_CHANGED", _("This kind of action was changed since the card was shown.")
    if not digest.intact(action):
        return "DIGEST", _("The stored action is not what was shown.")
    promise = Due.objects.filter(kind="execute_action", object_id=action.pk).first()
    if promise is not None and promise.tries > MAX_TRIES:
        return "GAVE_UP", _("The worker died several times before anything was done.")
    requester = reading.MEMBER.one(pk=action.requester_id)
    if not requester.tenant.active or policy.agent_paused():
        return "PAUSED", _("The company or its assistant is paused.")
    if not permissions.allowed(requester, made.permission):
        return "FORBIDDEN", _("The person who asked may no longer do this.")
    confirmed = reading.CONFIRMED.all(action=action.pk)
    deciders = [decision.member for decision in confirmed]
    if len({m.pk for m in deciders}) < action.approvals or any(d.shown_hash != action.digest for d in confirmed):
        return "NO_APPROVAL", _("The decision on record does not cover this.")
    if not all(policy.may_answer(m, made, action, [d.pk for d in deciders if d.pk != m.pk]) for m in deciders):
        return "FORBIDDEN", _("The person who confirmed may no longer do this.")
    if sentence := standing.refusal(action):
        return "RULE_ENDED", sentence
    if sentence := policy.refusal_now(action, made, requester, current_settings().values):
        return "POLICY", sentence
    if targets.moved(action.targets, lock=True):
        return "CHANGED", _("A record changed after you confirmed, so nothing was done.")
    if sentence := guardrails.take(action, requester.tenant):
        return "OVER_LIMIT", sentence
    return None
