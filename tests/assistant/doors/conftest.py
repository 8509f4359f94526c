"""A desk: a company of the cast, a conversation of dana's, and browsers of its people, for tests of the doors."""

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client as Browser

from assistant import turns
from assistant.events import announce
from assistant.gate import proposals
from assistant.models import Conversation, Message, PendingAction, ToolCall, Turn
from assistant.tools.registry import TOOLS, Context
from ledger.models import Client, Membership
from tests.cast import PASSWORD, Cast, john_smith
from tests.cast import lone_ridge as found_lone_ridge

__all__ = ["PASSWORD"]


@dataclass
class Desk:
    """What was said and asked in one conversation; every write is a transaction of its own, as in the product."""

    cast: Cast
    conversation: Conversation
    client: Client
    calls: int = field(default=0)

    @property
    def url(self) -> str:
        return f"/c/{self.conversation.pk}/"

    def url_of(self, action: PendingAction, word: str = "") -> str:
        return f"{self.url}actions/{action.pk}/{word}"

    def browser(self, name: str = "dana", **headers: str) -> Browser:
        browser = Browser(headers=headers)
        browser.force_login(self.cast[name].user)
        return browser

    def turn(self, status: str = "running") -> Turn:
        with self.cast.scope():
            turn = Turn.objects.create(
                conversation=self.conversation,
                member=self.cast.dana,
                ordinal=Turn.objects.filter(conversation=self.conversation).count() + 1,
                status=status,
            )
            announce(self.conversation.pk, turn)
            return turn

    def end(self, turn: Turn, status: str = "done") -> None:
        with self.cast.scope():
            held = turns.hold(turn.pk)
            held.status = status
            held.save(update_fields=["status"])
            announce(self.conversation.pk, held)

    def say(self, text: str, *, turn: Turn | None = None, role: str = "user", **more: Any) -> Message:
        with self.cast.scope():
            author = self.cast.dana if role == "user" else None
            message = Message.objects.create(
                conversation=self.conversation, turn=turn, role=role, text=text, author=author, **more
            )
            announce(self.conversation.pk, message)
            return message

    def write(self, message: Message, text: str, *, open: bool = True) -> None:  # noqa: A002
        """The row's text as the agent saves it; closing is a change, saving is none."""
        with self.cast.scope():
            Message.objects.filter(pk=message.pk).update(text=text, open=open)
            if not open:
                announce(self.conversation.pk, Message.objects.get(pk=message.pk))

    def call(self, message: Message, name: str, **more: Any) -> ToolCall:
        self.calls += 1
        with self.cast.scope():
            call = ToolCall.objects.create(
                turn_id=message.turn_id,
                message=message,
                index=self.calls,
                call_id=f"call-{self.calls}",
                name=name,
                **({"status": "done"} | more),
            )
            announce(self.conversation.pk, call)
            return call

    def propose(
        self, tool: str = "post_letter", *, turn: Turn | None = None, by: Membership | None = None, **arguments: Any
    ) -> PendingAction:
        given = {"text": "Hello John."} if tool == "post_letter" else {}
        with self.cast.scope():
            ctx = Context(
                member=by or self.cast.dana,
                company=self.cast.company,
                language="en",
                conversation_id=self.conversation.pk,
            )
            text = json.dumps({"client_ref": self.client.ref} | given | arguments)
            asked = proposals.propose(
                ctx, TOOLS[tool], text, conversation_id=self.conversation.pk, turn=turn, reason="Because I said so."
            )
            return asked.action

    def fresh(self, action: PendingAction) -> PendingAction:
        with self.cast.scope():
            return PendingAction.objects.get(pk=action.pk)

    def seq(self) -> int:
        with self.cast.scope():
            return int(Conversation.objects.get(pk=self.conversation.pk).seq)


def make_desk(cast: Cast | None = None, **client: Any) -> Desk:
    cast = cast or found_lone_ridge(undo_seconds={"post_letter": 0})
    with cast.scope():
        conversation = Conversation.objects.create(starter=cast.owner, title="The Smith quote")
        return Desk(cast, conversation, john_smith(cast, **client))


@pytest.fixture
def desk() -> Desk:
    return make_desk()


def key() -> str:
    return str(uuid.uuid4())
