"""The approvals inbox: who sees which card under which tab, and what a page of it costs."""

import copy
import re
import uuid
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.utils import timezone

from assistant.doors import cards as cards_of
from assistant.doors import inbox_lists
from assistant.gate import sight
from assistant.models import Alert, Attempt, Decision, Message, PendingAction
from assistant.tools import registry
from ledger import tenancy
from ledger.actions.delegations import delegate, end
from ledger.models import AuditEvent, Membership, Role
from tests.assistant.doors.conftest import Desk, make_desk
from tests.cast import strangers
from tests.queries import counted

TABS = ("", "second/", "mine/", "scheduled/", "doubt/", "history/")


def cards(desk: Desk, tab: str = "", name: str = "dana", query: str = "") -> list[uuid.UUID]:
    """The ids of the cards, or of the lines of the history, in the order of the page."""
    html = page(desk, tab, name, query)
    return [uuid.UUID(found) for found in re.findall(r'id="(?:entry|past)-([0-9a-f-]{36})"', html)]


def page(desk: Desk, tab: str = "", name: str = "dana", query: str = "", **headers: str) -> str:
    answer = desk.browser(name, **headers).get(f"/inbox/{tab}{query}")
    assert answer.status_code == 200, (tab, name, query)
    return answer.content.decode()


def badge(html: str) -> list[str]:
    """The number in the margin and the one above the page."""
    return re.findall(r'id="waiting-(?:count|above)">(?:<span class="count">(\d+\+?))?', html)


def by_sam(desk: Desk, *, cents: int = 10_000) -> PendingAction:
    """A card that only dana can decide second: sam asked for it."""
    return desk.propose("pay_out", by=desk.cast.sam, amount_cents=cents)


def move(desk: Desk, action: PendingAction, *steps: str, **columns: Any) -> None:
    """Through the state table as the gate goes, without its work."""
    with desk.cast.scope():
        for step in steps:
            if step == "scheduled":
                Decision.objects.get_or_create(
                    action=action,
                    slot=1,
                    defaults={
                        "verdict": "confirm",
                        "member": desk.cast.dana,
                        "door": "web",
                        "shown_hash": action.digest,
                    },
                )
            if step == "executing":
                lease = timezone.now() + timedelta(minutes=5)
                Attempt.objects.create(action=action, token=uuid.uuid4(), worker="test", lease_until=lease)
            PendingAction.objects.filter(pk=action.pk).update(status=step, **(columns if step == steps[-1] else {}))


def test_each_card_stands_under_its_tab(desk: Desk):
    waits = desk.propose()
    runs = desk.propose("rename_client", name="Jon")
    move(desk, runs, "scheduled", "executing")
    late = desk.propose("rename_client", name="Jonny")
    move(desk, late, "scheduled")
    doubt = desk.propose("rename_client", name="Johnny")
    move(desk, doubt, "scheduled", "executing", "in_doubt")
    over = desk.propose("rename_client", name="Johan")
    move(desk, over, "rejected", closed_at=timezone.now())
    second = by_sam(desk)
    assert desk.fresh(second).approvals == 1
    assert cards(desk) == [waits.pk]
    assert cards(desk, "mine/") == [waits.pk, runs.pk, late.pk, doubt.pk]
    assert cards(desk, "scheduled/") == [runs.pk, late.pk]
    assert cards(desk, "doubt/") == [doubt.pk]
    assert cards(desk, "history/") == [over.pk]
    assert cards(desk, "", "alex") == cards(desk, "mine/", "alex") == []
    assert desk.browser().get("/inbox/nothing/").status_code == 404


@pytest.fixture
def payment(desk: Desk) -> PendingAction:
    """A card of level 3 that alex, who sells, cannot know of, dana asked for, and two people have to answer."""
    with desk.cast.scope():
        Membership.objects.filter(pk=desk.cast.dana.pk).update(approve_l3=True)
    return desk.propose("pay_out", by=desk.cast.sam, amount_cents=90_000)


def test_a_second_approval_waits_for_the_other_person_only(desk: Desk, payment: PendingAction):
    assert desk.fresh(payment).approvals == 2
    assert cards(desk, "", "sam") == [payment.pk]
    assert cards(desk) == []
    with desk.cast.scope():
        Decision.objects.create(
            action=payment, verdict="confirm", member=desk.cast.sam, door="web", shown_hash=payment.digest
        )
    move(desk, payment, "awaiting_second")
    html = page(desk, "second/")
    assert cards(desk, "second/") == cards(desk, "second/", "sam") == [payment.pk]
    assert badge(html) == ["1", "1"]
    assert '<span class="count">1</span>' in html[html.index('id="count-second"') :][:60]
    assert f"{desk.url_of(payment)}confirm" in html
    assert "Sam asks" in html
    of_sam = page(desk, "second/", "sam")
    assert badge(of_sam) == ["", ""]
    assert f"{desk.url_of(payment)}confirm" not in of_sam
    assert cards(desk, "second/", "alex") == []


def test_whoever_may_see_anothers_card_sees_the_words_of_that_turn_and_no_other(desk: Desk, payment: PendingAction):
    """Settled question 17; the other turn's words could leak from the same conversation."""
    before = desk.turn("done")
    desk.say("A secret of another turn", turn=before)
    turn = desk.turn("waiting")
    desk.say("Pay John back <b>now</b>", turn=turn)
    desk.say("I have put it on a **card**.", turn=turn, role="assistant")
    action = desk.propose("pay_out", by=desk.cast.sam, amount_cents=91_000, turn=turn)
    with desk.cast.scope():
        Decision.objects.create(
            action=action, verdict="confirm", member=desk.cast.sam, door="web", shown_hash=action.digest
        )
        Membership.objects.filter(pk=desk.cast.alex.pk).update(role=Role.ADMIN, approve_l3=True)
    move(desk, action, "awaiting_second")
    html = page(desk, "second/", "alex")
    assert "Pay John back &lt;b&gt;now&lt;/b&gt;" in html
    assert "<strong>card</strong>" in html
    assert "A secret of another turn" not in html
    assert f'href="{desk.url}#' not in html
    with desk.cast.scope():
        assert Message.objects.filter(text__contains="secret").count() == 1


def test_filters_stand_in_the_address_and_survive_the_page(desk: Desk):
    letter = desk.propose()
    rename = desk.propose("rename_client", name="Jon")
    assert cards(desk, query="?tool=post_letter") == [letter.pk]
    assert cards(desk, query=f"?who={desk.cast.dana.pk}") == [letter.pk, rename.pk]
    assert cards(desk, query=f"?who={desk.cast.alex.pk}") == []
    assert cards(desk, query="?tool=nonsense&who=x&days=-4&status=%00") == [letter.pk, rename.pk]
    with desk.cast.scope():
        PendingAction.objects.filter(pk=letter.pk).update(expires_at=timezone.now() + timedelta(days=3))
    assert cards(desk, query="?days=1") == [letter.pk, rename.pk]
    html = page(desk, query="?tool=post_letter&days=7")
    assert '<option value="post_letter" selected>' in html
    assert '<option value="7" selected>' in html
    assert "tool=post_letter" in html[html.index("hx-sse:connect") :]


def test_t61_what_nobody_decided_is_never_called_a_refusal(desk: Desk):
    """Expired, replaced and cancelled cards are told apart from a person's no, in words and in the filter."""
    said_no = desk.propose()
    desk.browser().post(desk.url_of(said_no, "reject"), {"hash": said_no.digest, "reason": "wrong date"})
    late = desk.propose("rename_client", name="Jon")
    move(desk, late, "expired", closed_at=timezone.now(), closed_by="second_approval_timeout")
    closed = desk.propose("rename_client", name="Jonny")
    desk.browser().post(desk.url_of(closed, "cancel"), {"hash": closed.digest})
    assert cards(desk, "history/", query="?status=rejected") == [said_no.pk]
    assert cards(desk, "history/", query="?status=expired") == [late.pk]
    assert cards(desk, "history/", query="?status=cancelled") == [closed.pk]
    html = page(desk, "history/", query="?status=expired")
    line = html[html.index(f'id="past-{late.pk}"') :].partition("</li>")[0]
    assert "Expired" in line
    assert "Nobody decided in time." in line
    assert re.search("reject|refus|declin", line, re.IGNORECASE) is None
    assert "Rejected by Dana. wrong date" in page(desk, "history/", query="?status=rejected")


def test_the_history_goes_on_behind_its_last_line(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assistant.doors.inbox.LINES_ON_A_PAGE", 2)
    at, made = timezone.now(), []
    for number in range(5):
        made.append(desk.propose("rename_client", name=f"Jon {number}"))
        move(desk, made[-1], "cancelled", closed_at=at + timedelta(seconds=max(0, number - 2)))
    newest = [made[4].pk, made[3].pk, *sorted((one.pk for one in made[:3]), reverse=True)]
    found, query = [], ""
    while True:
        found += cards(desk, "history/", query=query)
        html = page(desk, "history/", query=query)
        older = re.search(r'href="/inbox/history/(\?[^"]*before=[^"]*)">Older', html)
        if older is None:
            break
        query = older[1].replace("&amp;", "&")
    assert found == newest


def test_heads_read_everything_that_ended_and_that_they_did_is_on_record(desk: Desk):
    """Others only what they asked for or could decide (product.md, settled question 17)."""
    alex, sam = desk.browser("alex"), desk.browser("sam")
    own = desk.propose("rename_client", name="Jon")
    move(desk, own, "cancelled", closed_at=timezone.now())
    assert cards(desk, "history/") == [own.pk]
    assert cards(desk, "history/", "sam") == cards(desk, "history/", "alex") == []
    assert cards(desk, "history/", "alex", "?all=1") == []
    assert cards(desk, "history/", "sam", "?all=1") == [own.pk]
    assert [one.get(desk.url_of(own)).status_code for one in (alex, sam)] == [404, 200]
    assert sam.post(desk.url_of(own, "again"), {"key": str(uuid.uuid4())}).status_code == 404
    with desk.cast.scope():
        read = AuditEvent.objects.filter(kind__in=["history.read", "action.read"]).order_by("id")
        assert [(event.kind, event.actor_id) for event in read] == [
            ("history.read", desk.cast.sam.pk),
            ("action.read", desk.cast.sam.pk),
        ]


def test_who_may_settle_sees_every_action_in_doubt_and_its_alert_counts(desk: Desk):
    action = desk.propose("rename_client", name="Jon", by=desk.cast.alex)
    move(desk, action, "scheduled", "executing", "in_doubt")
    with desk.cast.scope():
        Alert.objects.create(action=action, kind="in_doubt")
    assert cards(desk, "doubt/", "alex") == cards(desk, "doubt/", "sam") == [action.pk]
    assert badge(page(desk, "doubt/", "alex")) == ["", ""]
    assert badge(page(desk, "doubt/", "sam")) == ["1", "1"]
    settle = desk.url_of(action, "settle")
    assert f'action="{settle}"' not in page(desk, "doubt/", "alex")
    assert f'action="{settle}"' in page(desk, "doubt/", "sam")
    given = {"done": "0", "note": "I asked John"}
    assert desk.browser("alex").post(settle, given).status_code == 404
    sam = desk.browser("sam")
    assert sam.post(settle, {"done": "0", "note": " "}, headers={"HX-Request": "true"}).status_code == 422
    assert sam.post(settle, given).status_code == 303
    assert desk.fresh(action).status == "failed"
    assert sam.post(settle, given, headers={"accept": "application/json"}).status_code == 409
    assert badge(page(desk, "doubt/", "sam")) == ["", ""]


def test_an_alert_is_handled_with_a_note(desk: Desk):
    with desk.cast.scope():
        alert = Alert.objects.create(kind="something_odd")
    path = f"/inbox/alerts/{alert.pk}/handled"
    assert "Something odd" in page(desk, "doubt/")
    assert "Something odd" not in page(desk, "doubt/", "alex")
    assert desk.browser("alex").post(path, {"note": "fine"}).status_code == 404
    dana = desk.browser()
    assert "Write a note" in dana.post(path, {"note": ""}, follow=True).content.decode()
    assert "It is handled" in dana.post(path, {"note": "It was a test"}, follow=True).content.decode()
    assert "Somebody has handled" in dana.post(path, {"note": "again"}, follow=True).content.decode()
    with desk.cast.scope():
        handled = Alert.objects.get(pk=alert.pk)
        assert (handled.handled_by_id, handled.note) == (desk.cast.dana.pk, "It was a test")
        assert AuditEvent.objects.filter(kind="alert.handled", actor=desk.cast.dana).count() == 1


def test_an_edit_in_the_inbox_brings_both_cards_to_their_places(desk: Desk):
    """The stream may bring them before the answer does: each has one place, and there is no third."""
    action = desk.propose()
    where = {"HX-Request": "true", "HX-Current-URL": "http://testserver/inbox/"}
    answer = desk.browser().post(
        desk.url_of(action, "edit"), {"hash": action.digest, "text": "Hello again."}, headers=where
    )
    html = answer.content.decode()
    with desk.cast.scope():
        new = PendingAction.objects.get(edited_from=action)
    assert (answer.status_code, answer["HX-Reswap"]) == (200, "none")
    assert re.findall(r'hx-target="#(\w+)"[^>]*data-action="([^"]+)" data-status="(\w+)"', html) == [
        ("inbox", str(action.pk), "superseded"),
        ("cards", str(new.pk), "pending"),
    ]
    assert html.count("autofocus") == 1 < html.index("autofocus") > html.index(f'id="entry-{new.pk}"')


def test_t64_another_companys_cards_are_nowhere(desk: Desk):
    action = desk.propose()
    theirs = make_desk(strangers())
    browser = theirs.browser("mallory")
    for tab in TABS:
        assert str(action.pk) not in browser.get(f"/inbox/{tab}?who={desk.cast.dana.pk}&all=1").content.decode()
    assert browser.post(desk.url_of(action, "settle"), {"done": "1", "note": "x"}).status_code == 404
    assert desk.browser().get("/inbox/").content.decode().count(f'id="entry-{action.pk}"') == 1


@pytest.mark.parametrize("language", ["en", "pt-br"])
def test_the_badge_is_on_every_page(desk: Desk, language: str):
    desk.propose()
    with desk.cast.scope():
        desk.cast.dana.user.language = language
        desk.cast.dana.user.save(update_fields=["language"])
    words = {"en": "waiting for you", "pt-br": "aguardando você"}[language]
    for path in ("/c/", desk.url, "/clients/", "/inbox/", "/inbox/history/"):
        html = desk.browser().get(path).content.decode()
        assert badge(html) == ["1", "1"], path
        assert words in html, path


def test_a_tab_asks_the_database_as_often_for_many_cards_as_for_one(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    turn = desk.turn("waiting")

    def asked() -> dict[str, int]:
        found = {}
        for tab in TABS:
            browser = desk.browser("sam")
            with counted() as told:
                assert browser.get(f"/inbox/{tab}").status_code == 200
            found[tab] = len(told)
        return found

    def fill(number: int) -> None:
        desk.propose("pay_out", by=desk.cast.sam, amount_cents=100 + number, turn=turn)
        move(desk, desk.propose("pay_out", by=desk.cast.sam, amount_cents=200 + number), "scheduled")
        doubt = desk.propose("pay_out", by=desk.cast.sam, amount_cents=300 + number)
        move(desk, doubt, "scheduled", "executing", "in_doubt")
        ended = desk.propose("pay_out", by=desk.cast.sam, amount_cents=400 + number)
        move(desk, ended, "cancelled", closed_at=timezone.now())
        second = desk.propose("pay_out", by=desk.cast.sam, amount_cents=90_000 + number)
        move(desk, second, "awaiting_second")

    fill(0)
    asked()
    one = asked()
    for number in range(1, 6):
        fill(number)
    assert asked() == one


def test_the_planner_sees_which_statuses_a_list_is_of(desk: Desk):
    """As parameters of a prepared statement they would keep it from the partial indexes, and a tab would take seconds
    over a million cards (bin/bench_records).
    """
    asked = []
    for tab in TABS:
        with counted() as told:
            page(desk, tab, "sam", "?all=1")
        asked += [sql for sql in told.statements if 'FROM "assistant_pendingaction"' in sql and "WHERE" in sql]
    lists = [sql for sql in asked if "ORDER BY" in sql or "COUNT(" in sql]
    assert len(lists) > 12
    assert [sql for sql in lists if not re.search(r"\"status\" IN \('|\"id\" = ANY|\"id\" IN", sql)] == []


def copied(base: PendingAction, tool: str, level: int, shared: tuple[bool, int], status: str) -> PendingAction:
    row = copy.copy(base)
    row.pk, row._state = tenancy.new_id(), copy.copy(base._state)
    row.tool, row.level, (row.routed, row.approvals) = tool, level, shared
    row.sameness, row.closed_by = uuid.uuid4().hex, status
    return row


def walk(rows: list[PendingAction]) -> None:
    """Each to the status that `closed_by` names, through the state table."""
    by = rows[0].requester_id
    yes = {"verdict": "confirm", "member_id": by, "door": "web"}
    Decision.objects.bulk_create([Decision(action=row, shown_hash=row.digest, **yes) for row in rows])
    lease = timezone.now()
    one = {"worker": "test", "lease_until": lease}
    Attempt.objects.bulk_create([Attempt(action=row, token=uuid.uuid4(), **one) for row in rows])
    every = PendingAction.objects.filter(pk__in=[row.pk for row in rows])
    every.exclude(closed_by="pending").update(status="scheduled")
    every.exclude(closed_by="pending").update(status="executing")
    every.filter(closed_by="in_doubt").update(status="in_doubt")
    every.filter(closed_by="executed").update(status="executed", receipt={}, closed_at=lease)


def test_the_rule_for_lists_is_the_rule_for_cards(desk: Desk):
    """Every gated tool, level and role, routed or not, one person or two, open or ended: both forms say the same."""
    base = desk.propose()
    tools = [made.name for made in registry.TOOLS.values() if made.gated]
    kinds = list(product(tools, (1, 2, 3), ((False, 1), (True, 1), (False, 2)), ("pending", "in_doubt", "executed")))
    with desk.cast.scope():
        rows = PendingAction.objects.bulk_create([copied(base, *kind) for kind in kinds])
        walk(rows)
        rows = list(PendingAction.objects.filter(pk__in=[row.pk for row in rows]))
    people = [("alex", role, strong) for role in Role for strong in (False, True)]
    seen = set()
    for name, role, strong in people:
        with desk.cast.scope():
            Membership.objects.filter(pk=desk.cast[name].pk).update(role=role, approve_l3=strong)
            member = Membership.objects.get(pk=desk.cast[name].pk)
            ids = PendingAction.objects.filter(pk__in=[row.pk for row in rows])
            assert set(ids.filter(sight.visible_to(member)).values_list("pk", flat=True)) == {
                row.pk for row in rows if sight.visible(row, member)
            }
            assert set(ids.filter(sight.readable_to(member)).values_list("pk", flat=True)) == {
                row.pk for row in rows if sight.readable(row, member)
            }
            ended = inbox_lists.ended(member, inbox_lists.Filters(), size=10_000)
            assert {place.pk for place in ended} == {
                row.pk for row in rows if row.status == "executed" and sight.visible(row, member)
            }
            seen |= {(row.tool, sight.visible(row, member)) for row in rows}
    assert {tool for tool, sees in seen if sees} == {tool for tool, sees in seen if not sees} == set(tools)


def test_what_waits_is_what_the_card_lets_one_answer(desk: Desk):
    """The badge and the tabs count exactly the cards whose buttons this member gets, also for those who are away."""
    base, cast = desk.propose(), desk.cast
    with cast.scope():
        for tool, level in (("pay_out", 3), ("post_letter", 2)):
            for asked, (routed, approvals) in product(("dana", "sam", "alex"), ((False, 1), (True, 1), (False, 2))):
                row = copied(base, tool, level, (routed, approvals), "pending")
                row.requester = cast[asked]
                PendingAction.objects.bulk_create([row])
                for first in ("dana", "sam") if approvals == 2 else ():
                    second = copied(row, tool, level, (routed, approvals), "awaiting_second")
                    PendingAction.objects.bulk_create([second])
                    yes = {"verdict": "confirm", "door": "web", "shown_hash": row.digest}
                    Decision.objects.create(action=second, member=cast[first], **yes)
                    PendingAction.objects.filter(pk=second.pk).update(status="awaiting_second")
    away = {"starts_at": timezone.now() - timedelta(hours=1), "ends_at": timezone.now() + timedelta(hours=1)}
    found = {}
    for role, givers in product((Role.VIEWER, Role.SALES, Role.ADMIN), ((), ("sam",), ("sam", "dana"))):
        with cast.scope():
            Membership.objects.filter(pk=cast.alex.pk).update(role=role, approve_l3=False)
            given = [delegate(cast[name], cast.alex, by=cast.dana, **away) for name in givers]
            member = Membership.objects.get(pk=cast.alex.pk)
            rows = PendingAction.objects.filter(status__in=["pending", "awaiting_second"]).select_related("requester")
            answers = {row.pk for row in rows if answerable(row, member)}
            assert {pk for pk, _where in sight.waiting(member)} == answers, (role, givers)
            listed = [
                pk
                for tab in (inbox_lists.Tab.NEEDS, inbox_lists.Tab.SECOND)
                for pk, _seq in inbox_lists.standing(tab, member, inbox_lists.Filters(), size=99)
            ]
            assert {row.pk for row in rows.filter(pk__in=listed) if answerable(row, member)} == answers
            numbers = inbox_lists.counts(member)
            assert numbers["needs"] + numbers["second"] == len(answers)
            for one in given:
                end(one.pk, by=cast.dana)
            found[role, givers] = len(answers)
    assert found[Role.VIEWER, ()] == 0 < found[Role.VIEWER, ("sam",)] < found[Role.VIEWER, ("sam", "dana")]


def answerable(row: PendingAction, member: Membership) -> bool:
    """Whether the card has its buttons for this member."""
    decisions = list(Decision.objects.filter(action=row).order_by("slot"))
    return cards_of.card(row, member, decisions=decisions).can_decide
