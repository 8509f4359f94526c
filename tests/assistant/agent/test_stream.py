"""Server-sent events from bytes, whatever the network does to them."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent.stream import EventDecoder, ServerEvent, StreamDamaged, StreamTooLarge


def decoded(chunks: list[bytes]) -> list[ServerEvent]:
    decoder = EventDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)] + decoder.close()


STREAM = (
    "\ufeffdata: first\r\n\r\n"
    ": comment\n"
    "event: named\rdata:two\rdata: lines\r\r"
    "data\n\n"
    "id: 7\ndata:  é✓🏠\n\n\n\n"
    "unknown: x\n\n"
    "data: last without an end"
).encode()
EVENTS = [
    ServerEvent("message", "first"),
    ServerEvent("named", "two\nlines"),
    ServerEvent("message", ""),
    ServerEvent("message", " é✓🏠"),
    ServerEvent("message", "last without an end"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_where_the_network_cuts_changes_nothing(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    chunks = [STREAM[start:end] for start, end in itertools.pairwise(places)]
    assert decoded(chunks) == EVENTS


@given(st.binary(max_size=400))
def test_no_bytes_raise_anything_but_damage(noise: bytes) -> None:
    with contextlib.suppress(StreamDamaged):
        decoded([noise])


def test_a_long_line_is_refused_before_it_is_whole() -> None:
    decoder = EventDecoder(longest_event=1000)
    with pytest.raises(StreamTooLarge):
        for _ in range(20):
            decoder.feed(b"x" * 100)


def test_a_long_event_of_short_lines_is_refused() -> None:
    decoder = EventDecoder(longest_event=1000)
    with pytest.raises(StreamTooLarge):
        for _ in range(20):
            decoder.feed(b"data: " + b"x" * 100 + b"\n")
