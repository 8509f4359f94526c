"""A scripted model endpoint over real HTTP, and what was heard from it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from assistant.agent.llm import Model, ModelEvent, Retrying
from assistant.agent.model_settings import ModelSettings
from assistant.agent.rehearsal.app import RehearsalApp
from assistant.agent.rehearsal.script import Script
from assistant.agent.rehearsal.serve import serving
from assistant.agent.replies import CallStarted, Finished, Reply, TextDelta

HELLO = [{"role": "user", "content": "hello"}]


@dataclass
class Heard:
    """All events of one reply."""

    events: list[ModelEvent] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def started(self) -> list[str]:
        return [event.name for event in self.events if isinstance(event, CallStarted)]

    @property
    def retries(self) -> list[Retrying]:
        return [event for event in self.events if isinstance(event, Retrying)]

    @property
    def reply(self) -> Reply:
        assert isinstance(self.events[-1], Finished)
        return self.events[-1].reply

    @property
    def calls(self) -> list[tuple[str, str, dict[str, Any] | None, str | None]]:
        return [(call.id, call.name, call.arguments, call.problem) for call in self.reply.calls]


@dataclass
class Endpoint:
    model: Model
    app: RehearsalApp
    heard: Heard = field(default_factory=Heard)

    async def ask(self, messages: list[dict[str, Any]] | None = None, **more: Any) -> Heard:
        """One reply; what came before a failure stays in `heard`."""
        self.heard = Heard()
        async with aclosing(self.model.stream(messages or HELLO, **more)) as events:
            async for event in events:
                self.heard.events.append(event)
        return self.heard

    @property
    def requests(self) -> list[dict[str, Any]]:
        return list(self.app.received)


@asynccontextmanager
async def scripted(*steps: dict[str, Any], after: str = "fail", **settings: Any) -> AsyncIterator[Endpoint]:
    """An endpoint that plays these steps, and a client that is impatient enough for tests."""
    app = RehearsalApp(script=Script.from_data({"steps": list(steps), "after": after}), remember=50)
    chosen = {"idle_seconds": 5.0, "total_seconds": 20.0, "first_wait_seconds": 0.01, "retries": 2} | settings
    async with serving(app) as url:
        model = Model(ModelSettings(base_url=url, model="scripted", **chosen))
        try:
            yield Endpoint(model, app)
        finally:
            await model.aclose()


def delta(**parts: Any) -> dict[str, Any]:
    """A chunk with this delta."""
    return {"chunk": {"choices": [{"index": 0, "delta": parts, "finish_reason": None}]}}


def call_delta(*calls: dict[str, Any]) -> dict[str, Any]:
    """A chunk with these pieces of tool calls."""
    return delta(tool_calls=list(calls))


def piece(name: str | None = None, arguments: Any = "", **more: Any) -> dict[str, Any]:
    """A piece of a tool call; `more` are its id and index."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"type": "function", "function": function} | more


ENDED = [{"finish": "tool_calls"}, {"done": True}]
