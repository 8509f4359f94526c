"""A company's own review policy: it only raises, refuses what it cannot read, and counts again when the deed runs."""

import json

import pytest

from assistant.gate import review
from assistant.gate.approvals import Kind
from assistant.models import LimitUse, PendingAction, ReviewPolicy, Status
from assistant.tools.effects import Level
from ledger.errors import DomainError
from ledger.models import AuditEvent, Membership, Role


def in_force(office, **policy) -> None:
    with office.scope():
        review.change(by=office.dana, text=json.dumps(policy), expected=review.current().number)


def refused(office, tool: str, **arguments) -> DomainError:
    with pytest.raises(DomainError) as raised:
        office.propose(tool, **arguments)
    with office.scope():
        assert not PendingAction.objects.filter(status=Status.PENDING).exists()
    return raised.value


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("alwyas", "policy"),
        ('{"rules": [{"level": "alwyas"}]}', "rules.0.level"),
        ('{"rules": [{"tools": ["send_qoute"]}]}', "rules.0.tools.0"),
        ('{"rules": [{"tools": ["list_clients"]}]}', "rules.0.tools.0"),
        ('{"rules": [{"levle": 3}]}', "rules.0.levle"),
        ('{"rules": [{"level": 0}]}', "rules.0.level"),
        ('{"daily": {"messages": -1}}', "daily.messages"),
        ('{"recipient_domains": ["@all"]}', "recipient_domains.0"),
        ('{"second": {"escalate_minutes": 60, "expire_minutes": 60}}', "second.expire_minutes"),
        ("[" * 3000, "policy"),
        ("null", "policy"),
    ],
)
def test_T32_a_policy_with_a_word_that_is_not_known_is_refused_and_the_last_good_one_stays(office, text, where):
    in_force(office, rules=[{"tools": ["post_letter"], "level": 3}])
    with office.scope():
        with pytest.raises(DomainError) as raised:
            review.change(by=office.dana, text=text, expected=1)
        assert (raised.value.code, raised.value.data["field"] or "policy") == ("INVALID_POLICY", where)
        assert (review.current().number, review.current().bad) == (1, ())
    assert office.propose("post_letter", text="Hi").level == Level.STRONG


def test_T32_one_that_stands_in_the_table_all_the_same_is_passed_over_and_named(office):
    in_force(office, rules=[{"tools": ["post_letter"], "level": 3}])
    with office.scope():
        ReviewPolicy.objects.create(number=2, text='{"rules": "alwyas"}', created_by=office.dana)
        found = review.current()
    assert found.number == 1
    assert [number for number, _why in found.bad] == [2]
    assert office.propose("post_letter", text="Hi").level == Level.STRONG


@pytest.mark.parametrize(
    ("rule", "level", "people"),
    [
        ({"level": 2}, 2, 1),
        ({"tools": ["rename_client"], "level": 3}, 3, 1),
        ({"tools": ["post_letter"], "level": 3}, 1, 1),
        ({"roles": ["owner"], "people": 2}, 1, 2),
        ({"roles": ["sales"], "level": 3}, 1, 1),
        ({"counterparty": "C-0001", "level": 2}, 2, 1),
        ({"counterparty": "C-0002", "level": 2}, 1, 1),
        ({"amount_from_cents": 1, "level": 3}, 1, 1),
        ({"outside": False, "level": 2}, 2, 1),
        ({"match": ["fuzzy"], "level": 3}, 1, 1),
    ],
)
def test_a_rule_raises_where_all_that_it_names_fits(office, rule, level, people):
    in_force(office, rules=[rule])
    action = office.propose("rename_client", name="Joe")
    assert (action.level, action.approvals) == (level, people)


def test_no_rule_lowers_a_level(office):
    in_force(office, rules=[{"level": 1, "people": 1}, {"tools": ["pay_out"], "level": 1}])
    assert office.propose("pay_out", amount_cents=60_000).level == Level.STRONG
    assert office.propose("pay_out", amount_cents=60_001).approvals == 2


def test_a_card_that_was_raised_to_a_strong_one_asks_for_presence(office):
    """Without a text of its own to type, the name of the deed is typed; nothing typed is not enough."""
    in_force(office, rules=[{"tools": ["post_letter"], "level": 3}])
    action = office.propose("post_letter", text="Hi")
    strong = {"fresh_login": True, "reason": "agreed"}
    assert office.confirm(action, **strong).kind == Kind.REFUSED
    assert office.confirm(action, typed="Post", **strong).kind == Kind.REFUSED
    assert office.confirm(action, typed="Post a letter", **strong).kind == Kind.DECIDED


def test_what_a_policy_refuses_is_no_card(office):
    in_force(office, rules=[{"tools": ["pay_out"], "roles": ["owner"], "refused": True}])
    assert refused(office, "pay_out", amount_cents=1).code == "NOT_ALLOWED_HERE"


def test_over_its_ceiling_a_deed_is_no_card(office):
    in_force(office, most_cents={"pay_out": 10_000})
    assert refused(office, "pay_out", amount_cents=10_001).code == "OVER_CEILING"
    office.propose("pay_out", amount_cents=10_000)


def test_T27_an_edit_over_the_limit_asks_a_second_person(office):
    in_force(office, rules=[{"tools": ["post_letter"], "level": 2}])
    action = office.propose("post_letter", text="Hi")
    in_force(office, rules=[{"tools": ["post_letter"], "level": 3, "people": 2}])
    from_edit = office.edit(action, text="Ho")
    assert (from_edit.level, from_edit.approvals, from_edit.edited_from_id) == (3, 2, action.pk)


STRONG = {"fresh_login": True, "held": True, "reason": "agreed"}


@pytest.mark.parametrize(
    ("later", "code"),
    [
        ({"most_cents": {"pay_out": 9_999}}, "POLICY"),
        ({"rules": [{"tools": ["pay_out"], "refused": True}]}, "POLICY"),
        ({"rules": [{"tools": ["pay_out"], "people": 2}]}, "POLICY"),
        ({"daily": {"money_out_cents": 9_999}}, "OVER_LIMIT"),
    ],
)
def test_T25_a_limit_that_is_lowered_after_the_click_stops_the_deed(office, provider, later, code):
    action = office.propose("pay_out", amount_cents=10_000)
    assert office.confirm(action, **STRONG).kind == Kind.DECIDED
    in_force(office, **later)
    done = office.execute(action)
    assert (done.status, done.failure["code"]) == (Status.FAILED, code)
    assert provider.all_sends() == {}
    with office.scope():
        assert not LimitUse.objects.filter(given_back_at=None).exists()


def test_a_day_has_room_for_so_much_and_the_last_of_it_goes_to_one(office, provider):
    """At the proposal by what has run, at the claim for certain."""
    in_force(office, daily={"money_out_cents": 15_000})
    first = office.propose("pay_out", amount_cents=10_000)
    assert office.confirm(first, **STRONG).kind == Kind.DECIDED
    second = office.propose("pay_out", amount_cents=10_001)
    assert office.confirm(second, **STRONG).kind == Kind.DECIDED
    assert office.execute(first).status == Status.EXECUTED
    assert office.execute(second).failure["code"] == "OVER_LIMIT"
    assert refused(office, "pay_out", amount_cents=5_001).code == "OVER_LIMIT"
    office.propose("pay_out", amount_cents=5_000)


def test_what_the_provider_refuses_gives_its_room_back(office, provider):
    in_force(office, daily={"messages": 1})
    provider.set_mode("refuse")
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    assert office.execute(action).status == Status.FAILED
    provider.set_mode("ok")
    again = office.propose("post_letter", text="Ho")
    office.confirm(again)
    assert office.execute(again).status == Status.EXECUTED
    assert refused(office, "post_letter", text="Hum").code == "OVER_LIMIT"


def test_a_change_needs_the_right_and_the_version_that_was_looked_at(office):
    with office.scope():
        with pytest.raises(DomainError) as raised:
            review.change(by=office.alex, text="{}", expected=0)
        assert raised.value.code == "FORBIDDEN"
        review.change(by=office.dana, text="{}", expected=0)
        with pytest.raises(DomainError) as raised:
            review.change(by=office.sam, text="{}", expected=0)
        assert raised.value.code == "CHANGED_MEANWHILE"
        assert AuditEvent.objects.filter(kind="review_policy.changed").count() == 1


def test_a_company_with_one_approver_types_the_amount_and_has_time_to_take_it_back(office, provider):
    with office.scope():
        Membership.objects.filter(pk__in=[office.sam.pk, office.alex.pk]).update(active=False)
    action = office.propose("pay_out", amount_cents=60_000)
    assert (action.approvals, action.alone, action.undo_seconds) == (1, True, 600)
    assert "you_decide_alone" in [warning["code"] for warning in action.preview["warnings"]]
    assert office.confirm(action, **STRONG).kind == Kind.REFUSED
    typed = STRONG | {"held": False, "typed": action.preview["typed"]}
    assert office.confirm(action, **typed).kind == Kind.DECIDED
    assert office.execute(action).status == Status.SCHEDULED
    assert office.undo(action).kind == Kind.DECIDED
    assert provider.all_sends() == {}


def test_the_roles_that_a_rule_may_name_are_those_there_are():
    for role in Role:
        assert review.read(json.dumps({"rules": [{"roles": [role.value]}]})).rules[0].roles == (role.value,)
