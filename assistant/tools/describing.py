"""A tool as programs read it: the catalogue's entry, and the hints that MCP clients go by.

Everything follows from the declaration. The hints are those of the Model Context Protocol (revision 2025-06-18, tools,
ToolAnnotations); where its words leave room, the answer is the one that makes a client more careful.
"""

from typing import Any

from django.utils import translation

from assistant.tools.effects import Effect, Level
from assistant.tools.registry import Operation, Tool

LANGUAGES = ("en", "pt-br")
LOOKING = frozenset({"view_records", "use_assistant", "read_audit"})
"""Permissions to look at something. A tool without effects under another one writes what can be undone in the chat."""
OUTWARD = frozenset(Effect) - {Effect.BOOKS, Effect.REMOVAL, Effect.PERMANENT, Effect.PERMISSION, Effect.BULK}
"""Effects that somebody outside the company notices."""


def annotations(made: Tool) -> dict[str, bool]:
    """MCP's hints: reads only; may destroy or not be taken back (L2 and above); the same call again adds nothing;
    reaches outside the company.

    A gated call is never idempotent for a client: after the decision the same call puts up another card.
    """
    reads = not made.all_effects and made.permission in LOOKING
    return {
        "readOnlyHint": reads,
        "destructiveHint": made.level >= Level.APPROVE,
        "idempotentHint": reads,
        "openWorldHint": made.operation == Operation.EXTERNAL or bool(made.all_effects & OUTWARD),
    }


def described(made: Tool) -> dict[str, Any]:
    """The whole entry, of strings, numbers, lists and dictionaries only; seconds are whole."""
    return {
        "name": made.name,
        "label": {language: label_in(made, language) for language in LANGUAGES},
        "description": made.description,
        "namespace": made.namespace,
        "level": int(made.level),
        "gated": made.gated,
        "effects": sorted(str(effect) for effect in made.all_effects),
        "operation": str(made.operation),
        "permission": made.permission,
        "compensation": made.compensation,
        "irreversible": made.irreversible,
        "on_reject": str(made.on_reject),
        "undo_seconds": made.undo_seconds,
        "expires_seconds": made.expires_seconds,
        "time_limit": made.time_limit,
        "editable": list(made.editable),
        "arguments": made.schema,
        "annotations": annotations(made),
        "version": made.version,
    }


def label_in(made: Tool, language: str) -> str:
    """The label in one language, whatever the reader's is."""
    with translation.override(language):
        return str(made.label)
