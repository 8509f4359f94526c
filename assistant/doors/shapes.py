"""What the card templates get: plain values for one reader, ready to be set. cards.py and receipts.py make them."""

import uuid
from dataclasses import dataclass, field

from django.utils.safestring import SafeString

from assistant.doors.questions import Answered
from assistant.doors.wording import Mark, Shown
from assistant.models import OPEN
from assistant.tools.effects import Level

SHORT = frozenset({"date", "datetime", "percent", "count", "ref"})
KEY = frozenset({"email", "ref"})
FIRST = ("total", "amount", "balance", "recipient", "cc", "bcc", "client", "lead", "due_date", "valid_until")
"""What is judged first, in this order; facts with a mark join them."""
OF_THE_FILE = frozenset({"attachment", "pages", "sha256"})
FEW = 6
"""So many facts and fewer all stand in the first place."""


@dataclass(frozen=True)
class CardFact:
    """One line of the card; `before` is the old value where an edit or a change of facts made a new one."""

    name: str
    label: str
    shown: Shown
    marks: tuple[Mark, ...] = ()
    before: Shown | None = None

    @property
    def shape(self) -> str:
        """How the line is set: the sum in large type, short ones beside their label."""
        if self.shown.figure and self.name in ("total", "amount", "balance"):
            return "sum"
        return "short" if self.shown.kind in SHORT else ""

    @property
    def weight(self) -> str:
        return "key" if self.shown.kind in KEY else "num" if self.shown.kind == "money" else ""


@dataclass(frozen=True)
class CardDocument:
    """The file that goes out, exactly these bytes."""

    name: str
    pages: int
    sha256: str
    image_url: str
    file_url: str


@dataclass(frozen=True)
class Label:
    text: str
    strong: bool = False


@dataclass(frozen=True)
class Details:
    """The closed part of a card: what runs, complete."""

    rows: tuple[tuple[str, str | SafeString], ...]
    arguments: tuple[tuple[str, SafeString], ...]
    reason: str


@dataclass(frozen=True)
class Held:
    """A confirmed action that waits to run; `left` seconds of its undo window remain of `whole`."""

    whole: int
    left: float
    at: str


@dataclass(frozen=True)
class Ground:
    """What one person gave with a strong yes: how they showed that it was them, their reason, their evidence."""

    name: str
    how: str
    reason: str
    evidence: str
    file_name: str = ""
    file_url: str = ""


@dataclass(frozen=True)
class Card:
    """Everything the card templates need, for one reader."""

    id: uuid.UUID
    conversation_id: uuid.UUID
    status: str
    look: str
    icon: str
    tag: str
    heading: str
    tool: str
    tool_label: str
    summary: SafeString
    summary_text: str
    digest: str
    url: str
    order: int
    seq: int
    level: int
    lines: tuple[str | SafeString, ...] = ()
    figure: Shown | None = None
    button: str = ""
    expires: str = ""
    expires_iso: str = ""
    facts: tuple[CardFact, ...] = ()
    letter: tuple[CardFact, ...] = ()
    also: tuple[CardFact, ...] = ()
    of_the_file: tuple[CardFact, ...] = ()
    changes: tuple[CardFact, ...] = ()
    consequences: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    document: CardDocument | None = None
    labels: tuple[Label, ...] = ()
    details: Details | None = None
    held: Held | None = None
    receipt: tuple[tuple[str, SafeString], ...] = ()
    message: str = ""
    message_url: str = ""
    stamp: tuple[str, str] | None = None
    note: str = ""
    grounds: tuple[Ground, ...] = ()
    stale: str = ""
    asks: tuple[tuple[str, str], ...] = ()
    answers: tuple[Answered, ...] = ()
    alone: bool = False
    paused: bool = False
    can_decide: bool = False
    can_edit: bool = False
    can_ask_again: bool = False
    compensation: str = ""
    compensated_url: str = ""
    story_url: str = ""
    typed: str = ""
    sign: str = ""
    unsigned: bool = False
    successor_url: str = ""
    announcement: str = ""
    wrong: str = ""
    key: uuid.UUID = field(default_factory=uuid.uuid4)

    @property
    def open(self) -> bool:
        return self.status in OPEN

    @property
    def strong(self) -> bool:
        return self.level >= Level.STRONG and not self.stale

    @property
    def holds(self) -> bool:
        """Whether a held button says yes; whoever decides alone types instead."""
        return self.strong and not self.alone
