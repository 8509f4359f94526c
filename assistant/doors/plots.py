"""Plots as plain geometry, drawn by a template as SVG: no script, and the figures stand in a table beside each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from assistant.insight.metrics import Cards
from assistant.insight.periods import Period

WIDTH, HEIGHT, GAP = 720, 160, 3
DAYS_APART, WEEKS_APART = 31, 120
"""Up to so many days a column is a day; up to so many a week; beyond, a month."""


@dataclass(frozen=True)
class Part:
    """One piece of a column or bar; `look` is its class."""

    look: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Column:
    """A stretch of days with its figures, in the order of `LOOKS`, and the pieces that draw them."""

    first: date
    last: date
    figures: tuple[int, ...]
    parts: tuple[Part, ...]

    @property
    def total(self) -> int:
        return sum(self.figures)


@dataclass(frozen=True)
class Plot:
    columns: tuple[Column, ...]
    most: int
    width: int = WIDTH
    height: int = HEIGHT


LOOKS = ("is-kept", "is-edited", "is-rejected", "is-other")
"""Approved, by a person or a rule; edited; rejected; everything else."""


def figures_of(cards: Cards) -> tuple[int, int, int, int]:
    other = cards.proposed - cards.approved - cards.edited - cards.rejected
    return (cards.approved, cards.edited, cards.rejected, other)


def over_time(days: Iterable[tuple[date, Cards]], period: Period) -> Plot:
    """A column for each day, week or month of the period, those without a card too."""
    by_day = {day: figures_of(cards) for day, cards in days}
    stretches = list(_stretches(period))
    sums = [_sum(figures for day, figures in by_day.items() if first <= day <= last) for first, last in stretches]
    most = max((sum(one) for one in sums), default=0)
    step = WIDTH // max(1, len(stretches))
    columns = (
        Column(first, last, figures, _stacked(figures, number * step, max(2, step - GAP), most))
        for number, ((first, last), figures) in enumerate(zip(stretches, sums, strict=True))
    )
    return Plot(tuple(columns), most)


def bar(figures: Sequence[int], width: int = WIDTH, height: int = 14) -> tuple[Part, ...]:
    """A bar of full length, divided as the figures are to each other; none of nothing."""
    total, x, parts = sum(figures), 0, []
    for look, end in zip(LOOKS, _running(figures), strict=False):
        upto = width * end // total if total else 0
        if upto > x:
            parts.append(Part(look, x, 0, upto - x, height))
        x = upto
    return tuple(parts)


def _stacked(figures: Sequence[int], x: int, width: int, most: int) -> tuple[Part, ...]:
    below, parts = 0, []
    for look, end in zip(LOOKS, _running(figures), strict=True):
        top = HEIGHT * end // most if most else 0
        if top > below:
            parts.append(Part(look, x, HEIGHT - top, width, top - below))
        below = top
    return tuple(parts)


def _running(figures: Sequence[int]) -> list[int]:
    return [sum(figures[: number + 1]) for number in range(len(figures))]


def _sum(rows: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip((0,) * len(LOOKS), *rows, strict=True)))


def _stretches(period: Period) -> Iterable[tuple[date, date]]:
    """From the last day backwards, so that the newest stretch is whole."""
    if period.days > WEEKS_APART:
        first = period.first
        while first <= period.last:
            following = (first.replace(day=1) + timedelta(days=32)).replace(day=1)
            yield first, min(following - timedelta(days=1), period.last)
            first = following
        return
    length = 1 if period.days <= DAYS_APART else 7
    number = -(-period.days // length)
    for back in range(number - 1, -1, -1):
        last = period.last - timedelta(days=back * length)
        yield max(period.first, last - timedelta(days=length - 1)), last
