"""The arguments of a tool call: text written by a model, read strictly, never repaired (cases H38, H40)."""

from __future__ import annotations

import json
import math
from typing import Any, Final, Literal

Problem = Literal[
    "cut",
    "not_json",
    "not_object",
    "duplicate_keys",
    "bad_number",
    "bad_text",
    "too_deep",
    "too_large",
    "no_name",
]

NOTHING: Final = ("", "null", "[]", '""')
DEEPEST: Final = 32
LONGEST_NUMBER: Final = 18

EXPLANATIONS: Final[dict[Problem, str]] = {
    "cut": "The call was cut by the length limit before it was complete. Send it again, shorter.",
    "not_json": "The arguments are not valid JSON. Send the call again with one JSON object.",
    "not_object": "The arguments must be one JSON object.",
    "duplicate_keys": "The arguments name the same key twice. Send each key once.",
    "bad_number": "The arguments hold a number that cannot be used (NaN, infinite, or too many digits).",
    "bad_text": "The arguments hold characters that cannot be stored (NUL or half of a surrogate pair).",
    "too_deep": "The arguments are nested too deeply.",
    "too_large": "The arguments are too large. Send less in one call.",
    "no_name": "The call names no tool.",
}


class _Refused(ValueError):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem: Problem = problem


def read_arguments(text: str) -> tuple[dict[str, Any] | None, Problem | None]:
    """Return the arguments and no problem, or None and what is wrong with them.

    Nothing, blanks, `null` and an empty list or string mean no arguments (H38). A text that stops in the middle is
    `cut`, whatever the finish reason said (H40 b). Twice the same key, NaN, numbers beyond any use, NUL and lone
    surrogates are refused here, so that no later layer has to meet them.
    """
    if text.strip() in NOTHING:
        return {}, None
    try:
        value = json.loads(
            join_surrogates(text),
            object_pairs_hook=_object,
            parse_float=_float,
            parse_int=_int,
            parse_constant=_constant,
        )
        if not isinstance(value, dict):
            return None, "not_object"
        _check(value)
    except _Refused as refused:
        return None, refused.problem
    except json.JSONDecodeError as error:
        return None, "cut" if _stops_in_the_middle(text, error) else "not_json"
    except RecursionError:
        return None, "too_deep"
    return value, None


def join_surrogates(text: str) -> str:
    """Join the halves of a character that a server split over two chunks; a half that stands alone stays."""
    return (
        text
        if not has_surrogates(text)
        else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    )


def has_surrogates(text: str) -> bool:
    """Whether a half of a surrogate pair stands in `text`: no database and no UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def storable(text: str) -> str:
    """The text with � for what cannot be stored."""
    if has_surrogates(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "�")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _Refused("duplicate_keys")
    return result


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Refused("bad_number")
    return number


def _int(text: str) -> int:
    if len(text.lstrip("-")) > LONGEST_NUMBER:
        raise _Refused("bad_number")
    return int(text)


def _constant(_: str) -> float:
    raise _Refused("bad_number")


def _check(root: dict[str, Any]) -> None:
    """Walk without recursion: depth, and text that PostgreSQL or UTF-8 cannot hold."""
    open_values: list[tuple[Any, int]] = [(root, 1)]
    while open_values:
        value, depth = open_values.pop()
        if depth > DEEPEST:
            raise _Refused("too_deep")
        match value:
            case str():
                _check_text(value)
            case dict():
                for key, inner in value.items():
                    _check_text(key)
                    open_values.append((inner, depth + 1))
            case list():
                open_values.extend((inner, depth + 1) for inner in value)


def _check_text(text: str) -> None:
    if "\x00" in text or has_surrogates(text):
        raise _Refused("bad_text")


def _stops_in_the_middle(text: str, error: json.JSONDecodeError) -> bool:
    if error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip()):
        return True
    return _half_word(text, error) or (error.msg.startswith("Invalid \\") and error.pos > len(text) - 7)


def _half_word(text: str, error: json.JSONDecodeError) -> bool:
    """`{"ok": tru` stops at a literal, which the parser reports at the literal's first letter."""
    rest = text[error.pos :].strip()
    return 0 < len(rest) < 5 and any(word.startswith(rest) for word in ("true", "false", "null", "-"))
