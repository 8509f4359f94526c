"""A member's page of passkeys: added and removed with the password only, on record, never a stranger's."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client as Browser
from django.utils import timezone

from ledger import webauthn
from ledger.actions.passkeys import add_passkey, passkeys_of
from ledger.company_settings import current_settings
from ledger.models import AuditEvent, Passkey
from tests.cast import PASSWORD, Cast
from tests.support.authenticator import Authenticator


@pytest.fixture(autouse=True)
def address(settings: Any) -> None:
    settings.AVAL_URL = "http://localhost:8000"


def browser_of(cast: Cast, name: str = "dana") -> Browser:
    browser = Browser(headers={"host": "localhost:8000"})
    browser.force_login(cast[name].user)
    return browser


def begin(browser: Browser, **given: str) -> Any:
    return browser.post("/passkeys/begin/", {"name": "My telephone", "password": PASSWORD} | given)


def challenge_of(answer: Any) -> bytes:
    return webauthn.decode(answer.json()["options"]["challenge"])


def registered(cast: Cast, name: str = "dana", key: Authenticator | None = None) -> Passkey:
    with cast.scope():
        answer = (key or Authenticator()).register(b"c" * 32)
        return add_passkey(answer, name="Key", challenge=b"c" * 32, by=cast[name])


def events(cast: Cast, kind: str) -> list[dict[str, Any]]:
    with cast.scope():
        return [json.loads(event.body) for event in AuditEvent.objects.filter(kind=kind).order_by("at")]


def test_a_passkey_is_added_with_the_password_and_is_on_record(lone_ridge: Cast) -> None:
    browser, key = browser_of(lone_ridge), Authenticator()
    asked = begin(browser)
    options = asked.json()["options"]
    assert (options["rp"]["id"], options["user"]["id"]) == ("localhost", webauthn.encode(lone_ridge.dana.pk.bytes))
    answer = browser.post("/passkeys/add/", {"credential": key.register(challenge_of(asked))})
    assert (answer.status_code, answer["Location"]) == (303, "/passkeys/")
    page = browser.get("/passkeys/").content.decode()
    assert "“My telephone” was added." in page
    assert '<th scope="row">My telephone</th>' in page
    assert "never" in page
    with lone_ridge.scope():
        kept = passkeys_of(lone_ridge.dana)
    assert [(one.name, one.credential_id) for one in kept] == [("My telephone", webauthn.encode(key.credential_id))]
    (event,) = events(lone_ridge, "passkey.added")
    assert (event["actor_name"], event["detail"]["name"], event["door"]) == ("Dana", "My telephone", "web")


@pytest.mark.parametrize("given", [{"password": "wrong"}, {"password": ""}, {"name": " "}], ids=str)
def test_without_the_password_or_a_name_nothing_begins(lone_ridge: Cast, given: dict[str, str]) -> None:
    browser = browser_of(lone_ridge)
    assert begin(browser, **given).status_code == 422
    answer = browser.post("/passkeys/add/", {"credential": Authenticator().register(b"c" * 32)})
    assert answer.status_code == 422
    assert "That took too long. Start again." in answer.content.decode()


def test_a_challenge_is_answered_once_by_whom_it_was_made_for(lone_ridge: Cast) -> None:
    browser, other = browser_of(lone_ridge), browser_of(lone_ridge, "sam")
    answer = Authenticator().register(challenge_of(begin(browser)))
    assert other.post("/passkeys/add/", {"credential": answer}).status_code == 422
    assert browser.post("/passkeys/add/", {"credential": answer}).status_code == 303
    assert browser.post("/passkeys/add/", {"credential": answer}).status_code == 422
    assert len(events(lone_ridge, "passkey.added")) == 1


def test_a_challenge_is_answered_in_five_minutes(lone_ridge: Cast, time_machine: Any) -> None:
    browser = browser_of(lone_ridge)
    answer = Authenticator().register(challenge_of(begin(browser)))
    time_machine.move_to(timezone.now() + timedelta(seconds=301))
    assert browser.post("/passkeys/add/", {"credential": answer}).status_code == 422


@pytest.mark.parametrize("wrong", [{"origin": "http://127.0.0.1:8000"}, {"flags": 0x01}, {"rp_id": "evil.example"}])
def test_an_answer_that_does_not_hold_adds_nothing(lone_ridge: Cast, wrong: dict[str, Any]) -> None:
    browser = browser_of(lone_ridge)
    answer = Authenticator().register(challenge_of(begin(browser)), **wrong)
    refused = browser.post("/passkeys/add/", {"credential": answer})
    assert refused.status_code == 422
    assert "That passkey could not be added." in refused.content.decode()
    with lone_ridge.scope():
        assert Passkey.objects.count() == 0


def test_the_same_key_is_not_taken_twice_and_ten_are_enough(lone_ridge: Cast) -> None:
    key = Authenticator()
    registered(lone_ridge, key=key)
    browser = browser_of(lone_ridge)
    assert browser.post("/passkeys/add/", {"credential": key.register(challenge_of(begin(browser)))}).status_code == 422
    for _ in range(9):
        registered(lone_ridge)
    assert "That is enough passkeys" in browser.get("/passkeys/").content.decode()
    answer = Authenticator().register(challenge_of(begin(browser)))
    assert browser.post("/passkeys/add/", {"credential": answer}).status_code == 422


def test_a_passkey_is_removed_with_the_password_for_good(lone_ridge: Cast) -> None:
    key, browser = registered(lone_ridge), browser_of(lone_ridge)
    url = f"/passkeys/{key.pk}/remove/"
    assert "Remove “Key”?" in browser.get(url).content.decode()
    wrong = browser.post(url, {"password": "wrong"})
    assert (wrong.status_code, "That is not your password." in wrong.content.decode()) == (422, True)
    for _ in range(2):
        assert browser.post(url, {"password": PASSWORD}).status_code == 303
    with lone_ridge.scope():
        assert passkeys_of(lone_ridge.dana) == []
        assert Passkey.objects.count() == 1
    assert len(events(lone_ridge, "passkey.removed")) == 1


def test_r4_a_passkey_of_another_is_not_there(lone_ridge: Cast, strangers: Cast) -> None:
    key = registered(lone_ridge)
    for browser in (browser_of(lone_ridge, "sam"), browser_of(strangers, "mallory")):
        url = f"/passkeys/{key.pk}/remove/"
        assert [browser.get(url).status_code, browser.post(url, {"password": PASSWORD}).status_code] == [404, 404]
    with lone_ridge.scope():
        assert passkeys_of(lone_ridge.dana) == [key]


def test_strangers_are_sent_to_sign_in_and_only_a_post_changes() -> None:
    for path in ("", "begin/", "add/", "rule/"):
        answer = Browser().get(f"/passkeys/{path}") if not path else Browser().post(f"/passkeys/{path}")
        assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/login/")
        assert Browser().get(f"/passkeys/{path}").status_code == (405 if path else 302)


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000", "https://192.0.2.7", "http://aval.example.com"])
def test_where_the_address_rules_passkeys_out_the_page_says_so(lone_ridge: Cast, settings: Any, address: str) -> None:
    settings.AVAL_URL = address
    browser = browser_of(lone_ridge)
    page = browser.get("/passkeys/").content.decode()
    assert "The address of this installation (AVAL_URL) is neither" in page
    assert "data-passkey-add" not in page
    assert begin(browser).status_code == 422


def test_at_another_address_of_the_installation_the_page_leads_to_the_right_one(lone_ridge: Cast) -> None:
    browser = Browser(headers={"host": "127.0.0.1:8000"})
    browser.force_login(lone_ridge.dana.user)
    page = browser.get("/passkeys/").content.decode()
    assert '<a href="http://localhost:8000/passkeys/">Open it at http://localhost:8000</a>' in page
    assert "data-passkey-add" not in page


def test_the_companys_rule_takes_a_key_of_ones_own_and_the_password(lone_ridge: Cast) -> None:
    browser = browser_of(lone_ridge)
    assert "May confirm strong cards and has no passkey: Dana, Sam." in browser.get("/passkeys/").content.decode()
    first = browser.post("/passkeys/rule/", {"on": "1", "password": PASSWORD})
    assert (first.status_code, "Add a passkey of your own first." in first.content.decode()) == (422, True)
    registered(lone_ridge)
    for given, status in (({"on": "1", "password": "no"}, 422), ({"on": "1", "password": PASSWORD}, 303)):
        assert browser.post("/passkeys/rule/", given).status_code == status
    with lone_ridge.scope():
        assert current_settings().values.l3_passkey is True
    assert browser.post("/passkeys/rule/", {"on": "", "password": "no"}).status_code == 422
    assert browser.post("/passkeys/rule/", {"on": "", "password": PASSWORD}).status_code == 303
    with lone_ridge.scope():
        assert current_settings().values.l3_passkey is False
    seller = browser_of(lone_ridge, "alex")
    assert seller.post("/passkeys/rule/", {"on": "1", "password": PASSWORD}).status_code == 403
    assert "passkey-rule" not in seller.get("/passkeys/").content.decode()


def test_the_page_speaks_portuguese(aurora: Cast) -> None:
    registered(aurora, "bia")
    page = browser_of(aurora, "bia").get("/passkeys/").content.decode()
    assert "Chaves de acesso" in page
    assert "Passkey" not in page.replace("passkey-", "")


def test_after_ten_wrong_passwords_not_even_the_right_one_counts_for_a_while(lone_ridge: Cast) -> None:
    key, browser = registered(lone_ridge), browser_of(lone_ridge)
    assert begin(browser).status_code == 200
    for _ in range(10):
        assert "That is not your password." in begin(browser, password="wrong").json()["detail"]
    for answer in (begin(browser), browser.post(f"/passkeys/{key.pk}/remove/", {"password": PASSWORD})):
        assert (answer.status_code, "wrong too often" in answer.content.decode()) == (422, True)
    assert begin(browser_of(lone_ridge, "sam")).status_code == 200
    with lone_ridge.scope():
        assert passkeys_of(lone_ridge.dana) == [key]
