"""A desk of the cast: tools are called, cards put up, decided and run, as the doors and the worker do it."""

import json
from dataclasses import dataclass
from typing import Any

from assistant.gate import approvals, execution, proposals
from assistant.gate.approvals import Answer, Click
from assistant.models import Conversation, PendingAction
from assistant.tools import registry
from assistant.tools.registry import Context, ReadResult
from ledger.models import Membership
from tests.cast import Cast


@dataclass
class Desk:
    """One conversation of a company's owner. Every method opens the company's scope by itself."""

    cast: Cast
    conversation: Conversation
    language: str = "en"

    def context(self, member: Membership | None = None) -> Context:
        return Context(
            member=member or self.cast.owner,
            company=self.cast.company,
            language=self.language,
            conversation_id=self.conversation.pk,
        )

    def read(self, tool: str, *, by: Membership | None = None, **arguments: Any) -> dict[str, Any]:
        """What a tool without a card answers."""
        made = registry.TOOLS[tool]
        with self.cast.scope():
            answer = made.run(self.context(by), proposals.read_arguments(made, json.dumps(arguments)))
        return answer.data if isinstance(answer, ReadResult) else answer

    def propose(self, tool: str, *, by: Membership | None = None, **arguments: Any) -> PendingAction:
        made = registry.TOOLS[tool]
        with self.cast.scope():
            return proposals.propose(
                self.context(by), made, json.dumps(arguments), conversation_id=self.conversation.pk
            ).action

    def confirm(self, action: PendingAction, *, by: Membership | None = None, **more: Any) -> Answer:
        click = Click(
            action_id=action.pk,
            conversation_id=action.conversation_id,
            by=by or self.cast.owner,
            shown_hash=action.digest,
            **more,
        )
        with self.cast.scope():
            return approvals.confirm(click)

    def edit(self, action: PendingAction, **fields: Any) -> Answer:
        click = Click(
            action_id=action.pk, conversation_id=action.conversation_id, by=self.cast.owner, shown_hash=action.digest
        )
        with self.cast.scope():
            return approvals.edit(click, fields)

    def reject(self, action: PendingAction, *, reason: str = "not now") -> Answer:
        click = Click(
            action_id=action.pk,
            conversation_id=action.conversation_id,
            by=self.cast.owner,
            shown_hash=action.digest,
            reason=reason,
        )
        with self.cast.scope():
            return approvals.reject(click)

    def run(self, action: PendingAction, **more: Any) -> PendingAction:
        """Confirm, and execute as the worker does."""
        self.confirm(action, **more)
        return self.execute(action)

    def execute(self, action: PendingAction) -> PendingAction:
        """Execute as the worker does, its undo window over."""
        with self.cast.scope():
            PendingAction.objects.filter(pk=action.pk, status="scheduled").update(execute_after=action.created_at)
        execution.execute(self.cast.tenant_id, action.pk)
        return self.fresh(action)

    def fresh(self, action: PendingAction) -> PendingAction:
        with self.cast.scope():
            return PendingAction.objects.get(pk=action.pk)


def desk_of(cast: Cast, language: str = "en") -> Desk:
    with cast.scope():
        return Desk(cast, Conversation.objects.create(starter=cast.owner), language)


def fact(action: PendingAction, name: str) -> Any:
    """The value of the one fact of that name on a card."""
    (found,) = [one["value"] for one in action.preview["facts"] if one["name"] == name]
    return found


def marks(action: PendingAction, name: str) -> list[str]:
    return [mark for one in action.preview["facts"] if one["name"] == name for mark in one["marks"]]


def warned(action: PendingAction) -> set[str]:
    return {phrase["code"] for phrase in action.preview["warnings"]}
