"""Server-sent events as the HTML standard writes them (H49)."""

import re

_LINE_END = re.compile(r"\r\n|\r|\n")
_NAME = re.compile(r"[a-z]+")
_ID = re.compile(r"[0-9]+(\.[0-9]+)?")


def encode(event: str, data: str, event_id: str = "") -> bytes:
    """One event. Each line of the data gets a field of its own, so no text can end it or forge another field.

    Raises ValueError for a name or an id that is not ours: both are made by this program only.
    """
    if not _NAME.fullmatch(event) or (event_id and not _ID.fullmatch(event_id)):
        raise ValueError(f"not an event of ours: {event!r} {event_id!r}")
    head = f"id: {event_id}\nevent: {event}\n" if event_id else f"event: {event}\n"
    body = "".join(f"data: {line}\n" for line in _LINE_END.split(data))
    return f"{head}{body}\n".encode("utf-8", "replace")


def comment(words: str) -> bytes:
    """A line that keeps the connection open and that nobody reads."""
    return f": {_LINE_END.sub(' ', words)}\n\n".encode()


def retry(milliseconds: int) -> bytes:
    """How long a reader waits before it connects again."""
    return f"retry: {milliseconds}\n\n".encode()


def seq_of(last_event_id: str) -> int:
    """The change up to which a reader has seen everything; 0 for what is not an id of ours."""
    if not _ID.fullmatch(last_event_id) or len(last_event_id) > 40:
        return 0
    return min(int(last_event_id.partition(".")[0]), 2**63 - 1)
