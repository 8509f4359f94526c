"""Members and companies: nobody raises themselves, an owner stays, and what was permitted before stops counting."""

import threading
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError, connection

from ledger import audit, permissions, tenancy
from ledger.actions.company import change_settings, create_company
from ledger.actions.members import add_member, change_member_role, deactivate_member, user_for
from ledger.company_settings import CompanySettings, current_settings
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import Access, AuditEvent, Company, Membership, Role, SettingsVersion
from ledger.money import TaxMode
from tests import cast as casting
from tests.cast import Cast


def refused(code: str) -> Any:
    return pytest.raises(DomainError, check=lambda error: error.code == code)


def fresh(member: Membership) -> Membership:
    return Membership.objects.get(pk=member.pk)


# A company


def test_a_company_starts_with_settings_an_owner_and_a_way_in(lone_ridge: Cast) -> None:
    owner = lone_ridge.owner
    assert list(Access.objects.filter(user=owner.user).values_list("tenant_id", flat=True)) == [lone_ridge.tenant_id]
    with lone_ridge.scope():
        assert (owner.ref, owner.role, owner.approve_l3, owner.epoch) == ("U-01", "owner", True, 1)
        version, values = current_settings()
        assert (version.number, values) == (1, CompanySettings())
        assert Company.objects.get().currency == "USD"
        assert AuditEvent.objects.filter(kind="company.created").count() == 1


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"country": "FR"}, "UNKNOWN_COUNTRY"),
        ({"timezone": "Mars/Olympus"}, "UNKNOWN_ZONE"),
        ({"locale": "xx-YY"}, "UNKNOWN_LOCALE"),
        ({"settings": {"tax_mode": "sometimes"}}, "INVALID_SETTING"),
        ({"settings": {"colour": "blue"}}, "INVALID_SETTING"),
        ({"settings": {"l3_threshold_cents": -1}}, "INVALID_SETTING"),
        ({"settings": {"quote_format": "{seq.__class__}"}}, "INVALID_SETTING"),
        ({"settings": {"discount_limits": {"sales": "101"}}}, "INVALID_SETTING"),
        ({"phone": "12"}, "PHONE_INVALID"),
        ({"name": " "}, "REQUIRED"),
    ],
)
def test_a_company_that_cannot_be_is_not_made(given: dict[str, Any], code: str) -> None:
    person = user_for("nobody@nowhere.example")
    values = {"name": "Nowhere", "country": "US", "timezone": "America/Chicago", "owner_name": "Nobody"}
    with refused(code):
        create_company(**{"slug": "nowhere", "owner": person, **values, **given})
    assert not Access.objects.filter(user=person).exists()


def test_a_short_name_is_given_once(lone_ridge: Cast) -> None:
    with refused("SLUG_TAKEN"):
        create_company(
            slug=lone_ridge.company.slug,
            name="Copy",
            country="US",
            timezone="America/Chicago",
            owner=user_for("copy@nowhere.example"),
            owner_name="Copy",
        )


# Settings


def test_a_change_of_settings_is_a_new_version_and_the_old_one_stays(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        version = change_settings(by=lone_ridge.owner, changes={"tax_mode": "inclusive", "terms_days": 15})
        assert (version.number, current_settings().values.tax_mode) == (2, TaxMode.INCLUSIVE)
        first = SettingsVersion.objects.get(number=1)
        assert first.values["tax_mode"] == "exclusive"
        event = AuditEvent.objects.get(kind="settings.changed")
        assert '"changes":{"tax_mode":["exclusive","inclusive"]}' in event.body
        assert change_settings(by=lone_ridge.owner, changes={"terms_days": 15}).number == 2
    with pytest.raises(DatabaseError, match="Cannot"), lone_ridge.scope():
        SettingsVersion.objects.filter(number=1).update(values={})


def test_a_setting_that_may_not_be_changes_nothing(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        with refused("INVALID_SETTING"):
            change_settings(by=lone_ridge.owner, changes={"expiry_seconds": {"send_quote": 5}})
        with pytest.raises(NotAllowed):
            change_settings(by=lone_ridge.alex, changes={"terms_days": 1})
        assert current_settings().version.number == 1


def test_settings_hold_no_float(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        change_settings(by=lone_ridge.owner, changes={"tax_rate": "8.25"})
        version, values = current_settings()
        assert (version.values["tax_rate"], values.tax_rate) == ("8.25", Decimal("8.25"))
        audit.canonical(version.values)


def test_the_discount_limit_is_the_roles_or_the_persons_own(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        values = current_settings().values
        assert values.discount_limit(lone_ridge.owner) == 100
        assert values.discount_limit(lone_ridge.alex) == 10
        change_member_role(lone_ridge.alex, by=lone_ridge.owner, role=Role.SALES, discount_limit=Decimal("12.5"))
        assert values.discount_limit(fresh(lone_ridge.alex)) == Decimal("12.5")
        lone_ridge.alex.role = Role.CREW
        lone_ridge.alex.discount_limit = Decimal(0)
        assert values.discount_limit(lone_ridge.alex) == 0


# Members


def test_a_new_role_raises_the_epoch_and_counts_at_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        assert permissions.allowed(lone_ridge.alex, "create_quote")
        changed = change_member_role(lone_ridge.alex, by=lone_ridge.sam, role=Role.VIEWER)
        assert (changed.role, changed.epoch) == ("viewer", 2)
        assert not permissions.allowed(changed, "create_quote")
        event = AuditEvent.objects.get(kind="member.changed")
        assert '"changes":{"role":["sales","viewer"]}' in event.body
        assert change_member_role(changed, by=lone_ridge.sam, role=Role.VIEWER).epoch == 2


def test_nobody_raises_themselves(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        for member in (lone_ridge.owner, lone_ridge.sam):
            with pytest.raises(NotAllowed):
                change_member_role(member, by=member, role=Role.OWNER, approve_l3=True)
            with pytest.raises(NotAllowed):
                deactivate_member(member, by=member)
        with pytest.raises(NotAllowed):
            change_member_role(lone_ridge.sam, by=lone_ridge.alex, role=Role.VIEWER)


def test_only_an_owner_makes_or_unmakes_an_owner(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        with pytest.raises(NotAllowed):
            change_member_role(lone_ridge.alex, by=lone_ridge.sam, role=Role.OWNER)
        with pytest.raises(NotAllowed):
            change_member_role(lone_ridge.owner, by=lone_ridge.sam, role=Role.VIEWER)
        with pytest.raises(NotAllowed):
            add_member(by=lone_ridge.sam, email="boss@loneridge.example", name="Boss", role=Role.OWNER)
        with pytest.raises(NotAllowed):
            deactivate_member(lone_ridge.owner, by=lone_ridge.sam)
        assert change_member_role(lone_ridge.sam, by=lone_ridge.owner, role=Role.OWNER).role == "owner"


def test_the_last_owner_stays_in_the_action_and_in_the_database(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        second = change_member_role(lone_ridge.sam, by=lone_ridge.owner, role=Role.OWNER)
        change_member_role(lone_ridge.owner, by=second, role=Role.ADMIN)
        former = fresh(lone_ridge.owner)
        former.role = Role.OWNER  # as an actor who still believes to be one
        with refused("LAST_OWNER"):
            deactivate_member(second, by=former)
    for change in ({"role": "admin"}, {"active": False}):
        with pytest.raises(DatabaseError, match="without an owner"), lone_ridge.scope():
            Membership.objects.filter(role="owner").update(**change)


def test_two_owners_who_remove_each_other_at_once_leave_one() -> None:
    cast = casting.lone_ridge()
    with cast.scope():
        second = change_member_role(cast.sam, by=cast.owner, role=Role.OWNER)
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def remove(member: Membership, by: Membership) -> None:
        try:
            with cast.scope():
                start.wait(10)
                deactivate_member(member, by=by)
            outcomes.append("removed")
        except DomainError as error:
            outcomes.append(error.code)
        finally:
            connection.close()

    pairs = [(second, cast.owner), (cast.owner, second)]
    threads = [threading.Thread(target=remove, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(outcomes) == ["LAST_OWNER", "removed"]
    with cast.scope():
        assert Membership.objects.filter(role="owner", active=True).count() == 1


def test_who_is_deactivated_finds_the_door_closed_and_may_come_back(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        gone = deactivate_member(lone_ridge.alex, by=lone_ridge.owner)
        assert (gone.active, gone.epoch) == (False, 2)
        assert not permissions.allowed(gone, "view_records")
    assert not Access.objects.filter(user=gone.user).exists()
    with lone_ridge.scope():
        back = add_member(by=lone_ridge.owner, email=gone.user.email, name="Alex Again", role=Role.CREW)
        assert (back.pk, back.role, back.active, back.epoch) == (gone.pk, "crew", True, 3)
    assert Access.objects.filter(user=gone.user).count() == 1
    with lone_ridge.scope(), refused("ALREADY_MEMBER"):
        add_member(by=lone_ridge.owner, email=gone.user.email.upper(), name="Twice", role=Role.CREW)


def test_a_person_may_belong_to_two_companies(lone_ridge: Cast, aurora: Cast) -> None:
    with aurora.scope():
        member = add_member(by=aurora.owner, email=lone_ridge.alex.user.email, name="Alex", role=Role.VIEWER)
        assert member.user == lone_ridge.alex.user
    found = set(Access.objects.filter(user=member.user).values_list("tenant_id", flat=True))
    assert found == {lone_ridge.tenant_id, aurora.tenant_id}


def test_a_strangers_member_is_not_there(lone_ridge: Cast, strangers: Cast) -> None:
    with lone_ridge.scope():
        for deed in (
            lambda: change_member_role(strangers.owner, by=lone_ridge.owner, role=Role.VIEWER),
            lambda: deactivate_member(strangers.owner, by=lone_ridge.owner),
        ):
            with pytest.raises(NotFound):
                deed()
    assert Access.objects.filter(user=strangers.owner.user).count() == 1


def test_a_person_without_a_password_cannot_sign_in() -> None:
    person = user_for("invited@nowhere.example")
    assert not person.has_usable_password()
    assert user_for("INVITED@nowhere.example") == person
    assert not tenancy.has_tenant()


@pytest.mark.parametrize(
    "typo",
    [
        {"l3_always": "alwyas"},
        {"l3_alwyas": True},
        {"l3_threshold_cents": "lots"},
        {"l3_threshold_cents": -1},
        {"discount_limits": {"salse": "5"}},
        {"overpayment": "creidt"},
        {"expiry_seconds": {"send_quote": 5}},
    ],
)
def test_T32_a_typo_in_a_rule_is_refused_and_the_last_good_rules_stay(lone_ridge: Cast, typo: dict[str, Any]) -> None:
    with lone_ridge.scope():
        change_settings(by=lone_ridge.owner, changes={"l3_always": True, "l3_threshold_cents": 30_000})
        with pytest.raises(DomainError) as refused:
            change_settings(by=lone_ridge.owner, changes=typo)
        assert refused.value.code == "INVALID_SETTING"
        values = current_settings().values
        assert (values.l3_always, values.l3_threshold_cents, SettingsVersion.objects.count()) == (True, 30_000, 2)
