"""The operator's site: who comes in, and into which company (R4, R13, settled question 31)."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client as Browser
from django.urls import URLPattern, URLResolver
from django.utils import timezone

from ledger import admin_scope, audit, tenancy
from ledger.actions.members import add_member
from ledger.admin_site import site
from ledger.models import Client, User
from tests import operators
from tests.cast import PASSWORD, Cast, john_smith
from tests.operators import STRANGE, events, text, url


def patterns(found: list[Any], prefix: str = "/admin/") -> Iterator[tuple[str, URLPattern]]:
    for one in found:
        if isinstance(one, URLResolver):
            yield from patterns(one.url_patterns, prefix + str(one.pattern))
        else:
            yield prefix + str(one.pattern), one


def addresses(row_id: Any = STRANGE) -> list[str]:
    """Every address of the site, its parameters filled with one id."""
    found = []
    for route, _pattern in patterns(site.urls[0]):
        address = route.replace("^(?P<app_label>ledger|assistant)/$", "ledger/").replace("(?P<url>.*)$", "nothing/")
        for part in ("<path:object_id>", "<uuid:action_id>", "<id>"):
            address = address.replace(part, str(row_id))
        assert "<" not in address and "^" not in address, address
        found.append(address)
    return found


PUBLIC = {"/admin/login/", "/admin/logout/"}


# Who comes in


def test_strangers_are_sent_to_sign_in_from_every_address() -> None:
    browser = Browser()
    assert len(addresses()) > 80
    for address in addresses():
        for method in (browser.get, browser.post):
            response = method(address)
            if address == "/admin/logout/":
                assert response.status_code in (302, 405)
            else:
                assert response.status_code == 302, address
                assert response["Location"].startswith("/login/?next=/admin/"), address


def test_for_people_who_are_not_staff_there_is_nothing_here(strangers: Cast) -> None:
    browser = operators.browser(strangers.mallory.user)
    with strangers.scope():
        own = john_smith(strangers)
    for address in (*addresses(), *addresses(own.pk)):
        if address == "/admin/logout/":
            continue
        for method in (browser.get, browser.post):
            assert method(address).status_code == 404, address


def test_staff_who_lost_the_mark_are_out_at_once(lone_ridge: Cast) -> None:
    user = operators.staff()
    browser = operators.inside(lone_ridge.company, user)
    assert browser.get(url(Client, "changelist")).status_code == 200
    User.objects.filter(pk=user.pk).update(is_staff=False)
    assert browser.get(url(Client, "changelist")).status_code == 404
    User.objects.filter(pk=user.pk).update(is_staff=True, is_active=False)
    assert browser.get(url(Client, "changelist")).status_code == 302


def test_there_is_one_way_to_sign_in_and_it_leads_back() -> None:
    user = operators.staff()
    browser = Browser()
    assert browser.get("/admin/chain/")["Location"] == "/login/?next=/admin/chain/"
    assert browser.get("/admin/login/?next=/admin/chain/")["Location"] == "/login/?next=/admin/chain/"
    response = browser.post(
        "/login/?next=/admin/chain/", {"username": user.email, "password": PASSWORD, "next": "/admin/chain/"}
    )
    assert (response.status_code, response["Location"]) == (302, "/admin/chain/")


def test_staff_of_no_company_are_shown_the_way(lone_ridge: Cast) -> None:
    assert 'href="/admin/"' in text(operators.browser(operators.staff()).get("/companies/"))
    assert 'href="/admin/"' not in text(operators.browser(lone_ridge.dana.user).get("/companies/"))


# Which company


def test_without_a_company_only_the_chooser_is_open() -> None:
    browser = operators.browser(operators.staff())
    unscoped = {"/admin/login/", "/admin/logout/", "/admin/company/"}
    for address in addresses():
        if address in unscoped:
            continue
        response = browser.get(address)
        assert response.status_code == 302, address
        assert response["Location"].startswith("/admin/company/?next="), address
    assert browser.get("/admin/company/").status_code == 200


def test_the_chooser_names_no_company(lone_ridge: Cast, strangers: Cast) -> None:
    page = text(operators.browser(operators.staff()).get("/admin/company/"))
    for cast in (lone_ridge, strangers):
        assert cast.company.name not in page
        assert cast.company.slug not in page


def test_entering_stands_in_that_companys_chain_with_who_and_from_where(lone_ridge: Cast, strangers: Cast) -> None:
    user = operators.staff()
    operators.inside(lone_ridge.company, user)
    (entered,) = events(lone_ridge, "admin.entered")
    assert entered["detail"] == {"operator": {"id": str(user.pk), "email": user.email}}
    assert (entered["door"], entered["address"], entered["actor"]) == ("admin", "127.0.0.1", None)
    assert (entered["subject_kind"], entered["subject_id"]) == ("company", str(lone_ridge.tenant_id))
    assert events(strangers, "admin.entered") == []
    with lone_ridge.scope():
        assert audit.verify().whole


@pytest.mark.parametrize("letters", [str, str.upper])
def test_a_company_is_found_by_the_address_of_somebody_in_it(lone_ridge: Cast, letters: Any) -> None:
    browser = operators.browser(operators.staff())
    response = browser.post("/admin/company/", {"company": letters(lone_ridge.alex.user.email)})
    assert (response.status_code, response["Location"]) == (302, "/admin/")
    assert lone_ridge.company.name in text(browser.get("/admin/"))


def test_the_way_goes_on_to_where_one_wanted_to_be(lone_ridge: Cast) -> None:
    browser = operators.browser(operators.staff())
    form = text(browser.get("/admin/company/?next=/admin/chain/"))
    assert '<input type="hidden" name="next" value="/admin/chain/">' in form
    wanted = {"company": str(lone_ridge.tenant_id), "next": "/admin/chain/"}
    assert browser.post("/admin/company/", wanted)["Location"] == "/admin/chain/"
    for elsewhere in ("https://example.com/admin/", "//example.com/admin/", "/c/", "/admin/\\..//example.com"):
        sent = browser.post("/admin/company/", wanted | {"next": elsewhere})["Location"]
        assert sent.startswith("/admin/"), elsewhere


def test_somebody_of_two_companies_needs_the_short_name(lone_ridge: Cast, strangers: Cast) -> None:
    with strangers.scope():
        add_member(by=strangers.mallory, email=lone_ridge.dana.user.email, name="Dana", role="viewer")
    browser = operators.browser(operators.staff())
    named = {"company": lone_ridge.dana.user.email}
    response = browser.post("/admin/company/", named)
    assert response.status_code == 422
    assert "belongs to several companies" in text(response)
    assert lone_ridge.company.name not in text(response)
    assert browser.post("/admin/company/", named | {"slug": "no-such"}).status_code == 422
    assert browser.post("/admin/company/", named | {"slug": strangers.company.slug.upper()}).status_code == 302
    assert strangers.company.name in text(browser.get("/admin/"))


@pytest.mark.parametrize(
    "wrong",
    ["", " ", STRANGE, "nobody@example.com", "lone-ridge", "x" * 255, "a\x00b", "'; DROP TABLE", "0" * 32, "ünïcode@é"],
)
def test_a_wrong_name_gives_a_sentence(wrong: str) -> None:
    browser = operators.browser(operators.staff())
    response = browser.post("/admin/company/", {"company": wrong})
    assert response.status_code == 422
    assert "errorlist" in text(response)
    assert browser.get("/admin/").status_code == 302


def test_the_short_name_has_to_be_the_companys_own_even_with_its_id(lone_ridge: Cast) -> None:
    browser = operators.browser(operators.staff())
    wrong = {"company": str(lone_ridge.tenant_id), "slug": "other-co"}
    assert browser.post("/admin/company/", wrong).status_code == 422
    assert events(lone_ridge, "admin.entered") == []


def test_an_entry_ends_after_some_hours(lone_ridge: Cast) -> None:
    browser = operators.inside(lone_ridge.company)
    session = browser.session
    session[admin_scope.SESSION_ENTERED]["at"] = int(timezone.now().timestamp()) - admin_scope.ENTRY_SECONDS
    session.save()
    assert browser.get("/admin/")["Location"].startswith("/admin/company/")


@pytest.mark.parametrize("stale", ["x", {"company": STRANGE}, {"company": STRANGE, "at": 1 << 40}, None, 5])
def test_a_session_that_names_no_company_leads_to_the_chooser(stale: Any) -> None:
    browser = operators.browser(operators.staff())
    session = browser.session
    session[admin_scope.SESSION_ENTERED] = stale
    session.save()
    assert browser.get("/admin/")["Location"].startswith("/admin/company/")


def test_leaving_closes_the_company_and_stands_in_its_chain(lone_ridge: Cast) -> None:
    browser = operators.inside(lone_ridge.company)
    assert browser.get("/admin/company/leave/").status_code == 302
    assert browser.get("/admin/").status_code == 200, "a mere look at the address leaves nothing"
    assert browser.post("/admin/company/leave/")["Location"] == "/admin/company/"
    assert browser.get("/admin/").status_code == 302
    assert len(events(lone_ridge, "admin.left")) == 1


def test_the_scope_is_closed_after_each_answer(lone_ridge: Cast) -> None:
    browser = operators.inside(lone_ridge.company)
    for address in ("/admin/", "/admin/ledger/client/zzz/change/", "/admin/chain/"):
        browser.get(address)
        assert not tenancy.has_tenant()
