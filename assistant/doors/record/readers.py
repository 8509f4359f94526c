"""Who may read the whole story of an action: whoever asked for it, and those who may read the record."""

from django.urls import reverse

from assistant.models import PendingAction
from ledger import permissions
from ledger.models import Membership


def may_read(action: PendingAction, member: Membership) -> bool:
    """Whether the action's whole story is this member's to read."""
    return action.requester_id == member.pk or permissions.allowed(member, "read_audit")


def story_url(action: PendingAction, member: Membership) -> str:
    """Where this member reads it; nothing for those who may not."""
    return reverse("audit_action", args=[action.pk]) if may_read(action, member) else ""
