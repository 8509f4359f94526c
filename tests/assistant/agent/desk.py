"""A conversation without a model: people write, cards are put up by the loop's own transactions, turns end by hand."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from assistant.agent import calling, claiming, history, inbox, steps
from assistant.agent.arguments import read_arguments
from assistant.agent.claimed import Claimed
from assistant.agent.inbox import Posted
from assistant.agent.replies import Call, Reply, Usage
from assistant.gate import approvals, execution, proposals
from assistant.gate.approvals import Answer, Click
from assistant.models import Conversation, Message, PendingAction, ToolCall, Turn
from assistant.tools import registry
from assistant.tools.registry import Context
from ledger import audit
from ledger.models import Client, Membership
from tests import cast as casts
from tests.cast import Cast
from tests.support import validator


@dataclass
class Desk:
    """Each method opens the company's scope by itself and leaves nothing open."""

    cast: Cast
    conversation: Conversation
    client: Client

    @contextmanager
    def scope(self) -> Iterator[None]:
        with audit.entering("web", "127.0.0.1"), self.cast.scope():
            yield

    # People

    def post(self, text: str, *, key: uuid.UUID | None = None, by: Membership | None = None) -> Posted:
        with self.scope():
            return inbox.post_message(
                self.conversation.pk, by=by or self.cast.owner, text=text, key=key or uuid.uuid4(), door="web"
            )

    def stop(self) -> inbox.Stopped:
        with self.scope():
            return inbox.stop(self.conversation.pk, by=self.cast.owner)

    def retry(self) -> Turn:
        newest = self.turns()[-1]
        with self.scope():
            return inbox.retry(newest.pk, by=self.cast.owner)

    def withdraw_waiting(self) -> None:
        """Take back what waits for a turn, so that there is room for more."""
        with self.scope():
            Message.objects.filter(conversation=self.conversation, turn=None).update(silent=True)

    def click(self, verb: Callable[..., Answer], card: PendingAction, **more: Any) -> Answer:
        own: dict[str, Any] = {
            "action_id": card.pk,
            "conversation_id": card.conversation_id,
            "by": self.cast.owner,
            "shown_hash": card.digest,
        }
        fields = {"fields": more.pop("fields")} if "fields" in more else {}
        with self.scope():
            return verb(Click(**own | more), **fields)

    def confirm(self, card: PendingAction) -> Answer:
        return self.click(approvals.confirm, card)

    # The runner and the worker

    def claim(self) -> Claimed:
        claimed = claiming.claim(self.cast.tenant_id, self.turns()[-1].pk)
        assert claimed is not None
        return claimed

    def silence(self) -> None:
        """As if the runner had died a while ago."""
        with self.scope():
            Turn.objects.filter(conversation=self.conversation, status="running").update(
                lease_until="2020-01-01T00:00:00Z"
            )

    def next(self, claimed: Claimed) -> steps.Step:
        return steps.next_step(claimed, developer=True, window=history.Window())

    def reply(self, claimed: Claimed, text: str, *calls: tuple[str, dict[str, Any]]) -> steps.Step:
        """The model answers, as `complete_reply` stores it."""
        step = self.next(claimed)
        assert isinstance(step, steps.Speak)
        return self.finish(claimed, step, text, *calls)

    def finish(self, claimed: Claimed, step: steps.Speak, text: str, *calls: tuple[str, dict[str, Any]]) -> steps.Step:
        made = []
        for name, arguments in calls:
            raw = json.dumps(arguments)
            made.append(Call(f"call_{uuid.uuid4().hex[:8]}", name, raw, *read_arguments(raw)))
        whole = Reply(text, tuple(made), "stop", Usage(10, 5, 15), complete=True)
        return steps.complete_reply(claimed, step.message_id, whole)

    def end(self, claimed: Claimed, text: str = "Done.") -> None:
        self.reply(claimed, text)

    def run_calls(self, claimed: Claimed, step: steps.Step) -> None:
        assert isinstance(step, steps.RunCalls)
        for call, _seconds in step.calls:
            calling.run_call(claimed, call)

    def put_up(self, *calls: tuple[str, dict[str, Any]]) -> list[PendingAction]:
        """Cards that wait, put up by one reply of a turn that the person's own words began."""
        known = {card.pk for card in self.cards()}
        self.post("please")
        claimed = self.claim()
        asked = [(tool, {"client_ref": self.client.ref} | arguments) for tool, arguments in calls]
        self.run_calls(claimed, self.reply(claimed, "On the card.", *asked))
        self.next(claimed)
        return [card for card in self.cards() if card.pk not in known]

    def card(self, tool: str, **arguments: Any) -> PendingAction:
        (card,) = self.put_up((tool, arguments))
        return card

    def propose(self, tool: str, **arguments: Any) -> PendingAction:
        """A card that no turn put up, as a button on a page does."""
        ctx = Context(
            member=self.cast.owner, company=self.cast.company, language="en", conversation_id=self.conversation.pk
        )
        text = json.dumps({"client_ref": self.client.ref} | arguments)
        with self.scope():
            made = registry.TOOLS[tool]
            return proposals.propose(ctx, made, text, conversation_id=self.conversation.pk).action

    def claim_action(self, card: PendingAction) -> None:
        """A worker claims a confirmed action and goes no further."""
        with self.scope():
            execution._claim(self.cast.tenant_id, card.pk)

    def execute(self, card: PendingAction) -> None:
        execution.execute(self.cast.tenant_id, card.pk)

    # What stands in the rows

    def turns(self) -> list[Turn]:
        with self.scope():
            return list(Turn.objects.filter(conversation=self.conversation).order_by("ordinal"))

    def messages(self, **filters: Any) -> list[Message]:
        with self.scope():
            return list(Message.objects.filter(conversation=self.conversation, **filters).order_by("position"))

    def cards(self) -> list[PendingAction]:
        with self.scope():
            return list(PendingAction.objects.filter(conversation=self.conversation).order_by("pk"))

    def calls(self) -> list[ToolCall]:
        with self.scope():
            calls = ToolCall.objects.filter(turn__conversation=self.conversation)
            return list(calls.order_by("message__position", "index").select_related("action"))

    def fresh(self, card: PendingAction) -> PendingAction:
        with self.scope():
            return PendingAction.objects.get(pk=card.pk)

    def history(self) -> list[dict[str, Any]]:
        with self.scope():
            return validator.check(self.conversation.pk)

    def records(self) -> list[dict[str, Any]]:
        found = (message["content"] for message in self.history() if message["role"] == "developer")
        return [json.loads(text.removeprefix("[record] ")) for text in found]

    def client_now(self) -> Client:
        with self.scope():
            return Client.objects.get(pk=self.client.pk)


def a_desk(cast: Cast | None = None) -> Desk:
    """A fresh company with a client and a conversation."""
    cast = cast or casts.lone_ridge()
    with cast.scope():
        client = casts.john_smith(cast)
        return Desk(cast, inbox.new_conversation(by=cast.owner), client)
