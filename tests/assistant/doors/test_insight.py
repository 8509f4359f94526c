"""`/insight/` and the deeds that are looked at afterwards, as people see them."""

import html
import re
import uuid
from datetime import date, timedelta

import pytest
from django.utils import timezone

from assistant.doors import plots
from assistant.gate import approvals, execution
from assistant.gate.approvals import Click
from assistant.insight import checks
from assistant.insight.metrics import Cards
from assistant.insight.periods import Period
from assistant.models import Message, PendingAction, ReviewPolicy, Seen, SpotCheck, ToolCall
from ledger import regular, tasks
from ledger.actions.members import add_member
from ledger.errors import DomainError, NotFound
from ledger.models import AuditEvent, Due, Role
from tests.assistant.doors.conftest import Desk, make_desk
from tests.cast import aurora, strangers
from tests.queries import counted


def done(desk: Desk, name: str, *, hasty: bool = False) -> PendingAction:
    action = desk.propose("rename_client", by=desk.cast.owner, name=name)
    with desk.cast.scope():
        if hasty:
            Seen.objects.create(action=action, member=desk.cast.owner, door="system")
        approvals.confirm(Click(action.pk, action.conversation_id, desk.cast.owner, action.digest))
    execution.execute(desk.cast.company.pk, action.pk)
    return desk.fresh(action)


def rejected(desk: Desk, text: str) -> None:
    action = desk.propose("post_letter", by=desk.cast.owner, text=text)
    with desk.cast.scope():
        approvals.reject(Click(action.pk, action.conversation_id, desk.cast.owner, action.digest, reason="no"))


def page(desk: Desk, name: str = "dana", path: str = "/insight/") -> str:
    answer = desk.browser(name).get(path)
    assert answer.status_code == 200
    return html.unescape(re.sub(r"\s+", " ", answer.content.decode()))


def test_the_page_says_of_how_many_warns_and_advises(desk: Desk):
    for number in range(5):
        done(desk, f"John {number}", hasty=True)
        rejected(desk, f"no {number}")
    shown = page(desk)
    assert "10 cards were put up from" in shown
    assert "<dt>Approved unchanged</dt><dd>5 of 10 (50%)</dd>" in shown
    assert "Dana said yes sooner than a card can be read: 5 of 5." in shown
    assert "Post a letter: 5 of 5 were rejected." in shown
    assert "/inbox/history/?tool=post_letter" in shown
    assert "confirmed 5 times and never changed" in shown
    assert f"/standing/new/?tool=rename_client&party={desk.client.ref}" in shown
    assert shown.count("<rect") >= 4, "a column of two parts and a bar for each tool"
    assert "cards were put up" in page(desk, path="/insight/?days=7")
    assert 'href="?days=30" aria-current="page"' in page(desk, path="/insight/?days=9999")
    assert desk.browser("sam").get("/inbox/history/?tool=post_letter&days=30&all=1&status=rejected").status_code == 200


def test_the_page_is_in_portuguese_and_empty_without_cards():
    desk = make_desk(aurora())
    shown = page(desk, "bia")
    assert "Nenhum cartão neste período" in shown
    done(desk, "João", hasty=True)
    shown = page(desk, "bia")
    assert "1 de 1 (100%)" in shown and "Aprovados sem mudança" in shown
    assert "Approved" not in shown


def test_those_who_may_not_read_the_record_find_no_figures(desk: Desk):
    assert desk.browser("alex").get("/insight/").status_code == 404
    assert "/insight/" not in page(desk, "alex", "/clients/")
    with desk.cast.scope():
        email = f"ann@{desk.cast.company.slug}.example"
        desk.cast.people["ann"] = add_member(by=desk.cast.owner, email=email, name="Ann", role=Role.ACCOUNTANT)
    assert "/insight/" in page(desk, "ann", "/clients/")
    assert desk.browser("ann").get("/insight/").status_code == 200


def test_the_page_costs_as_many_queries_for_many_cards_as_for_few(desk: Desk):
    done(desk, "one")
    browser = desk.browser()
    browser.get("/insight/")
    with counted() as few:
        browser.get("/insight/")
    for number in range(6):
        done(desk, f"John {number}")
        rejected(desk, f"no {number}")
    with counted() as many:
        browser.get("/insight/")
    assert len(many) <= len(few) + 2, "the parties of standing approvals that are offered"


@pytest.mark.parametrize(("days", "columns"), [(7, 7), (30, 30), (90, 13), (365, 12)])
def test_a_plot_holds_every_day_once_and_its_tallest_column_fills_it(days: int, columns: int):
    period = Period(date(2026, 12, 1) - timedelta(days=days), date(2026, 11, 30), "UTC")
    every = [(period.first + timedelta(days=number), Cards(proposed=1, unedited=1)) for number in range(days)]
    plot = plots.over_time(every, period)
    assert len(plot.columns) == columns
    assert sum(column.total for column in plot.columns) == days
    assert [one.first for one in plot.columns[1:]] == [one.last + timedelta(days=1) for one in plot.columns[:-1]]
    assert max(part.height for column in plot.columns for part in column.parts) == plots.HEIGHT
    assert all(part.x + part.width <= plots.WIDTH for column in plot.columns for part in column.parts)


def test_a_bar_is_full_and_its_parts_touch():
    parts = plots.bar((1, 1, 1))
    assert [(part.look, part.x, part.width) for part in parts] == [
        ("is-kept", 0, 240), ("is-edited", 240, 240), ("is-rejected", 480, 240),
    ]  # fmt: skip
    assert plots.bar((0, 0, 0)) == ()


def policy(desk: Desk, percent: int) -> None:
    with desk.cast.scope():
        number = ReviewPolicy.objects.count() + 1
        ReviewPolicy.objects.create(number=number, text=f'{{"review_percent": {percent}}}', created_by=desk.cast.owner)


def draw(desk: Desk) -> None:
    checks.draw_daily(desk.cast.tenant_id, desk.cast.tenant_id)


def test_deeds_are_drawn_each_night_once_by_the_policys_share(desk: Desk):
    actions = {done(desk, f"John {number}").pk for number in range(3)}
    rejected(desk, "no")
    turn = desk.turn("done")
    reply = desk.say("x", turn=turn, role="assistant")
    written = desk.call(reply, "tag_client", arguments="{}")
    desk.call(reply, "look_at_client", arguments="{}")
    policy(desk, 0)
    draw(desk)
    with desk.cast.scope():
        assert SpotCheck.objects.count() == 0
    policy(desk, 100)
    for _ in range(2):
        draw(desk)
    with desk.cast.scope():
        drawn = list(SpotCheck.objects.all())
    assert {one.action_id for one in drawn if one.action_id} == actions
    assert [one.call_id for one in drawn if one.call_id] == [written.pk]
    assert len(drawn) == 4 and all(one.sampled and one.mark == "" for one in drawn)
    promise = Due.objects.get(kind=checks.KIND, object_id=desk.cast.tenant_id)
    assert timedelta(0) < promise.run_at - timezone.now() <= timedelta(days=1)


def test_the_sweep_promises_every_company_its_regular_jobs(desk: Desk):
    tasks.sweep()
    kinds = Due.objects.filter(object_id=desk.cast.tenant_id, kind__in=regular.KINDS)
    assert {one.kind for one in kinds} == {"draw_checks", "weekly_letter"}
    before = list(kinds.values_list("pk", flat=True))
    tasks.sweep()
    assert list(kinds.values_list("pk", flat=True)) == before


def test_a_drawn_deed_is_marked_once_by_whoever_may_read_it(desk: Desk):
    policy(desk, 100)
    action = done(desk, "John")
    draw(desk)
    assert action.summary in page(desk, path="/inbox/review/")
    assert action.summary not in page(desk, "alex", "/inbox/review/")
    with desk.cast.scope():
        check = SpotCheck.objects.get()
        with pytest.raises(NotFound):
            checks.mark(check.pk, by=desk.cast.alex, right=True)
    path = f"/inbox/review/{check.pk}/"
    assert desk.browser("alex").post(path, {"mark": "right"}).status_code == 404
    assert make_desk(strangers()).browser("mallory").post(path, {"mark": "right"}).status_code == 404
    web = desk.browser()
    assert web.post(path, {"mark": "perhaps"}).status_code == 404
    assert web.post(path, {"mark": "wrong", "note": " "}).status_code == 303
    assert "Write what is wrong with it." in page_of(web)
    assert web.post(path, {"mark": "wrong", "note": "Another John"}).status_code == 303
    shown = page_of(web)
    assert "Nothing to look at" in shown and "Dana: Another John" in shown
    assert web.post(path, {"mark": "right"}).status_code == 303
    with desk.cast.scope():
        check.refresh_from_db()
        assert (check.mark, check.note, check.member_id) == ("wrong", "Another John", desk.cast.dana.pk)
        event = AuditEvent.objects.get(kind="check.marked")
        assert (event.actor_id, event.told["mark"], event.told["sampled"]) == (desk.cast.dana.pk, "wrong", True)
    assert "1 deed went through and was found wrong afterwards." in page(desk)


def page_of(web, path: str = "/inbox/review/") -> str:
    return html.unescape(web.get(path).content.decode())


def test_a_receipt_is_marked_wrong_by_whoever_may_read_it_once_each(desk: Desk):
    action = done(desk, "John")
    path = desk.url_of(action, "wrong")
    web = desk.browser()
    assert path in page_of(web, desk.url_of(action))
    assert "What is wrong?" in page_of(web, path)
    refused = web.post(path, {"note": ""})
    assert (refused.status_code, "Write what is wrong with it." in refused.content.decode()) == (422, True)
    assert web.post(path, {"note": "Wrong John"}).status_code == 303
    again = web.post(path, {"note": "Wrong John"})
    assert (again.status_code, "You have marked this wrong already." in again.content.decode()) == (422, True)
    assert desk.browser("sam").post(path, {"note": "Too"}).status_code == 303, "a head reads what has ended"
    assert desk.browser("alex").post(path, {"note": "x"}).status_code == 404
    assert make_desk(strangers()).browser("mallory").get(path).status_code == 404
    waiting = desk.propose("post_letter", text="waits")
    assert web.get(desk.url_of(waiting, "wrong")).status_code == 404
    with desk.cast.scope():
        assert sorted(SpotCheck.objects.values_list("note", "sampled")) == [("Too", False), ("Wrong John", False)]
        with pytest.raises(DomainError):
            checks.report_wrong(waiting, by=desk.cast.dana, note="x")
    assert "1 deed went through" in page(desk), "marked by two, it is one deed"


def test_a_mark_stands(desk: Desk):
    action = done(desk, "John")
    with desk.cast.scope():
        made = checks.report_wrong(action, by=desk.cast.dana, note="x")
    for deed in (
        lambda: SpotCheck.objects.filter(pk=made.pk).update(note="y"),
        lambda: SpotCheck.objects.all().delete(),
    ):
        with pytest.raises(Exception, match="Cannot"), desk.cast.scope():
            deed()


def test_what_a_person_sees_of_a_write_without_a_card(desk: Desk):
    policy(desk, 100)
    reply = desk.say("x", turn=desk.turn("done"), role="assistant")
    desk.call(reply, "tag_client", arguments='{"tag": "vip-7"}', ended_at=timezone.now())
    draw(desk)
    assert "vip-7" in page(desk, path="/inbox/review/")
    assert "vip-7" in page(desk, "sam", "/inbox/review/")
    assert "vip-7" not in page(desk, "alex", "/inbox/review/")
    assert desk.browser().post(f"/inbox/review/{uuid.uuid4()}/", {"mark": "right"}).status_code == 404
    with desk.cast.scope():
        assert (Message.objects.count(), ToolCall.objects.count()) == (1, 1)
