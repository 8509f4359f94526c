"""The stretches of time that figures are asked for: whole days of a company's zone, ending with today."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from ledger import dates

LENGTHS = (7, 30, 90, 365)


@dataclass(frozen=True)
class Period:
    """From the first instant of `first` to the last of `last`, by the clocks of `zone`."""

    first: date
    last: date
    zone: str

    @classmethod
    def ending_today(cls, days: int, zone: str, now: datetime | None = None) -> "Period":
        last = dates.today(zone, now)
        return cls(last - timedelta(days=days - 1), last, zone)

    @property
    def since(self) -> datetime:
        return datetime.combine(self.first, time(), ZoneInfo(self.zone))

    @property
    def until(self) -> datetime:
        """The first instant that is no part of it."""
        return dates.day_ends(self.last, self.zone)

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1
