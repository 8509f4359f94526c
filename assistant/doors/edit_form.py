"""The edit form of a card, made from the tool's own input schema, and what was posted with it (H46)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from assistant.doors import wording
from assistant.models import PendingAction
from assistant.tools.fields import AMOUNT
from assistant.tools.registry import Tool
from assistant.tools.vocabulary import VALUES

LONG_FROM = 80
SHOWN_AS = {"to": "recipient", "body": "message"}
"""Fields whose fact on the card has another name."""
_ROW = re.compile(r"([a-z_]{1,40})\.([0-9]{1,3})\.([a-z_]{1,40})")
SIMPLE = frozenset({"string", "integer", "number", "boolean"})


@dataclass(frozen=True)
class EditField:
    """One field: its kind is text, address, email, amount, date, number, check, choice, long or lines.

    `was` is what the card has. Amounts and days are in the machine form, which a browser shows as its person writes.
    """

    name: str
    element_id: str
    label: str
    kind: str
    value: Any
    was: Any
    choices: tuple[str, ...] = ()
    required: bool = False
    now: str = ""
    has_standard: bool = False
    """Whether the tool writes words of its own where this is left empty: the card shows them."""

    @property
    def changed(self) -> bool:
        return bool(self.value != self.was)

    @property
    def options(self) -> list[tuple[str, str]]:
        """The choices with their words."""
        return [(choice, str(VALUES.get(choice, choice))) for choice in self.choices]

    @property
    def wide(self) -> bool:
        return self.kind in ("long", "lines", "address", "email")


def fields(action: PendingAction, made: Tool, posted: Mapping[str, Any] | None = None) -> list[EditField]:
    """The fields that may be edited, with what was posted where that is given."""
    arguments = json.loads(action.arguments)
    schema = made.schema
    return [
        _field(action, name, schema, arguments.get(name), posted)
        for name in made.editable
        if _type(schema, name) is not None
    ]


def read(action: PendingAction, made: Tool, posted: QueryDict) -> dict[str, Any]:
    """The posted fields as the tool's arguments. What does not fit its type goes on as text, for the tool to refuse.

    An address that the tool filled in and that was left as it is stays open in the request.
    """
    read_fields: dict[str, Any] = {}
    required = made.schema.get("required", [])
    for name in made.editable:
        kind = _type(made.schema, name)
        if kind == "boolean" and name in posted.getlist("present"):
            read_fields[name] = bool(posted.get(name))
        elif kind is not None and name in posted:
            shown = posted[name] == _address(action, name) and json.loads(action.arguments).get(name) is None
            read_fields[name] = None if shown else _value(kind, str(posted[name]), required=name in required)
    return read_fields


def read_all(made: Tool, posted: QueryDict) -> dict[str, Any]:
    """Every argument of the tool that a page's form posted; empty fields are left out.

    The rows of a list come as `allocations.0.amount`: list, place, field.
    """
    schema = made.schema
    found: dict[str, Any] = {}
    for name in schema["properties"]:
        kind = _type(schema, name)
        if kind is not None and posted.get(name, "").strip():
            found[name] = _value(kind, str(posted[name]), required=name in schema.get("required", []))
        elif rows := _rows(name, posted):
            found[name] = rows
    return found


def _rows(name: str, posted: QueryDict) -> list[dict[str, str]]:
    """The rows of one list, in their order; what a row may hold, the tool's own schema says."""
    rows: dict[int, dict[str, str]] = {}
    for key in posted:
        match = _ROW.fullmatch(key)
        value = str(posted[key])
        if match is not None and match[1] == name and value.strip():
            rows.setdefault(int(match[2]), {})[match[3]] = value
    return [rows[place] for place in sorted(rows)]


def _field(
    action: PendingAction, name: str, schema: dict[str, Any], was: Any, posted: Mapping[str, Any] | None
) -> EditField:
    kind, described = _type(schema, name), _described(schema, name)
    choices = tuple(str(choice) for choice in described.get("enum", ()))
    before = "\n".join(str(item) for item in was or []) if kind == "array" else "" if was is None else was
    value = before if posted is None else posted.get(name, "")
    if kind == "boolean":
        value = bool(was) if posted is None else bool(posted.get(name))
        before = bool(was)
    else:
        before = str(before) or _address(action, name)
        value = before if posted is None else str(value)
    return EditField(
        name=name,
        element_id=f"action-{action.pk}-{name}",
        label=wording.label(SHOWN_AS.get(name, name)),
        kind="address" if _address(action, name) else _kind(kind, described, before, choices),
        value=value,
        was=before,
        choices=choices,
        required=name in schema.get("required", []),
        now=_now(action, name),
        has_standard=not before and any(fact["kind"] == "long" for fact in _facts(action, name)),
    )


def _now(action: PendingAction, name: str) -> str:
    """What the card shows for a field that the request left open: the tool filled it in."""
    facts = [fact for fact in _facts(action, name) if fact["kind"] != "long"]
    return ", ".join(str(wording.value(fact["kind"], fact["value"]).text) for fact in facts)


def _address(action: PendingAction, name: str) -> str:
    """The one address that the card shows under a field of another name; it stands in the form, ready to be changed."""
    facts = _facts(action, name) if name in SHOWN_AS else []
    return str(facts[0]["value"]) if len(facts) == 1 and facts[0]["kind"] == "email" else ""


def _facts(action: PendingAction, name: str) -> list[dict[str, Any]]:
    return [fact for fact in action.preview.get("facts", ()) if fact["name"] == SHOWN_AS.get(name, name)]


def _kind(kind: str | None, described: dict[str, Any], value: Any, choices: tuple[str, ...]) -> str:
    if choices:
        return "choice"
    if kind == "boolean":
        return "check"
    if kind == "array":
        return "lines"
    if kind in ("integer", "number"):
        return "number"
    if described.get("format") in ("email", "date"):
        return str(described["format"])
    if described.get("pattern") == AMOUNT:
        return "amount"
    longest = described.get("maxLength", 0)
    return "long" if longest > LONG_FROM * 4 or "\n" in str(value) or len(str(value)) > LONG_FROM else "text"


def _described(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """The property without its wrappers: a reference resolved, "or nothing" taken off."""
    found: dict[str, Any] = schema["properties"].get(name, {})
    for _depth in range(4):
        if "$ref" in found:
            found = schema.get("$defs", {}).get(found["$ref"].rsplit("/", 1)[-1], {})
        elif "anyOf" in found:
            found = next((part for part in found["anyOf"] if part.get("type") != "null"), {})
        elif len(found.get("allOf", ())) == 1:
            found = found["allOf"][0]
    return found


def _type(schema: dict[str, Any], name: str) -> str | None:
    """The simple type of a field, "array" for a list of texts, None for what a form cannot hold."""
    described = _described(schema, name)
    kind = described.get("type")
    if kind in SIMPLE:
        return str(kind)
    return "array" if kind == "array" and described.get("items", {}).get("type") == "string" else None


def _value(kind: str, text: str, *, required: bool) -> Any:
    text = text.replace("\r\n", "\n")
    if kind == "array":
        return [line.strip() for line in text.split("\n") if line.strip()]
    if not text.strip() and not required:
        return None
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    if kind == "integer" and text.strip().removeprefix("-").isdecimal() and len(text) < 19:
        return int(text)
    return text
