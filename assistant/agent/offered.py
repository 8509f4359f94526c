"""Which tools a member is offered. What is not here does not exist for the model (H42)."""

from typing import Any

from assistant.tools import registry
from assistant.tools.registry import Tool
from ledger import permissions
from ledger.models import Membership

_specs: dict[str, tuple[Tool, dict[str, Any]]] = {}


def to(member: Membership) -> dict[str, Tool]:
    """The tools that this member's role allows now, by name, in a stable order."""
    tools = sorted(registry.TOOLS.items())
    return {name: made for name, made in tools if permissions.allowed(member, made.permission)}


def specs(tools: dict[str, Tool]) -> list[dict[str, Any]]:
    """The tools in the API's form."""
    return [_spec(made) for made in tools.values()]


def _spec(made: Tool) -> dict[str, Any]:
    """A tool's schema is worked out once: that takes a millisecond, and a turn offers a hundred."""
    known = _specs.get(made.name)
    if known is None or known[0] is not made:
        known = _specs[made.name] = (made, made.spec())
    return known[1]
