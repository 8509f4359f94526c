"""The weekly letter: on Monday morning by the company's clock, once, whatever the worker went through."""

import uuid
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client as Browser
from django.utils import timezone

from assistant.insight import weekly
from ledger import company_settings, jobs, regular, tenancy
from ledger.actions import staff_mail
from ledger.actions.members import add_member
from ledger.models import Company, Due, Role, SettingsVersion, StaffNotice
from tests.assistant.doors.conftest import make_desk
from tests.assistant.doors.test_insight import done, rejected
from tests.cast import Cast, aurora

CHICAGO = ZoneInfo("America/Chicago")


def at(monkeypatch: pytest.MonkeyPatch, cast: Cast, moment: datetime) -> None:
    """Let the job run at that moment; the company is older than all of this."""
    with cast.scope():
        Company.objects.filter(pk=cast.tenant_id).update(created_at=moment - timedelta(days=90))
    monkeypatch.setattr(weekly.timezone, "now", lambda: moment)
    try:
        jobs.run(weekly.KIND, cast.tenant_id, cast.tenant_id)
    finally:
        monkeypatch.undo()


def letters(cast: Cast) -> list[tuple[str, str]]:
    with cast.scope():
        rows = StaffNotice.objects.filter(kind=weekly.NOTICE).select_related("member").order_by("created_at", "pk")
        return [(notice.member.name, notice.params["first"]) for notice in rows]


def monday(cast: Cast, hour: int = 8) -> datetime:
    return datetime(2026, 12, 7, hour, tzinfo=CHICAGO)


def test_it_comes_on_monday_morning_by_the_companys_clock_once(lone_ridge: Cast, monkeypatch) -> None:
    at(monkeypatch, lone_ridge, monday(lone_ridge, 6))
    assert letters(lone_ridge) == []
    due = Due.objects.get(kind=weekly.KIND, object_id=lone_ridge.tenant_id).run_at.astimezone(CHICAGO)
    assert (due.weekday(), due.hour, due.date().isoformat()) == (0, 7, "2026-12-07")
    at(monkeypatch, lone_ridge, monday(lone_ridge))
    assert letters(lone_ridge) == [("Dana", "2026-11-30")]
    due = Due.objects.get(kind=weekly.KIND, object_id=lone_ridge.tenant_id).run_at.astimezone(CHICAGO)
    assert (due.weekday(), due.hour, due.date().isoformat()) == (0, 7, "2026-12-14")
    at(monkeypatch, lone_ridge, monday(lone_ridge, 9))
    assert letters(lone_ridge) == [("Dana", "2026-11-30")]
    regular.promise_all()
    assert Due.objects.filter(kind=weekly.KIND, object_id=lone_ridge.tenant_id).exists()


def test_a_worker_that_was_down_sends_it_when_it_is_back_but_not_at_the_weekend(lone_ridge: Cast, monkeypatch) -> None:
    at(monkeypatch, lone_ridge, monday(lone_ridge) + timedelta(days=2))
    assert letters(lone_ridge) == [("Dana", "2026-11-30")]
    at(monkeypatch, lone_ridge, monday(lone_ridge) + timedelta(days=12))
    assert letters(lone_ridge) == [("Dana", "2026-11-30")]


def test_a_new_company_and_one_that_turned_it_off_get_none(lone_ridge: Cast, aurora: Cast, monkeypatch) -> None:
    jobs.run(weekly.KIND, lone_ridge.tenant_id, lone_ridge.tenant_id)
    assert letters(lone_ridge) == []
    with aurora.scope():
        newest = SettingsVersion.objects.order_by("-number").first()
        SettingsVersion.objects.create(number=newest.number + 1, values=newest.values | {"weekly_letter": False})
    at(monkeypatch, aurora, monday(aurora))
    assert letters(aurora) == []
    assert Due.objects.filter(kind=weekly.KIND, object_id=aurora.tenant_id).exists()


def test_a_head_turns_it_off_and_on_again_on_the_settings_page(lone_ridge: Cast) -> None:
    def browser(name: str) -> Browser:
        made = Browser()
        made.force_login(lone_ridge[name].user)
        return made

    for on, says in (("0", "Turn the letter on"), ("1", "Turn the letter off")):
        assert browser("sam").post("/settings/letter", {"on": on}).status_code == 303
        assert says in browser("dana").get("/settings/").content.decode()
        with lone_ridge.scope():
            assert company_settings.current_settings().values.weekly_letter is (on == "1")
    assert browser("alex").post("/settings/letter", {"on": "0"}).status_code == 404


def test_every_owner_and_nobody_else_is_written_to(lone_ridge: Cast, monkeypatch) -> None:
    with lone_ridge.scope():
        email = f"olga@{lone_ridge.company.slug}.example"
        add_member(by=lone_ridge.owner, email=email, name="Olga", role=Role.OWNER)
    at(monkeypatch, lone_ridge, monday(lone_ridge))
    assert sorted(letters(lone_ridge)) == [("Dana", "2026-11-30"), ("Olga", "2026-11-30")]


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("en", ("Cards put up: 3", "Approved unchanged: 1 of 2 (50%)", "Rejected: 1 of 2 (50%)", "Waiting now:",
                "Cards that wait for somebody: 1", "Deeds with a person's click: 1 of 1 (100%)")),
        ("pt-br", ("Cartões apresentados: 3", "Aprovados sem mudança: 1 de 2 (50%)", "Recusados: 1 de 2 (50%)",
                   "Esperando agora:", "Cartões que esperam por alguém: 1")),
    ],
)  # fmt: skip
def test_it_says_in_the_owners_language_what_the_record_says(language: str, says: tuple[str, ...]) -> None:
    desk = make_desk(aurora() if language == "pt-br" else None)
    done(desk, "John")
    rejected(desk, "no")
    desk.propose("post_letter", by=desk.cast.owner, text="waits")
    today = timezone.localdate(timezone=ZoneInfo(desk.cast.company.timezone))
    first = today - timedelta(days=today.weekday())
    with desk.cast.scope():
        assert staff_mail.notify(desk.cast.owner, weekly.NOTICE, uuid.uuid4(), first=first.isoformat())
        notice = StaffNotice.objects.select_related("member__user", "member__tenant").get(kind=weekly.NOTICE)
        mail = staff_mail._composed(notice)
    assert mail is not None and desk.cast.company.name in mail.subject
    text = mail.text.replace("\xa0", " ")
    assert [line for line in says if line not in text] == [], text
    assert text.rstrip().endswith("/insight/?days=7")


def test_an_hour_that_a_clock_change_skips_is_made_up_for() -> None:
    company = tenancy.new_id()
    before = datetime(2026, 3, 8, 7, 59, tzinfo=UTC)
    found = regular.next_time(company, "America/Chicago", before, hour=2)
    assert before < found < before + timedelta(days=1, hours=1)
