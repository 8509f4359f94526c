"""Wrong passwords: how many are taken, from whom, by all web processes together, and how long one waits then."""

import re
import secrets
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.http import HttpResponse
from django.test import Client as Browser

from ledger import tasks
from ledger.models import Knock
from ledger.views import sign_in_limits
from ledger.views.sign_in_limits import WAIT_SECONDS, WRONG_FOR_AN_ACCOUNT, WRONG_FROM_AN_ADDRESS
from tests.cast import PASSWORD, Cast

HERE, ELSEWHERE = "203.0.113.10", "203.0.113.20"


@pytest.fixture(autouse=True)
def nobody_has_knocked() -> None:
    Knock.objects.all().delete()


def give(
    email: str, password: str, *, browser: Browser | None = None, address: str = HERE, language: str = "en"
) -> HttpResponse:
    given = {"username": email, "password": password}
    headers = {"accept-language": language}
    answer: HttpResponse = (browser or Browser()).post("/login/", given, REMOTE_ADDR=address, headers=headers)
    return answer


def wrong(email: str, times: int, **how: str) -> list[int]:
    return [give(email, f"wrong {n}", **how).status_code for n in range(times)]


def later(seconds: int) -> None:
    """So many seconds pass on the database's clock."""
    Knock.objects.update(since=F("since") - timedelta(seconds=seconds))


def words(answer: HttpResponse) -> str:
    return re.sub(r"\s+", " ", re.sub(r'(value|nonce)="[^"]*"', "", answer.content.decode()))


def test_after_several_wrong_passwords_for_an_account_the_right_one_is_refused_too(lone_ridge: Cast) -> None:
    email = lone_ridge.dana.user.email
    assert wrong(email, WRONG_FOR_AN_ACCOUNT) == [200] * WRONG_FOR_AN_ACCOUNT
    browser = Browser()
    right, not_right = give(email, PASSWORD, browser=browser, address=ELSEWHERE), give(email, "no", address=ELSEWHERE)
    assert (right.status_code, not_right.status_code) == (429, 429)
    assert words(right) == words(not_right)
    assert (right.cookies.keys(), not_right.cookies.keys()) == ({"csrftoken"}, {"csrftoken"})
    assert 0 < int(right["Retry-After"]) <= WAIT_SECONDS
    assert "There were too many attempts to sign in. Wait 5 minutes, then try again." in right.content.decode()
    assert browser.get("/c/").status_code == 302
    assert give(lone_ridge.sam.user.email, PASSWORD, address=ELSEWHERE).status_code == 302


def test_it_is_said_in_the_readers_language(lone_ridge: Cast) -> None:
    email = lone_ridge.dana.user.email
    wrong(email, WRONG_FOR_AN_ACCOUNT)
    refused = give(email, PASSWORD, language="pt-BR")
    assert "Houve tentativas demais de entrar. Espere 5 minutos e tente de novo." in refused.content.decode()
    later(WAIT_SECONDS - 50)
    refused = give(email, PASSWORD, language="pt-BR")
    assert "Houve tentativas demais de entrar. Espere um minuto e tente de novo." in refused.content.decode()


def test_an_account_that_does_not_exist_is_refused_in_the_same_words(lone_ridge: Cast) -> None:
    nobody, dana = f"{secrets.token_hex(6)}@example.com", lone_ridge.dana.user.email
    answers = []
    for email in (nobody, dana):
        assert wrong(email, WRONG_FOR_AN_ACCOUNT) == [200] * WRONG_FOR_AN_ACCOUNT
        answers.append(give(email, "once more"))
    assert [answer.status_code for answer in answers] == [429, 429]
    assert words(answers[0]) == words(answers[1])


def test_an_address_that_tries_many_accounts_is_refused_and_others_are_not(lone_ridge: Cast) -> None:
    for n in range(WRONG_FROM_AN_ADDRESS):
        assert give(f"{n}@example.com", "password").status_code == 200
    email = lone_ridge.dana.user.email
    assert give(email, PASSWORD).status_code == 429
    assert give(email, PASSWORD, address=ELSEWHERE).status_code == 302


def test_all_web_processes_count_as_one(lone_ridge: Cast, database_url: str) -> None:
    """Each thread has a connection of its own and shares nothing else, as another web process would; all at once."""
    email = lone_ridge.dana.user.email

    def attempt(n: int) -> int:
        try:
            return give(email, f"wrong {n}", address=f"203.0.113.{n}").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=6) as processes:
        answers = Counter(processes.map(attempt, range(WRONG_FOR_AN_ACCOUNT + 6)))
    assert answers == {200: WRONG_FOR_AN_ACCOUNT, 429: 6}


def test_the_wait_is_over_by_the_databases_clock_and_no_try_makes_it_longer(
    lone_ridge: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can lock an owner out for ever: the wait has an end that is fixed when it begins."""
    email = lone_ridge.dana.user.email
    wrong(email, WRONG_FOR_AN_ACCOUNT - 1)
    later(WAIT_SECONDS - 10)
    wrong(email, 1)
    assert int(give(email, PASSWORD)["Retry-After"]) >= WAIT_SECONDS - 5, "the wait begins when there are too many"
    later(WAIT_SECONDS - 30)
    assert wrong(email, 3 * WRONG_FOR_AN_ACCOUNT, address=ELSEWHERE) == [429] * (3 * WRONG_FOR_AN_ACCOUNT)
    assert int(give(email, PASSWORD)["Retry-After"]) <= 30
    monkeypatch.setattr("time.time", lambda: 4_000_000_000.0)  # a web server whose clock is wrong
    assert give(email, PASSWORD).status_code == 429
    monkeypatch.undo()
    later(31)
    assert give(email, PASSWORD).status_code == 302


def test_a_stranger_keeps_nobody_from_a_device_that_is_known(lone_ridge: Cast) -> None:
    email, browser = lone_ridge.dana.user.email, Browser()
    assert give(email, PASSWORD, browser=browser).status_code == 302
    browser.post("/logout/")
    assert set(wrong(email, WRONG_FOR_AN_ACCOUNT + 1, address=ELSEWHERE)) == {200, 429}
    Knock.objects.filter(count__gt=1).update(count=10_000)  # and the address that they share
    assert give(email, PASSWORD).status_code == 429
    answer = give(email, PASSWORD, browser=browser)
    assert answer.status_code == 302
    cookie = answer.cookies[sign_in_limits.DEVICE]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/login/")
    assert email.split("@")[0] not in cookie.value


def test_a_known_device_may_not_try_for_ever_and_is_known_for_its_account_only(lone_ridge: Cast) -> None:
    dana, sam, browser = lone_ridge.dana.user.email, lone_ridge.sam.user.email, Browser()
    give(dana, PASSWORD, browser=browser)
    tries = [give(dana, "wrong", browser=browser).status_code for _ in range(WRONG_FOR_AN_ACCOUNT + 1)]
    assert tries == [200] * WRONG_FOR_AN_ACCOUNT + [429]
    assert give(dana, PASSWORD).status_code == 302
    wrong(sam, WRONG_FOR_AN_ACCOUNT, address=ELSEWHERE)
    assert give(sam, PASSWORD, browser=browser).status_code == 429
    forged = Browser()
    forged.cookies[sign_in_limits.DEVICE] = browser.cookies[sign_in_limits.DEVICE].value[:-2] + "xx"
    wrong(dana, WRONG_FOR_AN_ACCOUNT, address=ELSEWHERE)
    assert give(dana, PASSWORD, browser=forged, address=ELSEWHERE).status_code == 429


def test_right_passwords_do_not_count(lone_ridge: Cast) -> None:
    email = lone_ridge.dana.user.email
    assert [give(email, PASSWORD).status_code for _ in range(WRONG_FOR_AN_ACCOUNT + 2)] == [302] * 12
    assert wrong(email, WRONG_FOR_AN_ACCOUNT + 1) == [200] * WRONG_FOR_AN_ACCOUNT + [429]


@pytest.mark.parametrize("spelling", ["upper", "space", "dotless", "wide"])
def test_every_spelling_of_an_address_is_the_same_account(lone_ridge: Cast, spelling: str) -> None:
    """The database's comparison in capitals takes a dotless i for an i; the form folds wide letters."""
    email = lone_ridge.dana.user.email
    other = {
        "upper": email.upper(),
        "space": f" {email} ",
        "dotless": email.replace("i", "\u0131"),
        "wide": email.replace("a", "\uff41"),
    }[spelling]
    assert other != email
    assert wrong(email, WRONG_FOR_AN_ACCOUNT) == [200] * WRONG_FOR_AN_ACCOUNT
    assert give(other, PASSWORD, address=ELSEWHERE).status_code == 429


def test_what_no_address_can_be_is_counted_and_breaks_nothing() -> None:
    for odd in ("\x00", "x" * 10_000, ""):
        assert give(odd, "x").status_code == 200


def test_the_admin_has_no_other_way_in(lone_ridge: Cast) -> None:
    operator = lone_ridge.dana.user
    type(operator).objects.filter(pk=operator.pk).update(is_staff=True)
    wrong(operator.email, WRONG_FOR_AN_ACCOUNT)
    browser = Browser()
    asked = browser.get("/admin/login/")
    assert (asked.status_code, asked["Location"]) == (302, "/login/?next=/admin/")
    assert browser.post("/admin/login/", {"username": operator.email, "password": PASSWORD}).status_code == 302
    given = {"username": operator.email, "password": PASSWORD, "next": "/admin/"}
    assert browser.post(asked["Location"], given, REMOTE_ADDR=ELSEWHERE).status_code == 429
    assert browser.get("/admin/").status_code == 302


def test_the_sweep_forgets_no_wait_that_still_runs() -> None:
    assert timedelta(seconds=WAIT_SECONDS) <= tasks.KNOCKS_KEPT
