"""The approvals inbox: every card that a member may see, under six tabs, decided right there.

The cards are the chat's own, and so are the addresses that take the answers (deciding.py). What is decided here is seen
in the chat and everywhere else within a second, and the other way round (inbox_stream.py).
"""

import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages as flash
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from assistant.doors import inbox_lists, wording
from assistant.doors.access import MemberRequest, members_only, see_other
from assistant.doors.inbox_entries import Entry, entries, lines
from assistant.doors.inbox_lists import (
    CARDS_ON_A_PAGE,
    DAYS,
    LABELS,
    LINES_ON_A_PAGE,
    Filters,
    Place,
    Tab,
    address,
    id_of,
    micros,
    tab_of,
)
from assistant.gate import alerts
from assistant.models import FINAL, Alert, Status
from assistant.tools import registry
from ledger import audit, permissions
from ledger.errors import DomainError
from ledger.models import Membership


@dataclass(frozen=True)
class TabLink:
    tab: Tab
    url: str
    label: str
    number: int | None
    waits: bool
    here: bool


@dataclass(frozen=True)
class AlertLine:
    """An alert that is no action in doubt: what happened, to what, and the form that closes it."""

    id: uuid.UUID
    word: str
    at: str
    summary: SafeString
    url: str


@require_safe
@members_only
def inbox(request: MemberRequest, tab: str = Tab.NEEDS) -> HttpResponse:
    """A tab: `tool`, `who`, `days`, `status` narrow it, `after` goes on. History: `all=1` for heads, `before`."""
    here = tab_of(tab)
    if here is None or not permissions.allowed(request.member, "use_assistant"):
        raise Http404
    filters = Filters.of(request.GET, here, request.member)
    if here == Tab.HISTORY:
        return _page(request, here, filters, **_history(request, filters))
    after = id_of(request.GET.get("after", ""))
    rows = inbox_lists.standing(here, request.member, filters, after=after, size=CARDS_ON_A_PAGE + 1)
    ids = [pk for pk, _seq in rows]
    made = entries(ids[:CARDS_ON_A_PAGE], request.member)
    more = ids[CARDS_ON_A_PAGE - 1] if len(ids) > CARDS_ON_A_PAGE else None
    found = alerts.open_for(request.member) if here == Tab.DOUBT else []
    return _page(
        request,
        here,
        filters,
        entries=made,
        alerts=[_alert(one) for one in found],
        next=address(here, filters, after=more) if more else "",
        first=address(here, filters) if after else "",
        stream=_stream(here, filters, made, after=after, full=more is not None),
    )


@require_POST
@members_only
def handled(request: MemberRequest, alert_id: uuid.UUID) -> HttpResponse:
    """Close an alert with a `note` on what was found."""
    if not permissions.allowed(request.member, "reconcile_action"):
        raise Http404
    try:
        alerts.handle(alert_id, by=request.member, note=request.POST.get("note", ""))
    except DomainError as error:
        flash.error(request, error.sentence)
    else:
        flash.success(request, _("It is handled, and your note is on record."))
    return see_other("chat:inbox_tab", Tab.DOUBT)


def _history(request: MemberRequest, filters: Filters) -> dict[str, Any]:
    before = Place.of(request.GET.get("before", ""))
    places = inbox_lists.ended(request.member, filters, before=before, size=LINES_ON_A_PAGE + 1)
    shown = places[:LINES_ON_A_PAGE]
    if filters.everyone:
        audit.record("history.read", by=request.member, filters=filters.fields, cards=len(shown))
    last = shown[-1] if len(places) > LINES_ON_A_PAGE else None
    older = address(Tab.HISTORY, filters, before=last) if last else ""
    return {
        "lines": lines(shown, request.member),
        "older": older,
        "first": address(Tab.HISTORY, filters) if before else "",
        "stream": _stream(Tab.HISTORY, filters, [], after=last.pk if before and last else None),
        "may_see_all": permissions.allowed(request.member, "read_all_actions"),
        "own_url": address(Tab.HISTORY, Filters(filters.tool, filters.who, filters.days, filters.status)),
        "all_url": address(
            Tab.HISTORY, Filters(filters.tool, filters.who, filters.days, filters.status, everyone=True)
        ),
    }


def _page(request: MemberRequest, here: Tab, filters: Filters, **more: Any) -> HttpResponse:
    number, waits = inbox_lists.counts(request.member), inbox_lists.wait_for(request.member)
    context = {
        "tab": here,
        "tabs": [
            TabLink(one, address(one, Filters()), str(LABELS[one]), number.get(one), one in waits, one == here)
            for one in Tab
        ],
        "filters": filters,
        "clear": address(here, Filters(everyone=filters.everyone)),
        "tools": sorted(((made.name, str(made.label)) for made in registry.TOOLS.values() if made.gated), key=_second),
        "people": list(Membership.objects.order_by("name").values_list("pk", "name")),
        "days": DAYS,
        "statuses": [(str(one), str(one.label)) for one in Status if one in FINAL] if here == Tab.HISTORY else [],
        "reasons": wording.REASONS,
        **more,
    }
    return render(request, "inbox/inbox.html", context)


def _second(pair: tuple[str, str]) -> str:
    return pair[1].casefold()


def _stream(tab: Tab, filters: Filters, made: list[Entry], *, after: uuid.UUID | None, full: bool = False) -> str:
    """The address of the page's event stream, which says what the page shows."""
    fields = {
        "tab": str(tab),
        **filters.fields,
        "after": str(after or ""),
        "full": "1" if full else "",
        "at": str(micros(timezone.now())),
        "shown": ",".join(entry.shown for entry in made),
    }
    return f"{reverse('chat:inbox_events')}?{urlencode({name: text for name, text in fields.items() if text})}"


def _alert(alert: Alert) -> AlertLine:
    action = alert.action
    return AlertLine(
        id=alert.pk,
        word=alerts.word(alert.kind),
        at=wording.moment(alert.raised_at),
        summary=wording.shown_text(action.summary) if action else SafeString(""),
        url=reverse("chat:action", args=[action.conversation_id, action.pk]) if action else "",
    )
