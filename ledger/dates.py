"""Days and times: a company's day, strict reading, no day that does not exist, no hour that happens twice.

Instants are stored in UTC; "today", due and overdue are days in the company's zone (H25).
"""

import re
from calendar import monthrange
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel import dates as babel_dates
from django.utils.translation import gettext as _

from ledger.errors import DomainError
from ledger.locales import babel_locale

_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_SLASHED = re.compile(r"([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})")
_LOCAL_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}):([0-9]{2})")


class DateError(DomainError, ValueError):
    """A day or an hour that cannot be read, or does not exist."""


class DateOrder(StrEnum):
    """The order in which a text or a column of a file writes day, month and year."""

    YEAR_MONTH_DAY = "ymd"
    MONTH_DAY_YEAR = "mdy"
    DAY_MONTH_YEAR = "dmy"


def zone(name: str) -> ZoneInfo:
    """The IANA zone of that name. Raises DateError for an unknown one."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as unknown:
        raise DateError("UNKNOWN_ZONE", _("There is no time zone of that name."), zone=name) from unknown


def today(zone_name: str, now: datetime | None = None) -> date:
    """The day it is in that zone, now or at the given aware instant."""
    return _aware(now or datetime.now(UTC)).astimezone(zone(zone_name)).date()


def days_overdue(due: date, zone_name: str, now: datetime | None = None) -> int:
    """How many days past its due day, by the company's day; 0 on that day and before (H25)."""
    return max((today(zone_name, now) - due).days, 0)


def is_overdue(due: date, zone_name: str, now: datetime | None = None) -> bool:
    """Whether the due day has passed in the company's zone."""
    return days_overdue(due, zone_name, now) > 0


def is_open(valid_until: date, zone_name: str, now: datetime | None = None) -> bool:
    """Whether something valid through that day still is: the whole last day counts."""
    return today(zone_name, now) <= valid_until


def valid_through(start: date, days: int) -> date:
    """The last day of something valid for so many days after `start`."""
    return _moved(start, days)


def day_ends(day: date, zone_name: str) -> datetime:
    """The instant (UTC) at which the day is over in that zone.

    Where a clock change skips midnight this is the change itself; where midnight comes twice, the first one.
    """
    return datetime.combine(_moved(day, 1), time.min, zone(zone_name)).astimezone(UTC)


def month_after(first: date, months: int) -> date:
    """The day so many months after `first`, clamped to the month's end; `first` stays the anchor (H23)."""
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise DateError("DATE_OUT_OF_RANGE", _("That date is too far away."))
    return date(year, month + 1, min(first.day, monthrange(year, month + 1)[1]))


def parse_iso(text: str) -> date:
    """The day written YYYY-MM-DD, and nothing else. Raises DateError, also for a missing day (H13)."""
    match = _ISO.fullmatch(text)
    if match is None:
        raise DateError("DATE_FORM", _("Write the date like 2026-12-31."), text=text[:40])
    return _day(text, *match.groups())


def parse_date(text: str, locale: str) -> date:
    """The day written as ISO, or in the locale's order with a four-digit year (12/31/2026, 31/12/2026).

    The order is the locale's alone: 31/12/2026 is refused in en-US, never turned round. Raises DateError.
    """
    text = text.strip()
    if _ISO.fullmatch(text):
        return parse_iso(text)
    return parse_in_order(text, locale_order(locale))


def locale_order(locale: str) -> DateOrder:
    """The order in which the locale writes a date in digits."""
    pattern = babel_locale(locale).date_formats["short"].pattern.lower()
    letters = "".join(dict.fromkeys(letter for letter in pattern if letter in "ymd"))
    return DateOrder(letters)


def column_order(texts: Iterable[str]) -> DateOrder | None:
    """The one order that reads every date of a column, or None when several do and a person has to say (H14).

    Raises DateError when no order reads them all.
    """
    filled = [text.strip() for text in texts if text.strip()]
    matches = [(text, _ISO.fullmatch(text) or _SLASHED.fullmatch(text)) for text in filled]
    orders = [order for order in DateOrder if all(_reads(text, match, order) for text, match in matches)]
    if not orders:
        raise DateError("DATE_COLUMN", _("No order of day and month reads every date of that column."))
    return orders[0] if len(orders) == 1 else None


def parse_in_order(text: str, order: DateOrder) -> date:
    """A date in digits read in that order, as found for a whole column. Raises DateError."""
    text = text.strip()
    match = (_ISO if order is DateOrder.YEAR_MONTH_DAY else _SLASHED).fullmatch(text)
    if match is None:
        sentence = _("Write the date with day, month and a four-digit year.")
        raise DateError("DATE_FORM", sentence, text=text[:40])
    return _ordered(text, match, order)


def parse_local_time(text: str, zone_name: str) -> datetime:
    """The instant (UTC) of a wall time YYYY-MM-DDTHH:MM in that zone; refuses as `at_wall_time` does."""
    match = _LOCAL_TIME.fullmatch(text)
    if match is None or not (int(match[2]) < 24 and int(match[3]) < 60):
        raise DateError("TIME_FORM", _("Write date and time like 2026-12-31T14:30."), text=text[:40])
    return at_wall_time(datetime.combine(parse_iso(match[1]), time(int(match[2]), int(match[3]))), zone_name)


def at_wall_time(wall: datetime, zone_name: str) -> datetime:
    """The instant (UTC) at which that zone's clocks show `wall` (naive).

    Raises DateError where a clock change skips that time or shows it twice; `candidates` then holds the two
    instants that may be meant, in ISO form with their offsets.
    """
    place = zone(zone_name)
    first, second = (wall.replace(tzinfo=place, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first.astimezone(UTC)
    both = sorted(moment.astimezone(UTC).astimezone(place) for moment in (first, second))
    candidates = [moment.isoformat(timespec="minutes") for moment in both]
    if _exists(first):
        sentence = _("The clocks go back then, so that time comes twice: say which one.")
        raise DateError("LOCAL_TIME_TWICE", sentence, candidates=candidates)
    sentence = _("The clocks go forward then, so that time does not exist: say which one is meant.")
    raise DateError("LOCAL_TIME_SKIPPED", sentence, candidates=candidates)


def format_date(day: date, locale: str, length: str = "medium") -> str:
    """The day as people read it. `length` is Babel's short, medium, long or full (with the weekday, H12)."""
    return str(babel_dates.format_date(day, length, locale=babel_locale(locale)))


def format_datetime(moment: datetime, zone_name: str, locale: str, length: str = "medium") -> str:
    """The instant as people in that zone read it, to the minute, with Babel's no-break spaces."""
    local = _aware(moment).astimezone(zone(zone_name))
    day = babel_dates.format_date(local.date(), length, locale=babel_locale(locale))
    clock = babel_dates.format_time(local, "short", tzinfo=local.tzinfo, locale=babel_locale(locale))
    pattern = str(babel_locale(locale).datetime_formats["medium"])
    return pattern.replace("{0}", clock).replace("{1}", day)


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("an instant needs its zone")
    return moment


def _moved(day: date, days: int) -> date:
    try:
        return day + timedelta(days=days)
    except OverflowError as beyond:
        raise DateError("DATE_OUT_OF_RANGE", _("That date is too far away.")) from beyond


def _day(text: str, year: str, month: str, day: str) -> date:
    try:
        return date(int(year), int(month), int(day))
    except ValueError as missing:
        sentence = _("There is no day %(date)s.") % {"date": text}
        raise DateError("NO_SUCH_DAY", sentence, date=text) from missing


def _ordered(text: str, match: re.Match[str], order: DateOrder) -> date:
    if order is DateOrder.YEAR_MONTH_DAY:
        return _day(text, *match.groups())
    first, _separator, second, year = match.groups()
    month, day = (first, second) if order is DateOrder.MONTH_DAY_YEAR else (second, first)
    return _day(text, year, month, day)


def _reads(text: str, match: re.Match[str] | None, order: DateOrder) -> bool:
    if match is None or (match.re is _ISO) != (order is DateOrder.YEAR_MONTH_DAY):
        return False
    try:
        _ordered(text, match, order)
    except DateError:
        return False
    return True


def _exists(moment: datetime) -> bool:
    there = moment.astimezone(UTC).astimezone(moment.tzinfo)
    return there.replace(tzinfo=None) == moment.replace(tzinfo=None)
