"""Every tool and every job of the gate, loaded once at the start of each process."""

import importlib
import pkgutil

from django.utils import translation

import assistant.tools
from assistant.gate import closing, escalation, execution, fence, freshness, reconciliation
from assistant.tools import registry
from ledger import permissions

JOB_MODULES = (closing, escalation, execution, fence, freshness, reconciliation)
LANGUAGES = ("en", "pt-br")


def load() -> list[str]:
    """Import the tool modules; returns what is wrong with any of them, as "tool: what it lacks"."""
    for module in pkgutil.iter_modules(assistant.tools.__path__):
        importlib.import_module(f"assistant.tools.{module.name}")
    return [f"{made.name}: {problem}" for made in registry.TOOLS.values() for problem in problems(made)]


def problems(made: registry.Tool) -> list[str]:
    """What a tool lacks to be offered."""
    lacks = registry.incomplete(made)
    if made.permission not in permissions.TABLE:
        lacks.append(f"a known permission ({made.permission})")
    if made.gated:
        for language in LANGUAGES:
            with translation.override(language):
                if not str(made.label).strip():
                    lacks.append(f"a label in {language}")
    return lacks
