"""The endpoint accepts what the strictest of its kind accept, and nothing else (R9)."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.agent.rehearsal.protocol import refusal


def call(call_id: str = "c1", name: str = "list_leads", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


USER = {"role": "user", "content": "hi"}


def reply(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "{}"}


GOOD: list[list[dict[str, Any]]] = [
    [USER],
    [{"role": "system", "content": "x"}, USER],
    [USER, reply(call()), result()],
    [USER, reply(call("a"), call("b")), result("b"), result("a"), {"role": "developer", "content": "x"}, USER],
    [USER, {"role": "assistant", "content": "ok"}, USER],
    [USER, reply(call()), result(), reply(call()), result()],
    [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
]
BAD: list[tuple[list[dict[str, Any]], str]] = [
    ([], "at least one"),
    ([{"role": "owner", "content": "x"}], "role"),
    ([{"role": "user"}], "content"),
    ([{"role": "assistant", "content": None}], "content"),
    ([USER, reply(call())], "did not have response"),
    ([USER, reply(call()), USER], "must be followed"),
    ([USER, reply(call("a"), call("b")), result("a"), USER], "b"),
    ([USER, result()], "must answer"),
    ([USER, reply(call()), result(), result()], "must answer"),
    ([USER, reply(call(), call()), result()], "id of its own"),
    ([USER, reply(call(name="list leads")), result()], "does not match"),
    ([USER, reply(call(name="x" * 65)), result()], "does not match"),
    ([USER, reply(call(arguments="{")), result()], "not JSON"),
    ([USER, reply(call(arguments=None)), result()], "not JSON"),
    ([USER, reply(call(arguments="[]")), result()], "not an object"),
]


@pytest.mark.parametrize("messages", GOOD)
def test_a_valid_history_is_accepted(messages: list[dict[str, Any]]) -> None:
    assert refusal({"model": "m", "messages": messages}) is None


@pytest.mark.parametrize(("messages", "part"), BAD)
def test_a_broken_history_is_refused_with_the_reason(messages: list[dict[str, Any]], part: str) -> None:
    assert part in str(refusal({"model": "m", "messages": messages}))


@pytest.mark.parametrize("body", [None, [], {}, {"model": "", "messages": [USER]}, {"model": "m"}])
def test_what_is_no_request_is_refused(body: Any) -> None:
    assert refusal(body) is not None


@pytest.mark.parametrize(
    ("tools", "accepted"),
    [
        ([{"type": "function", "function": {"name": "a"}}], True),
        ([], False),
        ([{"type": "function", "function": {"name": "a b"}}], False),
        ([{"type": "function", "function": {"name": "a"}}] * 2, False),
        ([{"type": "function", "function": {"name": "a", "parameters": {"type": "string"}}}], False),
        ([{"name": "a"}], False),
    ],
)
def test_tools_have_their_form(tools: list[Any], accepted: bool) -> None:
    assert (refusal({"model": "m", "messages": [USER], "tools": tools}) is None) is accepted
