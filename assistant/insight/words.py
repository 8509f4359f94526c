"""Rates and stretches of time as people read them, in the language in force."""

from django.utils.translation import gettext as _

from assistant.insight.metrics import Rate


def rate(found: Rate) -> str:
    """`3 of 5 (60%)`; a dash of nothing."""
    if found.percent is None:
        return "–"
    return _("%(count)s of %(of)s (%(percent)s%%)") % {"count": found.part, "of": found.of, "percent": found.percent}


def lasted(seconds: int | None) -> str:
    """A stretch of time as short as it can be read: `42 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`."""
    if seconds is None:
        return "–"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        return _("%(days)s d %(hours)s h") % {"days": days, "hours": hours % 24}
    if hours:
        return _("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes % 60}
    if minutes:
        return _("%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": seconds % 60}
    return _("%(seconds)s s") % {"seconds": seconds}
