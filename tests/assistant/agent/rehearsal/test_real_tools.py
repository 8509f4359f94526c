"""What the rehearsal model calls, the product's own tools take."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.tools import registry
from tests.assistant.agent.rehearsal.test_office_work import ENGLISH, PORTUGUESE

CALLS = [(name, arguments) for _, calls in ENGLISH + PORTUGUESE for name, arguments in calls]


def test_the_corpus_calls_most_of_the_tools() -> None:
    assert len({name for name, _ in CALLS} & set(registry.TOOLS)) >= 12


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_the_arguments_fit_the_tools_own_schema(name: str, arguments: dict[str, Any]) -> None:
    """Tools that are not declared yet have nothing to hold the call against."""
    tool = registry.get(name)
    if tool is not None:
        tool.arguments.model_validate(arguments)
