"""One step of the model: a few words, and the calls that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assistant.agent.rehearsal.intents import Intent
from assistant.agent.rehearsal.phrases import PHRASES
from assistant.agent.rehearsal.situation import Situation


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Want:
    """What the person asks for: the message with the request, and their answers to our questions about it."""

    intent: Intent | None
    text: str
    answers: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return " ".join([self.text, *self.answers])

    def hint(self, name: str, ref: str) -> str:
        """What they called it; after they chose from a list, with what they chose."""
        return f"{name}: {self.answers[-1][:60]} ({ref})" if self.answers else name


def phrase(s: Situation, key: str, /, **fields: Any) -> str:
    return PHRASES[s.language][key].format(**fields)


def say(s: Situation, key: str, /, **fields: Any) -> Step:
    return Step(phrase(s, key, **fields))


def call(s: Situation, tool: str, /, **arguments: Any) -> Call:
    """A call as the offered schema takes it: what it does not know is left out, and so is what is empty."""
    properties = s.tools[tool].get("properties") or {}
    fitted = {key: _fit(value, properties[key]) for key, value in arguments.items() if key in properties}
    return Call(tool, {key: value for key, value in fitted.items() if value not in (None, "", [], {})})


def do(s: Situation, tool: str, text: str = "", /, **arguments: Any) -> Step:
    """One call, or the admission that the tool is not there."""
    if not tool or tool not in s.tools:
        return say(s, "cannot_yet")
    return Step(text, (call(s, tool, **arguments),))


def after(s: Situation, tool: str) -> Step | None:
    """What to say once a gated tool was called in this turn, or None while it was not."""
    done = [call for call in s.done if call.name == tool]
    if not done:
        return None
    failed = [call.error for call in done if call.error]
    if failed:
        return say(s, "did_not_work", why=" ".join(dict.fromkeys(failed)))
    if all(call.proposed for call in done):
        return say(s, "on_the_card")
    told = " ".join(str(call.result.get("summary") or call.result.get("text") or tool) for call in done)
    return say(s, "executed", what=told)


def _fit(value: Any, schema: Mapping[str, Any]) -> Any:
    choices = [schema, *schema.get("anyOf", ())]
    allowed = next((choice["enum"] for choice in choices if "enum" in choice), None)
    if allowed is not None:
        return value if value in allowed else None
    inner = next((choice["items"] for choice in choices if isinstance(choice.get("items"), dict)), None)
    if isinstance(value, list) and inner and "enum" in inner:
        return [item for item in value if item in inner["enum"]]
    if isinstance(value, str):
        longest = next((choice["maxLength"] for choice in choices if "maxLength" in choice), None)
        return value[:longest] if longest else value
    return value
