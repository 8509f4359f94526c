"""Events on the wire (H49)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.doors import sse


def read(wire: bytes) -> list[tuple[str, str, str]]:
    """Events as a browser's EventSource reads them: (event, data, last id)."""
    found, event, data, last = [], "", [], ""
    for line in wire.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "" and data:
            found.append((event or "message", "\n".join(data), last))
        if line == "":
            event, data = "", []
        elif name == "event":
            event = value
        elif name == "data":
            data.append(value)
        elif name == "id":
            last = value
    return found


def test_h49_each_line_of_the_data_gets_a_field_of_its_own():
    assert sse.encode("message", "Total:\n- A\r\n- B") == b"event: message\ndata: Total:\ndata: - A\ndata: - B\n\n"
    assert sse.encode("message", "a\n\nb") == b"event: message\ndata: a\ndata: \ndata: b\n\n"
    assert read(sse.encode("message", "Total:\n- A\r\n- B")) == [("message", "Total:\n- A\n- B", "")]


def test_h49_a_line_that_looks_like_a_field_stays_text():
    text = "event: x\nid: 5\nretry: 1\ndata: y\n: z"
    assert read(sse.encode("text", text, "7.12")) == [("text", text, "7.12")]


@given(st.text())
def test_h49_any_text_arrives_as_one_event(text: str):
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    expected = lines.encode("utf-8", "replace").decode()
    assert read(sse.encode("text", text, "1")) == [("text", expected, "1")]


@pytest.mark.parametrize(("event", "event_id"), [("mess\nage", ""), ("", ""), ("text", "1\n2"), ("text", "x")])
def test_names_and_ids_are_ours_only(event: str, event_id: str):
    with pytest.raises(ValueError, match="not an event of ours"):
        sse.encode(event, "x", event_id)


@pytest.mark.parametrize(
    ("last_event_id", "seq"),
    [("17", 17), ("17.250", 17), ("", 0), ("-1", 0), ("x", 0), ("1.2.3", 0), ("9" * 30, 2**63 - 1), ("9" * 99, 0)],
)
def test_a_last_event_id_is_read_or_ignored(last_event_id: str, seq: int):
    assert sse.seq_of(last_event_id) == seq
