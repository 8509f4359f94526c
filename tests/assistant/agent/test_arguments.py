"""Arguments are read strictly (H38, H40, fault 26): a problem is named, nothing is repaired, nothing raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent.arguments import EXPLANATIONS, read_arguments


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ("  \n", {}),
        ("null", {}),
        ("{}", {}),
        (' {"a": 1, "b": [true, null, 1.5, "ç"]} ', {"a": 1, "b": [True, None, 1.5, "ç"]}),
        ('{"a": "\\ud83c\\udfe0"}', {"a": "🏠"}),
        ('{"a": "\ud83c\udfe0"}', {"a": "🏠"}),
        ('{"n": 999999999999999999}', {"n": 999999999999999999}),
        ('{"__proto__": {"x": 1}}', {"__proto__": {"x": 1}}),
    ],
)
def test_what_is_whole_is_read(text: str, arguments: dict[str, Any]) -> None:
    assert read_arguments(text) == (arguments, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"id": 42, "to": ["a@exam', "cut"),
        ('{"id": 42', "cut"),
        ('{"id": ', "cut"),
        ('{"id', "cut"),
        ("{", "cut"),
        ('{"ok": tru', "cut"),
        ('{"n": -', "cut"),
        ('{"a": "x\\', "cut"),
        ('{"a": "x\\u00', "cut"),
        ('{"a": [1, {"b": 2}', "cut"),
        ("not json", "not_json"),
        ("{'a': 1}", "not_json"),
        ('{"a": 1} trailing', "not_json"),
        ("{}{}", "not_json"),
        ('{"a": 1,}', "not_json"),
        ("[1]", "not_object"),
        ('"{}"', "not_object"),
        ("7", "not_object"),
        ("true", "not_object"),
        ('{"ref": "Q-1", "ref": "Q-2"}', "duplicate_keys"),
        ('{"a": {"b": 1, "b": 1}}', "duplicate_keys"),
        ('{"n": NaN}', "bad_number"),
        ('{"n": -Infinity}', "bad_number"),
        ('{"n": 1e400}', "bad_number"),
        ('{"n": ' + "9" * 5000 + "}", "bad_number"),
        ('{"t": "a\\u0000b"}', "bad_text"),
        ('{"t": "\\ud800"}', "bad_text"),
        ('{"t": "\ud800"}', "bad_text"),
        ('{"\\udfff": 1}', "bad_text"),
        ('{"a": ' * 40 + "1" + "}" * 40, "too_deep"),
        ('{"a": ' * 10_000 + "1" + "}" * 10_000, "too_deep"),
        ('{"a": ' + "[" * 10_000 + "]" * 10_000 + "}", "too_deep"),
    ],
)
def test_what_is_not_is_named(text: str, problem: str) -> None:
    assert read_arguments(text) == (None, problem)
    assert EXPLANATIONS[problem]  # type: ignore[index]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('abç"\\ ', max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abc", min_size=1), values, min_size=1), st.data())
def test_no_true_beginning_of_arguments_is_ever_read_as_whole(found: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(found)
    cut = data.draw(st.integers(1, len(text) - 1))
    arguments, problem = read_arguments(text[:cut])
    assert arguments is None
    assert problem in ("cut", "bad_text")


@given(st.text())
def test_no_text_raises(text: str) -> None:
    arguments, problem = read_arguments(text)
    assert (arguments is None) is (problem is not None)
