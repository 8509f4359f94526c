"""`/insight/`: how the company decides on what its assistant asks, in figures that say of how many."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from assistant.doors import plots, wording
from assistant.doors.access import MemberRequest, members_only
from assistant.doors.standing import named_offers
from assistant.insight import advice, metrics
from assistant.insight.advice import Advice, Hint
from assistant.insight.metrics import Line
from assistant.insight.periods import LENGTHS, Period
from ledger import permissions

USUAL = 30


@dataclass(frozen=True)
class Row:
    """A line of a table with its word and, for a tool, the bar of how its cards were judged."""

    word: str
    line: Line
    bar: tuple[plots.Part, ...]


@dataclass(frozen=True)
class Said:
    """A hint in words, with the page that helps."""

    sentence: str
    url: str
    way: str
    warns: bool


@require_safe
@members_only
def insight(request: MemberRequest) -> HttpResponse:
    """`days` is one of LENGTHS; the company's own days count."""
    if not permissions.allowed(request.member, "read_audit"):
        raise Http404
    asked = request.GET.get("days", "")
    days = int(asked) if asked in map(str, LENGTHS) else USUAL
    period = Period.ending_today(days, request.company.timezone)
    report = metrics.report(period.since, period.until, period.zone)
    context: dict[str, Any] = {
        "period": period,
        "lengths": [(length, length == days) for length in LENGTHS],
        "report": report,
        "rates": report.cards,
        "plot": plots.over_time(report.days, period),
        "tools": [_row(wording.tool_label(line.key), line) for line in report.tools],
        "people": [Row(line.name or _("Nobody"), line, ()) for line in report.people],
        "doors": [_row(str(wording.DOORS.get(line.key, line.key)), line) for line in report.doors],
        "hints": [said(hint, days) for hint in advice.hints(report)],
        "offers": named_offers(),
    }
    return render(request, "insight/insight.html", context)


def said(hint: Hint, days: int) -> Said:
    """A hint as a sentence with its figures."""
    tool = wording.tool_label(hint.subject)
    words = {"tool": tool, "name": hint.subject, "count": hint.rate.part, "of": hint.rate.of}
    past = {"tool": hint.subject, "days": days, "all": 1}
    match hint.advice:
        case Advice.SLIPPED:
            sentence = ngettext(
                "%(count)s deed went through and was found wrong afterwards.",
                "%(count)s deeds went through and were found wrong afterwards.",
                hint.rate.part,
            )
            return Said(sentence % words, reverse("chat:review"), _("Look at them"), True)
        case Advice.HASTY:
            sentence = _(
                "%(name)s said yes sooner than a card can be read: %(count)s of %(of)s. A yes without reading "
                "protects nobody: fewer cards, or more time for each, would help."
            )
            return Said(sentence % words, "", "", True)
        case Advice.REJECTED:
            sentence = _("%(tool)s: %(count)s of %(of)s were rejected. Look at what it gets wrong.")
            return Said(sentence % words, _history(past | {"status": "rejected"}), _("See them"), False)
        case Advice.EDITED:
            sentence = _("%(tool)s: %(count)s of %(of)s were changed before they were approved.")
            return Said(sentence % words, _history(past | {"status": "superseded"}), _("See them"), False)
        case Advice.EXPIRED:
            sentence = _("%(tool)s: %(count)s of %(of)s ran out before anybody decided.")
            return Said(sentence % words, _history(past | {"status": "expired"}), _("See them"), False)
        case Advice.FAILED:
            sentence = _("%(tool)s: %(count)s of %(of)s were approved and then not done.")
            return Said(sentence % words, _history(past | {"status": "failed"}), _("See them"), False)


def _row(word: str, line: Line) -> Row:
    cards = line.cards
    return Row(word, line, plots.bar((cards.unedited, cards.edited, cards.rejected)))


def _history(fields: dict[str, Any]) -> str:
    return f"{reverse('chat:inbox_tab', args=['history'])}?{urlencode(fields)}"
