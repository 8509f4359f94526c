"""`manage.py tools`: the whole catalogue, true to the declarations, in both languages."""

import inspect
import io
import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from assistant.tools import registry
from assistant.tools.describing import annotations
from assistant.tools.effects import Effect, Level
from tests.processes import Processes

FIELDS = [
    "name",
    "label",
    "description",
    "namespace",
    "level",
    "gated",
    "effects",
    "operation",
    "permission",
    "compensation",
    "irreversible",
    "on_reject",
    "undo_seconds",
    "expires_seconds",
    "time_limit",
    "editable",
    "arguments",
    "annotations",
    "version",
]


@pytest.fixture(scope="module")
def catalogue() -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("tools", "--json", stdout=out)
    found: list[dict[str, Any]] = json.loads(out.getvalue())
    return found


def test_every_tool_is_listed_once_by_name(catalogue: list[dict[str, Any]]) -> None:
    assert [tool["name"] for tool in catalogue] == sorted(registry.TOOLS)
    assert {"send_quote", "search_records"} <= set(registry.TOOLS)


def test_every_entry_is_whole_and_true_to_its_declaration(catalogue: list[dict[str, Any]]) -> None:
    for tool in catalogue:
        made = registry.TOOLS[tool["name"]]
        assert list(tool) == FIELDS
        assert (tool["level"], tool["gated"], tool["version"]) == (made.level, made.gated, made.version)
        assert tool["effects"] == sorted(made.all_effects)
        assert tool["arguments"] == made.schema
        assert all(tool["label"][language].strip() for language in ("en", "pt-br")), tool["name"]


def test_one_entry_to_the_letter(catalogue: list[dict[str, Any]]) -> None:
    (sending,) = [tool for tool in catalogue if tool["name"] == "send_quote"]
    assert sending["label"]["en"] == "Send quote"
    assert sending["description"].startswith("Send the quote PDF and acceptance link to the client")
    assert (sending["namespace"], sending["permission"]) == ("quote_actions", "send_quote")
    assert (sending["level"], sending["effects"], sending["operation"]) == (2, ["document"], "external")
    assert (sending["compensation"], sending["irreversible"]) == ("withdraw_quote", True)
    assert (sending["undo_seconds"], sending["expires_seconds"], sending["time_limit"]) == (10, 600, 30)
    assert sending["editable"] == ["to", "cc", "message"]
    assert sending["arguments"]["required"] == ["quote_ref", "channel"]


HINTS = {
    "list_quotes": (True, False, True, False),
    "list_pending_actions": (True, False, True, False),
    "create_quote": (False, False, False, False),
    "send_email": (False, False, False, True),
    "send_quote": (False, True, False, True),
    "delete_quote": (False, True, False, False),
    "pay_out": (False, True, False, True),
}
NAMES = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@pytest.mark.parametrize("name", HINTS)
def test_hints_follow_from_the_declaration(name: str) -> None:
    assert annotations(registry.TOOLS[name]) == dict(zip(NAMES, HINTS[name], strict=True))


def test_no_tool_that_needs_a_card_says_that_it_only_reads() -> None:
    for made in registry.TOOLS.values():
        hints = annotations(made)
        assert not (made.gated and (hints["readOnlyHint"] or hints["idempotentHint"])), made.name
        assert hints["destructiveHint"] == (made.level >= Level.APPROVE), made.name
        if made.all_effects & {Effect.MONEY_OUT, Effect.STRANGER, Effect.NOTICE, Effect.DOCUMENT, Effect.VISIBLE}:
            assert hints["openWorldHint"], made.name


def test_a_tool_that_declares_nothing_is_the_worst_there_is() -> None:
    silent = registry.Tool(
        name="silent",
        label="Silent",
        description="Says nothing of its effects.",
        namespace="tests",
        permission="view_records",
        arguments=registry.ToolArguments,
        effects=None,
    )
    assert annotations(silent) == dict(zip(NAMES, (False, True, False, True), strict=True))


def test_people_get_a_table() -> None:
    out = io.StringIO()
    call_command("tools", stdout=out)
    lines = out.getvalue().splitlines()
    assert re.split(r"  +", lines[0]) == ["name", "level", "effects", "operation", "permission", "label"]
    assert len(lines) == len(registry.TOOLS) + 1
    (sending,) = [line for line in lines if line.startswith("send_quote ")]
    assert re.split(r"  +", sending) == ["send_quote", "L2", "document", "external", "send_quote", "Send quote"]


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(CommandError, match="unrecognized"):
        call_command("tools", "--yaml")


@pytest.mark.processes
def test_nothing_but_the_list_goes_to_standard_output(database_url: str, processes: Processes) -> None:
    running = processes.run("tools", ["manage.py", "tools", "--json"])
    assert running.popen.wait(60) == 0
    assert [tool["name"] for tool in json.loads(running.output)] == sorted(registry.TOOLS)


def test_a_person_can_answer_in_the_place_of_any_provider() -> None:
    """Who settles an action in doubt gives `provider` and `provider_id`; no tool's record may need more than these."""
    external = [made for made in registry.TOOLS.values() if made.call and "tests" not in made.record.__module__]
    assert len(external) >= 2
    for made in external:
        asked_for = set(re.findall(r"result\[\"(\w+)\"\]", inspect.getsource(made.record)))
        assert asked_for <= {"provider", "provider_id"}, made.name
