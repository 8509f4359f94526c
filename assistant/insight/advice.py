"""What a period's figures suggest to people: as codes with the figures behind them, never as deeds.

Nothing is said of fewer than FEW cases. The doors have the words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from assistant.insight.metrics import Cards, Line, Rate, Report

FEW = 5
OFTEN = 30
"""Percent from which something is said to happen often."""


class Advice(StrEnum):
    """What to look at. Of a tool, but for HASTY (a person) and SLIPPED (all)."""

    HASTY = "hasty"
    SLIPPED = "slipped"
    REJECTED = "rejected"
    EDITED = "edited"
    EXPIRED = "expired"
    FAILED = "failed"


@dataclass(frozen=True)
class Hint:
    """One piece of advice: about whom or what (a tool's name or a person's), and the rate that it rests on."""

    advice: Advice
    subject: str
    rate: Rate


def hints(report: Report) -> list[Hint]:
    """What is worth saying, the gravest first."""
    found = [Hint(Advice.SLIPPED, "", Rate(report.checked.slipped, report.cards.ran))] if report.checked.slipped else []
    found += [Hint(Advice.HASTY, one.name, one.answers.hasty_rate) for one in report.people if _hasty(one)]
    return [*found, *(hint for line in report.tools for hint in _of_tool(line.key, line.cards))]


def _hasty(line: Line) -> bool:
    return _often(line.answers.hasty_rate)


def _of_tool(tool: str, cards: Cards) -> Iterator[Hint]:
    rates = {
        Advice.REJECTED: cards.rejected_rate,
        Advice.EDITED: cards.edited_rate,
        Advice.EXPIRED: cards.expired_rate,
        Advice.FAILED: cards.failed_rate,
    }
    yield from (Hint(advice, tool, rate) for advice, rate in rates.items() if _often(rate))


def _often(rate: Rate) -> bool:
    return rate.of >= FEW and 100 * rate.part >= OFTEN * rate.of
