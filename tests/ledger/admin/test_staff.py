"""The staff's own accounts, and nobody else's."""

import json

import pytest
from django.contrib.admin.models import LogEntry

from ledger.models import Access, User
from tests import operators
from tests.cast import PASSWORD, Cast
from tests.operators import events, text, url

# The staff's own accounts


def new_staff(**given: str) -> dict[str, str]:
    email = operators.staff().email.replace("ops", "new")
    return {
        "email": email,
        "language": "en",
        "usable_password": "true",
        "password1": PASSWORD,
        "password2": PASSWORD,
    } | given


def test_a_superuser_makes_an_account_of_the_staff(lone_ridge: Cast) -> None:
    boss = operators.staff(is_superuser=True)
    browser = operators.inside(lone_ridge.company, boss)
    posted = new_staff()
    assert browser.post(url(User, "add"), posted).status_code == 302
    made = User.objects.get(email=posted["email"])
    assert (made.is_staff, made.is_superuser, made.is_active) == (True, False, True)
    assert made.check_password(PASSWORD)
    (added,) = events(lone_ridge, "user.added")
    assert added["detail"]["operator"]["email"] == boss.email
    assert PASSWORD not in json.dumps(added)


def test_djangos_own_log_stays_empty(lone_ridge: Cast) -> None:
    boss = operators.staff(is_superuser=True)
    browser = operators.inside(lone_ridge.company, boss)
    other = operators.staff()
    change = {"language": "pt-br", "is_active": "on", "is_staff": "on"}
    assert browser.post(url(User, "change", other.pk), change).status_code == 302
    secret = {"password1": "another long secret", "password2": "another long secret", "usable_password": "true"}
    assert browser.post(f"/admin/ledger/user/{other.pk}/password/", secret).status_code == 302
    other.refresh_from_db()
    assert other.check_password("another long secret")
    assert [one["detail"]["fields"] for one in events(lone_ridge, "user.changed")] == [["Language"], ["password"]]
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"email": "no address"},
        {"email": ""},
        {"password2": "different words here"},
        {"password1": "short", "password2": "short"},
        {"language": "xx"},
        {"email": "a\x00@example.com"},
    ],
)
def test_a_wrong_account_gives_a_sentence(lone_ridge: Cast, wrong: dict[str, str]) -> None:
    browser = operators.inside(lone_ridge.company, operators.staff(is_superuser=True))
    before = User.objects.filter(is_staff=True).count()
    response = browser.post(url(User, "add"), new_staff() | wrong)
    assert response.status_code == 200
    assert "errorlist" in text(response)
    assert User.objects.filter(is_staff=True).count() == before + 1, "only the one that lent its address"


def test_an_address_that_a_customer_has_is_taken(lone_ridge: Cast) -> None:
    browser = operators.inside(lone_ridge.company, operators.staff(is_superuser=True))
    taken = lone_ridge.alex.user.email.upper()
    response = browser.post(url(User, "add"), new_staff(email=taken))
    assert "There is an account of that address already." in text(response)
    assert not User.objects.get(pk=lone_ridge.alex.user_id).is_staff


def test_customers_accounts_are_not_there(lone_ridge: Cast) -> None:
    browser = operators.inside(lone_ridge.company, operators.staff(is_superuser=True))
    found = text(browser.get(url(User, "changelist"), {"q": lone_ridge.dana.user.email}))
    assert "0 users" in found
    for page in ("change", "delete", "history"):
        assert browser.get(url(User, page, lone_ridge.dana.user_id)).status_code == 404
    assert browser.get(f"/admin/ledger/user/{lone_ridge.dana.user_id}/password/").status_code == 404


def test_ordinary_staff_see_each_other_and_change_nothing(lone_ridge: Cast) -> None:
    browser = operators.inside(lone_ridge.company)
    other = operators.staff()
    assert other.email in text(browser.get(url(User, "changelist"), {"q": other.email}))
    assert browser.get(url(User, "change", other.pk)).status_code == 200
    assert browser.get(url(User, "add")).status_code == 403
    assert browser.post(url(User, "add"), new_staff()).status_code == 403
    assert browser.post(url(User, "change", other.pk), {"is_superuser": "on"}).status_code == 403
    assert browser.post(f"/admin/ledger/user/{other.pk}/password/", {"password1": "x"}).status_code == 403
    other.refresh_from_db()
    assert not other.is_superuser


def test_nobody_changes_their_own_rights(lone_ridge: Cast) -> None:
    boss = operators.staff(is_superuser=True)
    browser = operators.inside(lone_ridge.company, boss)
    response = browser.post(url(User, "change", boss.pk), {"language": "en", "is_active": "on", "is_staff": "on"})
    assert response.status_code == 200
    assert "Nobody changes their own rights here." in text(response)
    boss.refresh_from_db()
    assert boss.is_superuser


def test_nobody_sets_the_password_of_somebody_who_belongs_to_a_company(lone_ridge: Cast) -> None:
    User.objects.filter(pk=lone_ridge.dana.user_id).update(is_staff=True)
    assert Access.objects.filter(user=lone_ridge.dana.user_id).exists()
    browser = operators.inside(lone_ridge.company, operators.staff(is_superuser=True))
    secret = {"password1": "another long secret", "password2": "another long secret", "usable_password": "true"}
    response = browser.post(f"/admin/ledger/user/{lone_ridge.dana.user_id}/password/", secret, follow=True)
    assert "belongs to a company" in text(response)
    assert not User.objects.get(pk=lone_ridge.dana.user_id).check_password("another long secret")
