"""The declaration of a tool: one class in one place, from which everything else follows.

    @tool(label=_("Send quote"), permission="send_quote", effects={Effect.DOCUMENT}, undo_seconds=10,
          compensation="withdraw_quote", on_reject=OnReject.KEEP_DRAFT)
    class SendQuote:
        \"\"\"Send a quote's PDF and acceptance link to the client.\"\"\"      # what the model reads
        class Arguments(ToolArguments): ...
        def prepare(ctx, arguments) -> Prepared: ...

A tool without effects has `run(ctx, arguments) -> dict`. A gated tool has `prepare` and either `execute` (its effect
is in our own database: one transaction, never in doubt) or `reserve`, `call`, `record`, `release` and `reconcile` (its
effect is at a provider). What `call` gives and `record` takes has `provider` and `provider_id`: where a person settles
an action in doubt, they give these two in the provider's place. `keep(ctx, payload)` may keep a rejected proposal as a
draft. `promises` names the receipt's facts that have to point to a row which is "there" or "trashed" after the deed
(T82). `reverse(payload, receipt)` gives the arguments with which the tool named by `compensation` takes it back.
`effects=None` (not declared) counts as every effect there is. The model's schema, the level, the card, the edit form,
MCP's annotations, REST's listing and the tests that walk over all tools come from here.
"""

import hashlib
import inspect
import json
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise
from pydantic import BaseModel, ConfigDict

from assistant.tools import claims
from assistant.tools.effects import Effect, Level, level_of
from assistant.tools.facts import Outside, Preview, Target
from ledger.models import Company, Membership


class ToolArguments(BaseModel):
    """What the model may say to a tool: known names only, no coercion."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)


class OnReject(StrEnum):
    """What follows a person's no."""

    ABORT = "abort"
    KEEP_DRAFT = "keep_draft"
    FALL_BACK = "fall_back"
    HAND_OVER = "hand_over"


class Operation(StrEnum):
    """Where the effect is: `internal` in our own database, `external` at a provider."""

    INTERNAL = "internal"
    EXTERNAL = "external"


@dataclass(frozen=True)
class Context:
    """Who asks, where and in which language. Identity comes from here and never from arguments (R8)."""

    member: Membership
    company: Company
    language: str
    door: str = "web"
    conversation_id: uuid.UUID | None = None
    turn_id: uuid.UUID | None = None


@dataclass(frozen=True)
class Prepared:
    """A proposal, checked and resolved: `payload` is all that executing will see.

    `amount_cents` is the money that it moves, asks for or promises; `messages` how many leave the company.
    """

    payload: dict[str, Any]
    preview: Preview
    summary: str
    targets: tuple[Target, ...]
    more_effects: frozenset[Effect] = frozenset()
    amount_cents: int = 0
    messages: int = 0


@dataclass(frozen=True)
class Receipt:
    """What came of it: `facts` for the card (names, values as in Fact), `provider_ref` where a provider gave one."""

    text: str
    facts: dict[str, Any] = field(default_factory=dict)
    provider_ref: str = ""


@dataclass(frozen=True)
class Found:
    """The provider's own record of our key: it was done; `result` is what `record` takes."""

    result: dict[str, Any]


@dataclass(frozen=True)
class ReadResult:
    """A reading tool's answer, with the outside content that it carries."""

    data: dict[str, Any]
    outside: tuple[Outside, ...] = ()
    touched: tuple[str, ...] = ()


class Refused(Exception):
    """The provider said clearly that nothing was done. `code` is stable, `sentence` fit to show."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, str(sentence)


@dataclass(frozen=True)
class Tool:
    """A declared tool."""

    name: str
    label: Promise | str
    description: str
    namespace: str
    permission: str
    arguments: type[ToolArguments]
    effects: frozenset[Effect] | None
    compensation: str | None = None
    irreversible: bool = False
    on_reject: OnReject = OnReject.ABORT
    undo_seconds: int = 0
    expires_seconds: int = 600
    time_limit: int = 30
    run: Callable[..., Any] | None = None
    prepare: Callable[..., Prepared] | None = None
    execute: Callable[..., Receipt] | None = None
    reserve: Callable[..., dict[str, Any]] | None = None
    call: Callable[..., dict[str, Any]] | None = None
    record: Callable[..., Receipt] | None = None
    release: Callable[..., None] | None = None
    reconcile: Callable[..., Found | None] | None = None
    keep: Callable[..., None] | None = None
    reverse: Callable[..., dict[str, Any]] | None = None
    editable: tuple[str, ...] = ()
    promises: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    @property
    def all_effects(self) -> frozenset[Effect]:
        return frozenset(Effect) if self.effects is None else self.effects

    @property
    def level(self) -> Level:
        return level_of(self.all_effects)

    @property
    def gated(self) -> bool:
        return self.level > Level.RUNS

    @property
    def operation(self) -> Operation:
        return Operation.EXTERNAL if self.call else Operation.INTERNAL

    @property
    def version(self) -> str:
        """The fingerprint of the declaration: an action made by another version does not run."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    @property
    def schema(self) -> dict[str, Any]:
        return _tidy(self.arguments.model_json_schema())

    def part(self, name: str) -> Callable[..., Any]:
        """One of the tool's functions, which a complete declaration has (see incomplete)."""
        found: Callable[..., Any] | None = getattr(self, name)
        if found is None:
            raise RuntimeError(f"{self.name} has no {name}")
        return found

    def spec(self) -> dict[str, Any]:
        """The function as a Chat Completions endpoint takes it."""
        text = self.description
        if self.gated:
            text += " IRREVERSIBLE: this only puts a card before a person; nothing happens until they confirm."
        function = {"name": self.name, "description": text, "parameters": self.schema}
        return {"type": "function", "function": function}


TOOLS: dict[str, Tool] = {}
PARTS = ("run", "prepare", "execute", "reserve", "call", "record", "release", "reconcile", "keep", "reverse")
GUARDED = {"execute": 1, "reserve": 1, "call": 0}
EXTERNAL_PARTS = ("reserve", "call", "record", "release", "reconcile")


def tool(
    *,
    label: Promise | str,
    permission: str,
    effects: Iterable[Effect] | None = None,
    **declared: Any,
) -> Callable[[type], Tool]:
    """Declare a tool (see the module's text). The name is the class's, in snake case."""

    def declare(cls: type) -> Tool:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        parts = {part: cls.__dict__[part] for part in PARTS if part in cls.__dict__}
        for part, payload_at in GUARDED.items():
            if part in parts:
                parts[part] = claims.guarded(name, parts[part], payload_at)
        made = Tool(
            name=name,
            label=label,
            description=inspect.cleandoc(cls.__doc__ or ""),
            namespace=cls.__module__.rsplit(".", 1)[-1],
            permission=permission,
            arguments=cls.__dict__["Arguments"],
            effects=None if effects is None else frozenset(effects),
            source=inspect.getsource(cls) + repr(sorted(effects or ())) + repr(sorted(declared.items())),
            **declared,
            **parts,
        )
        if name in TOOLS:
            raise RuntimeError(f"two tools are called {name}")
        TOOLS[name] = made
        return made

    return declare


def get(name: str) -> Tool | None:
    return TOOLS.get(name)


def incomplete(made: Tool) -> list[str]:
    """What a tool lacks; the process refuses to start while anything is listed here (T21, T24)."""
    lacks = []
    if not made.description:
        lacks.append("a description")
    if not made.gated:
        return lacks if made.run else [*lacks, "run"]
    if made.run:
        lacks.append("no `run`: it is gated")
    if not made.prepare:
        lacks.append("prepare (preview, payload and target versions)")
    if not made.execute and not made.call:
        lacks.append("execute, or call with reserve, record, release and reconcile")
    if made.execute and made.call:
        lacks.append("one of execute and call, not both")
    if made.call:
        lacks += [part for part in EXTERNAL_PARTS if getattr(made, part) is None]
    if made.compensation is None and not made.irreversible:
        lacks.append("a word about compensation (compensation=… or irreversible=True)")
    return lacks


def _tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Pydantic's schema without its titles, which cost tokens and say nothing."""

    def walk(node: Any, inside_properties: bool = False) -> Any:
        if isinstance(node, dict):
            return {
                key: walk(value, key == "properties")
                for key, value in node.items()
                if key != "title" or inside_properties
            }
        return [walk(item) for item in node] if isinstance(node, list) else node

    tidy: dict[str, Any] = json.loads(json.dumps(walk(schema)))
    tidy.setdefault("properties", {})
    return tidy
