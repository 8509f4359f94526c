"""`/audit/`: every event of the company, newest first, and whether the chain stands."""

import uuid
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from assistant.doors import wording
from assistant.doors.access import MemberRequest, members_only
from assistant.doors.record import evidence, subjects
from assistant.doors.record.subjects import Subject
from ledger import chain, permissions, record_words, recorded
from ledger.chain import ChainState
from ledger.models import AuditEvent, AuditLink, ChainCheck, Membership
from ledger.recorded import Wanted

LATE = timedelta(days=2)
SELECTED, NOT_SELECTED = SafeString(" selected"), SafeString("")
OPTION = '<option value="{}"{}>{}</option>'
MOST_VALUES = 60
LONGEST = 2000


@dataclass(frozen=True)
class Line:
    """One event of the list; `details` are the lines of what it says, `seq` its place in the chain.

    Both they and the form's choices are joined here: as loops of a template they would be most of the page's time.
    """

    id: uuid.UUID
    at: str
    at_iso: str
    word: str
    kind: str
    who: str
    subject: Subject
    door: str
    address: str
    erased: bool
    details: SafeString
    seq: int | None


@dataclass(frozen=True)
class Standing:
    """Whether the chain stands, in a sentence; `look` is "", "is-done" or "is-wrong"."""

    sentence: str
    look: str
    since: str = ""


@dataclass(frozen=True)
class Filters:
    """The fields of the form as they stand in the address."""

    kind: str = ""
    who: str = ""
    subject: str = ""
    first: str = ""
    last: str = ""

    def __bool__(self) -> bool:
        return any((self.kind, self.who, self.subject, self.first, self.last))


@require_safe
@members_only
def events(request: MemberRequest) -> HttpResponse:
    """`kind` (a noun or a kind), `who` (a member), `subject` (a ref or an id), `first` and `last` (days), `after`."""
    if not permissions.allowed(request.member, "read_audit"):
        raise Http404
    filters = _filters(request.GET)
    wanted = _wanted(filters)
    found = recorded.newest(wanted, request.GET.get("after", "")) if wanted else recorded.Found()
    names = subjects.named({event.subject_id for event in found.events if event.subject_id})
    context = {
        "lines": [line(event, found.links.get(event.pk), names) for event in found.events],
        "older": found.older,
        "filters": filters,
        "kinds": _choices(filters.kind),
        "people": list(Membership.objects.order_by("name").values_list("pk", "name")),
        "standing": standing(ChainCheck.objects.first(), chain.head().seq),
        "may_export": permissions.allowed(request.member, "export_audit"),
        "may_erase": permissions.allowed(request.member, "erase_audit"),
        "settles": permissions.allowed(request.member, "reconcile_action"),
    }
    return render(request, "audit/list.html", context)


def line(event: AuditEvent, link: AuditLink | None, names: dict[uuid.UUID, Subject]) -> Line:
    """An event as a person reads it."""
    named = names.get(event.subject_id) if event.subject_id else None
    return Line(
        id=event.pk,
        at=f"{date_format(timezone.localtime(event.at), 'SHORT_DATE_FORMAT')} {wording.clock(event.at, seconds=True)}",
        at_iso=event.at.isoformat(),
        word=record_words.word(event.kind),
        kind=event.kind,
        who=evidence.who(event),
        subject=named or Subject(""),
        door=evidence.door(event.door),
        address=event.address,
        erased=event.erased_by is not None,
        details=_details(event, link),
        seq=link.seq if link else None,
    )


def _details(event: AuditEvent, link: AuditLink | None) -> SafeString:
    rows = [
        (_("Kind"), format_html("<code>{}</code>", event.kind)),
        *_values(event),
        (_("Id"), format_html("<code>{}</code>", event.pk)),
        (_("Hash of its link"), format_html("<code>{}</code>", link.hash if link else "–")),
    ]
    return format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", rows)


def standing(check: ChainCheck | None, head: int) -> Standing:
    """What the last whole reading of the chain found, and how long ago."""
    if check is None or check.checked_at is None:
        return Standing(_("The chain has not been read yet; it is read every night."), "")
    state, at = ChainState(check.length, check.bad_seq, check.problem), wording.moment(check.checked_at)
    if not state.whole:
        words = {"seq": state.bad_seq, "problem": record_words.problem(state.problem), "at": at}
        return Standing(_("The chain breaks at link %(seq)s: %(problem)s. Found at %(at)s.") % words, "is-wrong")
    words = {"length": state.length, "at": at}
    whole = _("The chain is whole up to link %(length)s, checked at %(at)s.") % words
    if timezone.now() - check.checked_at > LATE:
        late = _("It should have been read since; the operator's worker may be down.")
        return Standing(f"{whole} {late}", "")
    newer = max(0, head - state.length)
    since = ngettext("%(count)s event since then.", "%(count)s events since then.", newer) % {"count": newer}
    return Standing(whole, "is-done", since)


def _filters(query: Any) -> Filters:
    given = {name: query.get(name, "").replace("\x00", "").strip()[:80] for name in Filters.__dataclass_fields__}
    return Filters(**given | {"kind": given["kind"] if record_words.kinds_of(given["kind"]) else ""})


def _wanted(filters: Filters) -> Wanted | None:
    """What the form asks for; None where its subject names nothing, so that nothing can be found."""
    subject = subjects.find(filters.subject) if filters.subject else None
    if filters.subject and subject is None:
        return None
    since, until = recorded.days(_day(filters.first), _day(filters.last), timezone.get_current_timezone_name())
    return Wanted(record_words.kinds_of(filters.kind), _id(filters.who), subject, since, until)


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1970 < day.year < 9999 else None


def _id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _choices(chosen: str) -> SafeString:
    """Each noun with its kinds, as the options of the form."""
    by_noun: dict[str, list[tuple[str, str]]] = {noun: [] for noun in record_words.NOUNS}
    for kind, label in record_words.KINDS.items():
        by_noun[record_words.noun_of(kind)].append((kind, str(label)))
    groups = []
    for noun, kinds in by_noun.items():
        heading = str(record_words.NOUNS[noun])
        whole = (noun, _("%(label)s: all") % {"label": heading})
        groups.append((heading, format_html_join("", OPTION, (_option(*one, chosen) for one in (whole, *kinds)))))
    return format_html_join("", '<optgroup label="{}">{}</optgroup>', groups)


def _option(value: str, label: str, chosen: str) -> tuple[str, SafeString, str]:
    return value, SELECTED if value == chosen else NOT_SELECTED, label


def _values(event: AuditEvent) -> list[tuple[str, SafeString]]:
    flat = list(wording.flattened(event.told)) if event.told else []
    rows = [(path, wording.shown_text(text[:LONGEST], lines=True)) for path, text in flat[:MOST_VALUES]]
    return rows if len(flat) <= MOST_VALUES else [*rows, ("…", wording.shown_text(str(len(flat) - MOST_VALUES)))]
