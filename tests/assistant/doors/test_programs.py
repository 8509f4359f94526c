"""The chat's addresses for a program that takes JSON: the same decisions, with a status and the action as it stands."""

from typing import Any

import pytest
from django.test import Client as Browser

from assistant.models import Decision, Message
from tests.assistant.doors.conftest import Desk, key, make_desk
from tests.cast import strangers

JSON = {"accept": "application/json"}
WORDS = ("confirm", "edit", "reject", "cancel", "undo", "seen", "again", "reverse")


def post(browser: Browser, url: str, /, **body: Any) -> Any:
    return browser.post(url, body, content_type="application/json")


def program(desk: Desk, name: str = "dana") -> Browser:
    return desk.browser(name, **JSON)


def test_a_confirmation_answers_with_the_action_as_the_api_tells_it(desk: Desk):
    action, browser = desk.propose(), program(desk)
    for outcome in ("decided", "repeated"):
        answer = post(browser, desk.url_of(action, "confirm"), hash=action.digest)
        assert (answer.status_code, answer.json()["outcome"], answer.json()["detail"]) == (200, outcome, "")
        told = answer.json()["action"]
        assert told["status"] == "scheduled"
        assert told == browser.get(f"/api/v1/actions/{action.pk}/").json()
    assert answer["Cache-Control"] == "no-store"


def test_a_form_with_the_same_fields_is_taken_too(desk: Desk):
    action = desk.propose()
    answer = program(desk).post(desk.url_of(action, "reject"), {"hash": action.digest, "reason": "Too much."})
    assert (answer.status_code, answer.json()["action"]["status"]) == (200, "rejected")


def test_what_was_decided_otherwise_or_not_taken_says_so(desk: Desk):
    action, browser = desk.propose(), program(desk)
    answer = post(browser, desk.url_of(action, "reject"), hash=action.digest)
    assert (answer.status_code, answer.json()["outcome"]) == (422, "refused")
    assert answer.json()["detail"] == "Write a reason, so the next draft is right."
    post(browser, desk.url_of(action, "cancel"), hash=action.digest)
    answer = post(browser, desk.url_of(action, "confirm"), hash=action.digest)
    assert (answer.status_code, answer.json()["outcome"]) == (409, "conflict")
    assert answer.json()["action"]["status"] == "cancelled"


def test_an_edit_answers_with_the_new_card(desk: Desk):
    action, browser = desk.propose(), program(desk)
    answer = post(browser, desk.url_of(action, "edit"), hash=action.digest, text="Dear John.")
    told = answer.json()["action"]
    assert (answer.status_code, told["edited_from"], told["status"]) == (200, str(action.pk), "pending")
    assert told["payload"]["text"] == "Dear John."


def test_seen_and_the_card_itself(desk: Desk):
    action, browser = desk.propose(), program(desk)
    assert post(browser, desk.url_of(action, "seen"), hash=action.digest).json()["outcome"] == "seen"
    assert browser.get(desk.url_of(action)).json()["action"]["id"] == str(action.pk)


def test_r4_others_get_404_and_the_unknown_403_in_json(desk: Desk):
    action = desk.propose()
    others = [program(desk, "alex"), make_desk(strangers()).browser("mallory", **JSON)]
    for word in WORDS:
        url = desk.url_of(action, word)
        for browser in others:
            answer = post(browser, url, hash=action.digest)
            assert (answer.status_code, answer.json()) == (404, {"detail": "There is nothing here."})
        answer = post(Browser(headers=JSON), url, hash=action.digest)
        assert (answer.status_code, answer.json()) == (403, {"detail": "Sign in first."})
    assert desk.fresh(action).status == "pending"
    with desk.cast.scope():
        assert not Decision.objects.exists()


UNREADABLE = ["{", "[]", '"x"', '{"hash": {"a": 1}}', '{"hash": [["a"]]}', "[" * 100_000, '{"a":' * 50_000]


@pytest.mark.parametrize("body", [*UNREADABLE, '{"hash": "\\ud800"}', '{"\\udfff": "x"}'])
def test_what_is_no_flat_object_is_400(desk: Desk, body: str):
    action = desk.propose()
    answer = program(desk).post(desk.url_of(action, "confirm"), body, content_type="application/json")
    assert (answer.status_code, answer.json()) == (400, {"detail": "The request cannot be read."})


def test_h22_a_message_answers_with_itself_and_202_while_an_answer_is_written(desk: Desk):
    browser, name = program(desk), key()
    first = post(browser, f"{desk.url}messages", text="send the Smith quote", key=name)
    again = post(browser, f"{desk.url}messages", text="send the Smith quote", key=name)
    assert (first.status_code, first.json()["message"]["text"]) == (200, "send the Smith quote")
    assert again.json()["message"]["id"] == first.json()["message"]["id"]
    waits = post(browser, f"{desk.url}messages", text="and the other one", key=key())
    assert (waits.status_code, waits.json()["message"]["turn"]) == (202, None)
    with desk.cast.scope():
        assert Message.objects.filter(role="user").count() == 2


def test_a_message_that_is_not_taken_says_why(desk: Desk):
    answer = post(program(desk), f"{desk.url}messages", text="hello")
    assert (answer.status_code, list(answer.json())) == (422, ["detail"])


def test_stop_tells_what_became_of_the_cards(desk: Desk):
    browser = program(desk)
    assert post(browser, f"{desk.url}stop").json() == {"turn": None, "cancelled": [], "too_late": [], "undoable": []}
    turn = desk.turn("waiting")
    action = desk.propose(turn=turn)
    told = post(browser, f"{desk.url}stop").json()
    assert (told["turn"], told["cancelled"]) == (str(turn.pk), [str(action.pk)])


def test_a_browser_still_gets_pages(desk: Desk):
    """Every browser accepts anything at the end of its list."""
    action = desk.propose()
    browser = desk.browser(accept="text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
    assert browser.post(desk.url_of(action, "confirm"), {"hash": action.digest}).status_code == 303
    assert desk.browser(accept="*/*").get(desk.url_of(action))["Content-Type"].startswith("text/html")
