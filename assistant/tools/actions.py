"""What waits for a person and what became of it. Reading only: no tool decides a card (R5)."""

import uuid
from typing import Any, Literal

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assistant.models import OPEN, Decision, PendingAction, Status
from assistant.tools.registry import Context, ToolArguments, tool
from ledger.errors import NotFound

State = Literal["pending", "awaiting_second", "executing", "in_doubt"]


@tool(label=gettext_lazy("List waiting cards"), permission="use_assistant", effects=())
class ListPendingActions:
    """Cards waiting for a decision (own; approvers also see theirs). Read only: no tool can decide a card."""

    class Arguments(ToolArguments):
        state: State | None = None
        mine: bool = False

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        wanted = [arguments.state] if arguments.state else [*OPEN, Status.EXECUTING, Status.IN_DOUBT]
        own = Q(requester=ctx.member)
        theirs = Q() if arguments.mine or not ctx.member.approve_l3 else Q(routed=True) | Q(approvals=2)
        actions = PendingAction.objects.filter(own | theirs if theirs else own, status__in=wanted).order_by("-pk")[:20]
        return {"actions": [_brief(action) for action in actions]}


@tool(label=gettext_lazy("Look up an action"), permission="use_assistant", effects=())
class GetAction:
    """What became of one action: status, decision, outcome. Reads only."""

    class Arguments(ToolArguments):
        action_ref: str

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        try:
            action = PendingAction.objects.filter(pk=uuid.UUID(arguments.action_ref), requester=ctx.member).first()
        except ValueError:
            action = None
        if action is None:
            raise NotFound(_("There is no such action."), action_ref=arguments.action_ref[:60])
        decisions = Decision.objects.filter(action=action).select_related("member").order_by("slot")
        return _brief(action) | {
            "decisions": [
                {"verdict": d.verdict, "by": d.member.name, "reason_code": d.reason_code, "reason": d.reason}
                for d in decisions
            ],
            "receipt": action.receipt["text"] if action.receipt else None,
            "failure": action.failure,
            "closed_by": action.closed_by,
        }


def _brief(action: PendingAction) -> dict[str, Any]:
    return {
        "action": str(action.pk),
        "tool": action.tool,
        "status": action.status,
        "executed": action.status == Status.EXECUTED,
        "summary": action.summary,
        "expires_at": action.expires_at.isoformat(timespec="seconds"),
    }
