"""Which call a piece of a call belongs to (cases H36, H37): servers leave out index, id or both, or reuse
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from assistant.agent.stream import StreamDamaged

LONGEST_NAME: Final = 128
LONGEST_ID: Final = 128


@dataclass(frozen=True, slots=True)
class Piece:
    """What one chunk says about a call."""

    index: int | None
    id: str
    name: str
    arguments: str


@dataclass(slots=True)
class CallSlot:
    """One call while it arrives."""

    index: int | None = None
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    too_large: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def looks_whole(self) -> bool:
        """Whether the arguments so far are one finished JSON value."""
        try:
            json.loads(self.text)
        except (ValueError, RecursionError):
            return False
        return True

    def fill(self, piece: Piece, longest: int) -> None:
        """Keep a piece; beyond the bound the call is marked and its text dropped."""
        self.id = self.id or piece.id
        if piece.name and piece.name != self.name and not self.length:
            self.name = (self.name + piece.name)[:LONGEST_NAME]  # a name in pieces; one sent again is left alone
        self.length += len(piece.arguments)
        if self.length > longest:
            self.too_large = True
            self.pieces.clear()
        elif piece.arguments:
            self.pieces.append(piece.arguments)


@dataclass(slots=True)
class CallSlots:
    """The calls of one reply in the order in which they began."""

    _slots: list[CallSlot] = field(default_factory=list)
    _legacy: CallSlot | None = None

    def __len__(self) -> int:
        return len(self._slots)

    def take(self, delta: dict[str, Any], longest: int) -> Iterator[tuple[int, CallSlot]]:
        """Add a delta's pieces; yield position and slot of each call that begins with it.

        Raises:
            StreamDamaged: a piece has no readable form, so something is missing.
        """
        found = delta.get("tool_calls")
        for item in found if isinstance(found, list) else [found] if isinstance(found, dict) else []:
            piece = _read_piece(item)
            slot = self._slot_of(piece)
            if slot is None:
                yield self._begin(CallSlot(index=piece.index), piece, longest)
            elif not _sent_again(slot, piece):
                slot.fill(piece, longest)
        old_form = delta.get("function_call")
        if isinstance(old_form, dict) and (self._legacy or not self._slots):
            piece = _read_piece({"function": old_form})
            if self._legacy:
                self._legacy.fill(piece, longest)
            else:
                self._legacy = CallSlot()
                yield self._begin(self._legacy, piece, longest)

    def whole(self) -> list[CallSlot]:
        """All calls, without the empty shells that some servers put at the end."""
        return [slot for slot in self._slots if slot.name or slot.length or slot.id]

    def _begin(self, slot: CallSlot, piece: Piece, longest: int) -> tuple[int, CallSlot]:
        self._slots.append(slot)
        slot.fill(piece, longest)
        return len(self._slots) - 1, slot

    def _slot_of(self, piece: Piece) -> CallSlot | None:
        """The call that the piece continues, or None if it begins a new one."""
        candidate = self._latest_with(piece)
        if candidate is None:
            return None
        if not piece.name or not candidate.name:
            return candidate  # a call begins with a name; some servers send a new id with every piece
        if piece.id and piece.id != candidate.id:
            return None  # a new id on a used index (H36)
        if candidate.looks_whole:
            return candidate if _sent_again(candidate, piece) else None  # named again after finished arguments
        if not candidate.length and not piece.id and piece.name != candidate.name and piece.arguments:
            return None  # the last one had no arguments, this is another (H38)
        return candidate

    def _latest_with(self, piece: Piece) -> CallSlot | None:
        if piece.id:
            for slot in reversed(self._slots):
                same_index = piece.index is None or slot.index is None or slot.index == piece.index
                if slot.id == piece.id and same_index:
                    return slot
        if piece.index is not None:
            return next((slot for slot in reversed(self._slots) if slot.index == piece.index), None)
        if not self._slots or (piece.id and piece.name):
            return None
        return self._slots[-1]


def _sent_again(slot: CallSlot, piece: Piece) -> bool:
    """Some servers repeat the finished call at the end, with the same id or index."""
    named_so = piece.name != "" and piece.name == slot.name and (piece.id or piece.index is not None)
    return bool(named_so and piece.id in ("", slot.id) and piece.arguments == slot.text and slot.looks_whole)


def _read_piece(item: Any) -> Piece:
    if not isinstance(item, dict):
        raise StreamDamaged("a tool call in the model's stream is not an object")
    function = item.get("function")
    function = function if isinstance(function, dict) else {}
    index, name, call_id = item.get("index"), function.get("name"), item.get("id")
    return Piece(
        index=index if isinstance(index, int) and not isinstance(index, bool) else None,
        id=_usable_id(call_id),
        name=_clean(name) if isinstance(name, str) else "",
        arguments=_argument_text(function.get("arguments")),
    )


def _usable_id(found: Any) -> str:
    """An id that can be stored and sent back; any other is replaced by one of ours."""
    usable = isinstance(found, str) and found.isascii() and found.isprintable() and len(found) <= LONGEST_ID
    return found.strip() if usable and isinstance(found, str) else ""


def _clean(name: str) -> str:
    return "".join(character if character.isprintable() else "�" for character in name[:LONGEST_NAME])


def _argument_text(found: Any) -> str:
    """Pieces of JSON; servers that parse them first send the object itself."""
    if isinstance(found, str):
        return found
    return "" if found is None else json.dumps(found)
