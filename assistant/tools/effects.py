"""What a tool does to the world, and the level that follows from it. Levels are never written by hand."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum


class Level(IntEnum):
    """L0 runs; L1 one click; L2 full preview; L3 held or typed, fresh login, short reason (product.md, Risk)."""

    RUNS = 0
    CONFIRM = 1
    APPROVE = 2
    STRONG = 3


class Effect(StrEnum):
    VISIBLE = "visible"  # a client sees it
    NOTICE = "notice"  # a plain message to an address on record
    BOOKS = "books"  # changes the books, can be reversed
    DOCUMENT = "document"  # carries price, contract or legal effect
    COMMITMENT = "commitment"  # binds the company
    REMOVAL = "removal"  # restorable
    PERMANENT = "permanent"  # cannot be taken back in our own records
    PERMISSION = "permission"  # who may do what
    BULK = "bulk"  # many records or people at once
    SPENDS = "spends"  # a cost to a third party, up to the tenant's cap
    OVER_CAP = "over_cap"  # a cost beyond that cap
    MONEY_IN = "money_in"  # asks for money
    MONEY_OUT = "money_out"  # money leaves
    PRIVATE = "private"  # exposes private data
    STRANGER = "stranger"  # goes to an address that is not on record


LEVELS: dict[Effect, Level] = {
    Effect.VISIBLE: Level.CONFIRM,
    Effect.NOTICE: Level.CONFIRM,
    Effect.BOOKS: Level.CONFIRM,
    Effect.DOCUMENT: Level.APPROVE,
    Effect.COMMITMENT: Level.APPROVE,
    Effect.REMOVAL: Level.APPROVE,
    Effect.PERMANENT: Level.APPROVE,
    Effect.PERMISSION: Level.APPROVE,
    Effect.BULK: Level.APPROVE,
    Effect.SPENDS: Level.APPROVE,
    Effect.MONEY_IN: Level.APPROVE,
    Effect.STRANGER: Level.APPROVE,
    Effect.OVER_CAP: Level.STRONG,
    Effect.MONEY_OUT: Level.STRONG,
    Effect.PRIVATE: Level.STRONG,
}


def level_of(effects: Iterable[Effect]) -> Level:
    """The highest level that one of the effects asks for; removing many at once is strong."""
    held = frozenset(effects)
    if {Effect.BULK, Effect.REMOVAL} <= held or {Effect.BULK, Effect.PERMANENT} <= held:
        return Level.STRONG
    return max((LEVELS[effect] for effect in held), default=Level.RUNS)
