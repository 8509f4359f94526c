"""A form whose CSRF token is old or missing is refused in words, wherever it comes from."""

import pytest
from django.test import Client as Browser

from tests.cast import Cast


def browser_of(cast: Cast, **headers: str) -> Browser:
    browser = Browser(enforce_csrf_checks=True, headers=headers)
    browser.force_login(cast.owner.user)
    return browser


def test_a_plain_form_gets_a_page_of_ours(lone_ridge: Cast) -> None:
    answer = browser_of(lone_ridge).post("/c/", {"text": "hello"})
    html = answer.content.decode()
    assert answer.status_code == 403
    assert "This page was open for too long" in html
    assert "Django" not in html


@pytest.mark.parametrize(("language", "words"), [("en", "It is fresh now"), ("pt-br", "Ela está atualizada agora")])
def test_a_page_with_scripts_is_loaded_anew_and_says_why(lone_ridge: Cast, language: str, words: str) -> None:
    lone_ridge.owner.user.language = language
    lone_ridge.owner.user.save(update_fields=["language"])
    browser = browser_of(lone_ridge)
    answer = browser.post("/c/", {"text": "hello"}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Refresh"], answer.content) == (403, "true", b"")
    assert words in browser.get("/c/").content.decode()
    assert words not in browser.get("/c/").content.decode()


def test_a_program_gets_json(lone_ridge: Cast) -> None:
    answer = browser_of(lone_ridge, accept="application/json").post("/c/", {"text": "hello"})
    assert (answer.status_code, list(answer.json())) == (403, ["detail"])


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_session_cookie_that_no_query_can_carry_is_a_strangers(lone_ridge: Cast, method: str) -> None:
    """A quoted cookie may write any character as a number: this one holds a NUL."""
    browser = Browser(enforce_csrf_checks=True)
    browser.cookies.load('sessionid="\\000aaaaaaaaaaaaaaaa"')
    answer = browser.generic(method, "/c/")
    assert answer.status_code == (302 if method == "GET" else 403)
