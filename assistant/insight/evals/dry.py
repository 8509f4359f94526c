"""A member's desk on which nothing lasts: tools read, write and put up cards as they would, and all is taken back.

Each call runs in a transaction of its own that is rolled back, so a case can be tried on the company's real records as
often as one likes: no row, no job, no mail, no event stays.
"""

import json
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import translation

from assistant.agent import history, offered, prompt, results
from assistant.gate import proposals
from assistant.models import Conversation
from assistant.tools.registry import Context, ReadResult, Tool
from ledger import tenancy
from ledger.errors import DomainError
from ledger.models import Membership


@dataclass(frozen=True)
class Told:
    """What the model is told of a call, and whether it was a proposal that became a card."""

    text: str
    card: bool = False


@dataclass(frozen=True)
class Desk:
    """One member of one company."""

    tenant_id: uuid.UUID
    actor: str
    language: str

    def opening(self) -> tuple[str, list[dict[str, Any]]]:
        """The system prompt and the tools that this member is offered. Raises Membership.DoesNotExist."""
        with tenancy.tenant(self.tenant_id):
            member = self._member()
            return prompt.system(member, door="web"), offered.specs(offered.to(member))

    def answer(self, name: str, arguments: str) -> Told:
        """Run one call and take back whatever it did."""
        with tenancy.tenant(self.tenant_id), translation.override(self.language), transaction.atomic():
            try:
                return self._answer(name, arguments)
            except DomainError as refused:
                return Told(results.error(refused.code, refused.sentence, refused.data))
            finally:
                transaction.set_rollback(True)

    def _answer(self, name: str, arguments: str) -> Told:
        member = self._member()
        tools = offered.to(member)
        made: Tool | None = tools.get(name)
        if made is None:
            return Told(results.error("UNKNOWN_TOOL", f"unknown tool; available: {', '.join(tools)}"))
        conversation = Conversation.objects.create(starter=member)
        ctx = Context(member=member, company=member.tenant, language=self.language, conversation_id=conversation.pk)
        if made.gated:
            card = proposals.propose(ctx, made, arguments, conversation_id=conversation.pk).action
            return Told(results.proposed(card.pk, card.summary), card=True)
        answer = made.part("run")(ctx, proposals.read_arguments(made, arguments))
        read = answer if isinstance(answer, ReadResult) else ReadResult(answer)
        return Told(results.read(read.data, read.outside))

    def _member(self) -> Membership:
        return Membership.objects.select_related("tenant", "user").get(ref=self.actor, active=True)


def tool_message(call_id: str, told: Told) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": told.text}


def call_message(text: str, calls: list[tuple[str, str, str]]) -> dict[str, Any]:
    """A reply with its calls (id, name, arguments) in the API's form."""
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": text or None, "tool_calls": made} if made else said(text)


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def recorded(text: str, *, developer: bool) -> dict[str, Any]:
    """What became of a card, as a conversation's history tells it."""
    body = json.dumps({"text": text}, ensure_ascii=False)
    return {"role": "developer" if developer else "user", "content": f"{history.RECORD} {body}"}
