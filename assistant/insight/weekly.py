"""The weekly letter: on Monday morning, to each owner, what the company's record says of the week that is over.

One letter for each week and owner, whatever happened to the worker meanwhile: it is sent when the worker is back, and
weeks that went by altogether are not made up for. The company's settings turn it off (`weekly_letter`).
"""

import uuid
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from assistant.insight import advice, metrics
from assistant.insight.metrics import Report
from assistant.insight.periods import Period
from assistant.insight.words import lasted, rate
from assistant.models import OPEN, Alert, PendingAction, SpotCheck, Status
from assistant.tools import registry
from ledger import company_settings, dates, jobs, reader, regular, tenancy
from ledger.actions import staff_mail
from ledger.actions.staff_mail import Words
from ledger.models import Company, Membership, Role, StaffNotice

KIND = "weekly_letter"
NOTICE = "weekly"
HOUR, MONDAY = 7, 0
LATEST = timedelta(days=5)
"""After so long a letter on the week before says nothing that anybody waits for."""


@regular.job(KIND)
def write_weekly(tenant_id: uuid.UUID, company_id: uuid.UUID) -> None:
    """Promise each owner the letter on last week, if its hour has come, and oneself the next Monday."""
    now = timezone.now()
    with tenancy.tenant(tenant_id):
        company = Company.objects.get(pk=company_id)
        following = regular.next_time(company.pk, company.timezone, now, hour=HOUR, weekday=MONDAY)
        last = following - timedelta(days=7)
        if last <= now < last + LATEST and company.created_at < last:
            send(company, week_before(last, company.timezone))
        jobs.later(KIND, company_id, at=following)


def week_before(monday: datetime, zone: str) -> Period:
    """The seven days that ended before that Monday."""
    first = dates.today(zone, monday) - timedelta(days=7)
    return Period(first, first + timedelta(days=6), zone)


def send(company: Company, week: Period) -> int:
    """Promise the letters on that week to whoever has not been told of it. Returns how many."""
    if not company.active or not company_settings.current_settings().values.weekly_letter:
        return 0
    about = uuid.uuid5(company.pk, week.first.isoformat())
    owners = Membership.objects.filter(role=Role.OWNER, active=True).order_by("pk")
    return sum(staff_mail.notify(owner, NOTICE, about, first=week.first.isoformat()) for owner in owners)


@staff_mail.words_of(NOTICE)
def words(notice: StaffNotice) -> Words | None:
    """In the owner's language; None where it was turned off meanwhile."""
    if not company_settings.current_settings().values.weekly_letter:
        return None
    company = notice.member.tenant
    first = date.fromisoformat(notice.params["first"])
    week = Period(first, first + timedelta(days=6), company.timezone)
    report = metrics.report(week.since, week.until, week.zone)
    named = {"company": company.name, "first": reader.day(week.first), "last": reader.day(week.last)}
    paragraphs = [
        _("%(company)s, from %(first)s to %(last)s.") % named,
        _figures(report),
        _looked_at(report),
        _hints(report),
        _waits(),
        f"{settings.AVAL_URL}/insight/?days=7",
    ]
    subject = _("The week of %(company)s, %(first)s to %(last)s") % named
    return Words(subject, "\n\n".join(paragraph for paragraph in paragraphs if paragraph))


def _figures(report: Report) -> str:
    cards = report.cards
    if not cards.proposed:
        return _("The assistant asked for nothing in this week.")
    rows = [
        (_("Cards put up"), str(cards.proposed)),
        (_("Approved unchanged"), rate(cards.unedited_rate)),
        (_("Edited before approval"), rate(cards.edited_rate)),
        (pgettext("cards", "Rejected"), rate(cards.rejected_rate)),
        (_("Cancelled, or taken back"), str(cards.withdrawn)),
        (_("Ran out, nobody's decision"), rate(cards.expired_rate)),
        (_("By a standing approval, without a click"), str(cards.by_rule)),
        (_("Done"), str(cards.executed)),
        (_("Approved, then not done"), rate(cards.failed_rate)),
        (_("Deeds with a person's click"), rate(cards.coverage)),
        (_("Half were decided within"), lasted(report.answers.median_seconds)),
    ]
    return _listed(rows)


def _looked_at(report: Report) -> str:
    checked = report.checked
    if not (checked.drawn or checked.reported):
        return ""
    rows = [
        (_("Looked at afterwards"), rate(metrics.Rate(checked.marked, checked.drawn))),
        (_("Wrong deeds that got through"), str(checked.slipped)),
    ]
    return _listed(rows)


def _hints(report: Report) -> str:
    told = []
    for hint in advice.hints(report):
        made = registry.get(hint.subject)
        named = {"subject": str(made.label) if made else hint.subject, "rate": rate(hint.rate)}
        match hint.advice:
            case advice.Advice.HASTY:
                told.append(_("%(subject)s confirmed sooner than a card can be read: %(rate)s.") % named)
            case advice.Advice.REJECTED:
                told.append(_("Often rejected: %(subject)s, %(rate)s.") % named)
            case advice.Advice.EDITED:
                told.append(_("Often changed first: %(subject)s, %(rate)s.") % named)
            case advice.Advice.EXPIRED:
                told.append(_("Often left to run out: %(subject)s, %(rate)s.") % named)
            case advice.Advice.FAILED:
                told.append(_("Often approved and not done: %(subject)s, %(rate)s.") % named)
            case advice.Advice.SLIPPED:
                pass  # it stands among the figures
    return "\n".join(told)


def _waits() -> str:
    """What waits now, at the time of writing."""
    found = PendingAction.objects.aggregate(
        open=Count("pk", filter=Q(status__in=OPEN)), doubt=Count("pk", filter=Q(status=Status.IN_DOUBT))
    )
    rows = [
        (_("Cards that wait for somebody"), str(found["open"])),
        (_("Actions in doubt"), str(found["doubt"])),
        (_("Open alerts"), str(Alert.objects.filter(handled_at=None).count())),
        (_("Deeds to look at afterwards"), str(SpotCheck.objects.filter(mark="").count())),
    ]
    return "\n".join([_("Waiting now:"), _listed([row for row in rows if row[1] != "0"]) or _("Nothing.")])


def _listed(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"- {label}: {value}" for label, value in rows)
