"""A conversation with the agent in one process: people post, turns run against a scripted model over HTTP.

The model and the loop live in a thread of their own, so that tests are plain functions that read and write rows.
"""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from channels.layers import get_channel_layer

from assistant.agent import claiming, inbox
from assistant.agent.claimed import Claimed
from assistant.agent.database import Database
from assistant.agent.inbox import Posted
from assistant.agent.loop import TurnLoop
from assistant.gate import approvals, execution
from assistant.gate.approvals import Answer, Click
from assistant.models import Conversation, Message, PendingAction, ToolCall, Turn
from ledger import audit
from ledger.models import Client, Membership
from tests import cast as casts
from tests.assistant.agent.endpoint import Endpoint, scripted
from tests.cast import Cast
from tests.support import validator

T = TypeVar("T")
PATIENCE = 60


class Stage:
    """An event loop in a thread, with a scripted endpoint and the loop's database threads."""

    def __init__(self, *steps: dict[str, Any], **settings: Any) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self._stack = AsyncExitStack()
        self.database = Database(8)
        self.endpoint: Endpoint = self.run(self._stack.enter_async_context(scripted(*steps, **settings)))

    def run(self, work: Coroutine[Any, Any, T], seconds: float = PATIENCE) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    def close(self) -> None:
        async def end() -> None:
            await self._stack.aclose()
            await get_channel_layer().close()

        self.run(end())
        self.database.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE)


@dataclass
class Talk:
    """One conversation of a company's owner. Each method opens the scope by itself and leaves nothing open."""

    cast: Cast
    conversation: Conversation
    client: Client
    stage: Stage

    @property
    def endpoint(self) -> Endpoint:
        return self.stage.endpoint

    @contextmanager
    def scope(self) -> Iterator[None]:
        with audit.entering("web", "127.0.0.1"), self.cast.scope():
            yield

    def post(self, text: str, *, key: uuid.UUID | None = None, by: Membership | None = None) -> Posted:
        with self.scope():
            return inbox.post_message(
                self.conversation.pk, by=by or self.cast.owner, text=text, key=key or uuid.uuid4(), door="web"
            )

    def stop(self) -> inbox.Stopped:
        with self.scope():
            return inbox.stop(self.conversation.pk, by=self.cast.owner)

    def claim(self) -> Claimed | None:
        turn = self.turn()
        return claiming.claim(self.cast.tenant_id, turn.pk)

    def run(self) -> Turn:
        """Claim the newest turn, run it to its next rest, and check the history."""
        claimed = self.claim()
        assert claimed is not None
        self.stage.run(self.loop(claimed).run())
        self.history()
        return self.turn()

    def loop(self, claimed: Claimed) -> TurnLoop:
        return TurnLoop(
            claimed,
            self.endpoint.model,
            self.stage.database,
            self.stage.database,
            asyncio.Semaphore(8),
            lambda: 0.0,
        )

    def say(self, text: str) -> Turn:
        """Post a message and run its turn."""
        self.post(text)
        return self.run()

    def requested(self, number: int = -1) -> list[dict[str, Any]]:
        """The messages of a request, without the system prompt."""
        return [message for message in self.endpoint.requests[number]["messages"] if message["role"] != "system"]

    def history(self) -> list[dict[str, Any]]:
        with self.scope():
            return validator.check(self.conversation.pk)

    def turn(self) -> Turn:
        with self.scope():
            return Turn.objects.filter(conversation=self.conversation).latest("ordinal")

    def messages(self, **filters: Any) -> list[Message]:
        with self.scope():
            return list(Message.objects.filter(conversation=self.conversation, **filters).order_by("position"))

    def replies(self) -> list[str]:
        return [message.text for message in self.messages(role="assistant")]

    def lines(self) -> list[str]:
        return [message.code for message in self.messages(role="line")]

    def records(self) -> list[dict[str, Any]]:
        found = (message["content"] for message in self.history() if message["role"] == "developer")
        return [json.loads(text.removeprefix("[record] ")) for text in found]

    def calls(self) -> list[ToolCall]:
        with self.scope():
            calls = ToolCall.objects.filter(turn__conversation=self.conversation)
            return list(calls.order_by("message__position", "index").select_related("action"))

    def cards(self) -> list[PendingAction]:
        with self.scope():
            return list(PendingAction.objects.filter(conversation=self.conversation).order_by("pk"))

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

    def confirm_and_execute(self, card: PendingAction) -> None:
        self.click(approvals.confirm, card)
        execution.execute(self.cast.tenant_id, card.pk)

    def client_now(self) -> Client:
        with self.scope():
            return Client.objects.get(pk=self.client.pk)


@contextmanager
def talking(*steps: dict[str, Any], cast: Cast | None = None, **settings: Any) -> Iterator[Talk]:
    """A fresh company with a client and a conversation, and a model that plays these steps."""
    cast = cast or casts.lone_ridge()
    with cast.scope():
        client = casts.john_smith(cast)
        conversation = inbox.new_conversation(by=cast.owner)
    stage = Stage(*steps, **{"developer_role": True} | settings)
    try:
        yield Talk(cast, conversation, client, stage)
    finally:
        stage.close()


def say(text: str) -> dict[str, Any]:
    return {"text": text}


def call(tool: str, call_id: str = "", /, **arguments: Any) -> dict[str, Any]:
    return {"call": {"name": tool, "arguments": arguments, "id": call_id}}


def step(*acts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"do": list(acts)} | more
