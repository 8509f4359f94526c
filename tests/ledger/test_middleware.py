"""What a request is told that no view takes."""

import pytest
from django.test import Client as Browser
from django.test import override_settings


@pytest.mark.parametrize("debug", [False, True])
def test_a_form_posted_without_the_slash_is_not_found_and_a_page_is_led_there(debug: bool) -> None:
    with override_settings(DEBUG=debug):
        browser = Browser()
        assert browser.post("/login", {"username": "x"}).status_code == 404
        led = browser.get("/login")
    assert (led.status_code, led["Location"]) == (301, "/login/")


@pytest.mark.parametrize(("language", "word"), [("en", "take"), ("pt-br", "aceita")])
def test_a_refused_method_is_said_in_words(language: str, word: str) -> None:
    answer = Browser().delete("/c/", headers={"Accept-Language": language})
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, POST")
    assert word in answer.text
