"""What the loaders share: the company, its people, and the day that the seed's dates are counted from."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from ledger import dates
from ledger.cents import MoneyError
from ledger.models import BusinessModel, Client, Company, Lead, Membership
from ledger.money import parse_money
from ledger.numbering import continue_from

Seed = dict[str, Any]


@dataclass
class World:
    """One demonstration company while it is loaded. `frozen` is the day that the seed calls today."""

    company: Company
    owner: Membership
    frozen: date
    members: dict[str, Membership] = field(default_factory=dict)

    @property
    def today(self) -> date:
        return dates.today(self.company.timezone)

    def day(self, text: str) -> date:
        """A day of the seed, as far from today as it was from the frozen day."""
        return date.fromisoformat(text) + (self.today - self.frozen)

    def moment(self, text: str, hour: int = 9) -> datetime:
        """That day at a full hour of the company's zone; the seed's own time where it names one."""
        day, _t, clock = text.partition("T")
        at = time.fromisoformat(clock[:5]) if clock else time(hour)
        return datetime.combine(self.day(day), at, tzinfo=ZoneInfo(self.company.timezone))

    def member(self, ref: str | None) -> Membership | None:
        return self.members[ref] if ref else None

    def party(self, ref: str) -> Client | Lead:
        """The client or lead that a document of the seed is for."""
        found = Client.objects.filter(ref=ref).first() or Lead.objects.filter(ref=ref).first()
        if found is None:
            raise LookupError(f"the seed names {ref}, which is not there")
        return found


def missing(model: type[BusinessModel], entries: Iterable[Seed]) -> list[Seed]:
    """The entries of the seed that are not loaded yet, in the order of their refs; the trash counts as loaded."""
    there = set(model.objects.values_list("ref", flat=True))
    return sorted((entry for entry in entries if entry["ref"] not in there), key=lambda entry: number_of(entry["ref"]))


def number_of(ref: str) -> int:
    """The number in a ref: 1042 of Q-1042."""
    return int(ref.rpartition("-")[2])


def numbers_go_on(kind: str, entries: Iterable[Seed], start: int = 1) -> None:
    """Let a series go on behind the seed's refs, or at `start` where that is further."""
    continue_from(kind, max([start, *(number_of(entry["ref"]) + 1 for entry in entries)]))


def major(text: str) -> int:
    """Cents of an amount of the seed in major units: "9000" is 900000. Empty is zero."""
    try:
        return parse_money(text) if text else 0
    except MoneyError as wrong:
        raise ValueError(f"the seed has an amount that cannot be read: {text}") from wrong
