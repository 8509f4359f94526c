"""Standing approvals: what fits runs by them and is counted; whatever else waits; the first no ends them."""

import json
import threading
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from assistant.gate import review, standing, standing_rules
from assistant.gate.approvals import Kind
from assistant.gate.standing_rules import Scope
from assistant.models import Decision, PendingAction, StandingApproval, StandingUse, Status
from assistant.tools import registry
from ledger import audit
from ledger.errors import DomainError
from ledger.models import AuditEvent, Client, Membership, StaffNotice

TODAY = timezone.localdate()
STRONG = {"fresh_login": True, "held": True, "reason": "agreed"}


def scope_of(office, tool: str = "post_letter", **parts) -> Scope:
    own = {
        "tool": tool,
        "party": office.client,
        "most_cents": None,
        "month_cents": None,
        "month_times": 10,
        "valid_until": TODAY + timedelta(days=30),
    }
    return Scope(**own | parts)


def in_force(office, tool: str = "post_letter", *, by=None, **parts) -> StandingApproval:
    by = by or office.dana
    with office.scope():
        rule = standing_rules.write(scope_of(office, tool, **parts), by=by, today=TODAY)
        return standing_rules.turn_on(rule.pk, by=by, today=TODAY)


def why_ended(office, rule) -> str:
    with office.scope():
        rule.refresh_from_db()
        return rule.ended_why


def test_what_fits_runs_without_a_card_and_the_record_says_by_which_rule(office, provider):
    rule = in_force(office)
    action = office.propose("post_letter", by=office.alex, text="Hi")
    assert (action.status, action.closed_by) == (Status.SCHEDULED, "standing")
    assert office.execute(action).status == Status.EXECUTED
    assert provider.all_sends() == {str(action.pk): 1}
    with office.scope():
        decision = Decision.objects.get(action=action)
        assert (decision.member_id, decision.door, decision.standing_id) == (office.dana.pk, "standing", rule.pk)
        assert StandingUse.objects.get(action=action).standing_id == rule.pk
        assert AuditEvent.objects.filter(kind="action.confirmed_by_rule", subject_id=action.pk).count() == 1


def test_before_it_is_turned_on_it_is_nothing(office):
    with office.scope():
        standing_rules.write(scope_of(office), by=office.dana, today=TODAY)
    assert office.propose("post_letter", text="Hi").status == Status.PENDING


@pytest.mark.parametrize("outside", ["party", "amount", "month", "times", "raised", "second_person", "tool"])
def test_what_does_not_fit_exactly_waits_for_a_person(office, provider, outside):
    strong = {"tool": "pay_out", "most_cents": 1_000, "month_cents": 1_500, "month_times": 2, "strong": True}
    rule = in_force(office, **strong)
    tool, arguments = "pay_out", {"amount_cents": 500}
    match outside:
        case "party":
            with office.scope():
                Client.objects.create(ref="C-0002", kind="person", name="Ann Lee", name_key="annlee", language="en-US")
            arguments |= {"client_ref": "C-0002"}
        case "amount":
            arguments = {"amount_cents": 1_001}
        case "month":
            for cents in (800, 700):
                assert office.propose("pay_out", amount_cents=cents).status == Status.SCHEDULED
            arguments = {"amount_cents": 1}
        case "times":
            for cents in (1, 2):
                assert office.propose("pay_out", amount_cents=cents).status == Status.SCHEDULED
        case "raised" | "second_person":
            more = {"people": 2} if outside == "second_person" else {"level": 3}
            tool, arguments = ("post_letter", {"text": "Hi"}) if outside == "raised" else (tool, arguments)
            in_force(office, "post_letter")
            with office.scope():
                review.change(by=office.dana, text=json.dumps({"rules": [{"tools": [tool]} | more]}), expected=0)
        case "tool":
            tool, arguments = "rename_client", {"name": "Joe"}
    assert office.propose(tool, **arguments).status == Status.PENDING
    assert why_ended(office, rule) == ""


@pytest.mark.parametrize("no", ["reject", "edit", "undo", "mismatch"])
def test_the_first_no_to_something_like_it_ends_it(office, provider, monkeypatch, no):
    rule = in_force(office, most_cents=0)
    with office.scope():
        review.change(by=office.dana, text='{"rules": [{"tools": ["post_letter"], "people": 2}]}', expected=0)
    card = office.propose("post_letter", text="Hi")
    assert card.status == Status.PENDING
    match no:
        case "reject":
            office.reject(card, by=office.dana)
        case "edit":
            office.edit(card, text="Ho")
        case _:
            with office.scope():
                review.change(by=office.dana, text="{}", expected=1)
            office.cancel(card)
            action = office.propose("post_letter", text="Hum")
            assert action.closed_by == "standing"
            if no == "undo":
                office.undo(action)
            else:
                made = registry.TOOLS["post_letter"]
                broken = made.__class__(**vars(made) | {"promises": {"message": "there"}})
                monkeypatch.setitem(registry.TOOLS, "post_letter", broken)
                office.execute(action)
    assert (
        why_ended(office, rule)
        == {"reject": "rejected", "edit": "edited", "undo": "undone", "mismatch": "mismatch"}[no]
    )


@pytest.mark.parametrize("how", ["revoked", "no_right", "tool_changed", "over"])
def test_it_ends_with_what_it_stood_on_and_nothing_runs_by_it_any_more(office, provider, how):
    rule = in_force(office, by=office.sam)
    running = office.propose("post_letter", text="Hi")
    assert running.status == Status.SCHEDULED
    with office.scope():
        match how:
            case "revoked":
                standing_rules.revoke(rule.pk, by=office.dana)
            case "no_right":
                Membership.objects.filter(pk=office.sam.pk).update(role="viewer")
            case "tool_changed" | "over":
                pass
    today = TODAY + timedelta(days=31) if how == "over" else TODAY
    made = registry.TOOLS["post_letter"]
    if how == "tool_changed":
        made = made.__class__(**vars(made) | {"source": "other"})
    if how in ("tool_changed", "over"):
        with office.scope():
            assert not standing.apply(_fresh_card(office), made, today)
    else:
        assert office.propose("post_letter", text="Ho").status == Status.PENDING
        assert office.execute(running).status == Status.FAILED
        assert provider.all_sends() == {}
    assert why_ended(office, rule) == how
    with office.scope():
        told = StaffNotice.objects.filter(kind="standing_ended", member=office.sam)
        assert told.count() == 1


def _fresh_card(office) -> PendingAction:
    """An action as it stands before any rule looks at it."""
    action: PendingAction = PendingAction.objects.latest("created_at")
    action.status, action.closed_by = Status.PENDING, ""
    return action


def test_nothing_done_gives_the_month_its_room_back(office, provider):
    in_force(office, month_times=1)
    provider.set_mode("refuse")
    first = office.propose("post_letter", text="Hi")
    assert office.execute(first).status == Status.FAILED
    assert office.propose("post_letter", text="Ho").status == Status.SCHEDULED
    assert office.propose("post_letter", text="Hum").status == Status.PENDING


def test_two_at_once_do_not_both_take_the_last_of_a_month(office, stranger):
    in_force(office, month_times=1)
    start, found = threading.Barrier(2), []

    def ask(text: str) -> None:
        try:
            start.wait()
            found.append(office.propose("post_letter", text=text).status)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=(text,)) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [Status.PENDING, Status.SCHEDULED]


@pytest.mark.parametrize(
    ("tool", "parts", "code"),
    [
        ("list_clients", {}, "NO_SUCH_TOOL"),
        ("post_letter", {"party": None}, "NEEDS_PARTY"),
        ("post_letter", {"month_times": None}, "NEEDS_MONTH"),
        ("post_letter", {"valid_until": TODAY}, "PERIOD"),
        ("post_letter", {"valid_until": TODAY + timedelta(days=367)}, "PERIOD"),
        ("pay_out", {"most_cents": 1, "month_cents": 1}, "STRONG"),
        ("pay_out", {"month_cents": 1, "strong": True}, "NEEDS_CEILING"),
    ],
)
def test_what_may_not_be_written(office, tool, parts, code):
    with office.scope(), pytest.raises(DomainError) as raised:
        standing_rules.write(scope_of(office, tool, **parts), by=office.dana, today=TODAY)
    assert raised.value.code == code


@pytest.mark.parametrize("door", ["agent", "mcp", "api", "whatsapp"])
def test_no_agent_and_no_program_writes_one(office, door):
    with office.scope(), audit.entering(door), pytest.raises(DomainError) as raised:
        standing_rules.write(scope_of(office), by=office.dana, today=TODAY)
    assert raised.value.code == "FORBIDDEN"


def test_who_may_not_approve_it_lets_nothing_run_and_only_the_writer_turns_it_on(office):
    strong = {"most_cents": 1, "month_cents": 1, "strong": True}
    with office.scope():
        with pytest.raises(DomainError) as raised:
            standing_rules.write(scope_of(office, "pay_out", **strong), by=office.alex, today=TODAY)
        assert raised.value.code == "FORBIDDEN"
        rule = standing_rules.write(scope_of(office), by=office.alex, today=TODAY)
        with pytest.raises(DomainError) as raised:
            standing_rules.turn_on(rule.pk, by=office.dana, today=TODAY)
        assert raised.value.code == "FORBIDDEN"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE assistant_standingapproval SET most_cents = 999999",
        "UPDATE assistant_standingapproval SET ended_at = NULL",
        "UPDATE assistant_standingapproval SET on_at = NULL",
        "DELETE FROM assistant_standingapproval",
        "UPDATE assistant_decision SET standing_id = NULL",
    ],
)
def test_the_database_lets_nobody_stretch_a_rule(office, sql):
    rule = in_force(office, most_cents=0)
    office.propose("post_letter", text="Hi")
    with office.scope():
        standing_rules.revoke(rule.pk, by=office.dana)
    with suppress(DatabaseError), office.scope(), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)
        pytest.fail("the database let it through")


def test_a_rule_is_tried_on_the_past_before_it_counts(office, provider):
    """Saved clicks, and what it would have let through although a person said no; within its bounds."""
    for number in range(3):
        action = office.propose("pay_out", amount_cents=100 + number)
        office.confirm(action, **STRONG)
        office.execute(action)
    bad = office.propose("pay_out", amount_cents=103)
    office.reject(bad)
    over = office.propose("pay_out", amount_cents=1_001)
    office.confirm(over, **STRONG)
    office.execute(over)
    office.cancel(office.propose("pay_out", amount_cents=104))
    with office.scope():
        scope = scope_of(office, "pay_out", most_cents=1_000, month_cents=100_000, month_times=None, strong=True)
        found = standing_rules.write(scope, by=office.dana, today=TODAY).replay
        tight = standing_rules.write(
            scope_of(office, "pay_out", most_cents=1_000, month_cents=201, month_times=None, strong=True),
            by=office.dana,
            today=TODAY,
        ).replay
    assert (found["saved"], found["undecided"], found["looked"]) == (3, 1, 6)
    assert [one["action"] for one in found["rejected"]] == [str(bad.pk)]
    assert tight["saved"] == 2


def test_a_rule_is_offered_after_five_unedited_approvals_and_nothing_else(office, provider):
    for number in range(5):
        with office.scope():
            assert standing_rules.offers() == []
        action = office.propose("post_letter", text=f"Letter {number}")
        office.confirm(action)
        office.execute(action)
    with office.scope():
        [offer] = standing_rules.offers()
        assert (offer.tool, offer.party_id, offer.times) == ("post_letter", office.client.pk, 5)
    office.reject(office.propose("post_letter", text="No"))
    with office.scope():
        assert standing_rules.offers() == []


def test_a_click_on_what_runs_by_a_rule_is_no_second_decision(office):
    in_force(office)
    action = office.propose("post_letter", text="Hi")
    assert office.confirm(action, by=office.dana).kind in (Kind.REPEATED, Kind.CONFLICT)
    with office.scope():
        assert Decision.objects.filter(action=action).count() == 1
