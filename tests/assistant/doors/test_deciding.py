"""Clicks on a card through the web: what each answers, to whom, and what stays where it was."""

import re

import pytest
from django.test import Client as Browser

from assistant.gate import execution
from assistant.models import Attempt, Decision, PendingAction, Seen
from ledger.models import AuditEvent, Client
from tests.assistant.doors.conftest import Desk, make_desk
from tests.cast import strangers

WORDS = ("confirm", "reject", "cancel", "undo", "edit", "seen", "again", "reverse")


def post(browser: Browser, url: str, **data: str):
    return browser.post(url, data, HTTP_HX_REQUEST="true")


def test_a_confirmed_card_answers_with_what_it_became(desk: Desk):
    action = desk.propose()
    answer = post(desk.browser(), desk.url_of(action, "confirm"), hash=action.digest)
    assert answer.status_code == 200
    html = answer.content.decode()
    assert f'id="action-{action.pk}"' in html
    assert 'data-state="scheduled"' in html
    assert "Confirmed by Dana" in html
    assert desk.fresh(action).status == "scheduled"


def test_focus_goes_to_the_heading_of_the_receipt(desk: Desk):
    action = desk.propose()
    html = post(desk.browser(), desk.url_of(action, "confirm"), hash=action.digest).content.decode()
    assert re.findall(r"<h2 [^>]*autofocus", html) == [f'<h2 id="action-{action.pk}-t" tabindex="-1" autofocus']
    assert html.count("autofocus") == 1


def test_the_same_click_again_answers_the_same(desk: Desk):
    """Settled question 5: same person, same decision, same hash."""
    action, browser = desk.propose(), desk.browser()
    first, second = (post(browser, desk.url_of(action, "confirm"), hash=action.digest) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    with desk.cast.scope():
        assert Decision.objects.filter(action=action).count() == 1


def test_another_answer_after_the_decision_is_409_with_the_card_as_it_stands(desk: Desk):
    action, browser = desk.propose(), desk.browser()
    post(browser, desk.url_of(action, "confirm"), hash=action.digest)
    answer = post(browser, desk.url_of(action, "reject"), hash=action.digest, reason="no")
    assert answer.status_code == 409
    assert 'data-state="scheduled"' in answer.content.decode()


def test_a_click_on_what_was_not_shown_decides_nothing(desk: Desk):
    action = desk.propose()
    answer = post(desk.browser(), desk.url_of(action, "confirm"), hash="0" * 64)
    assert answer.status_code == 409
    assert desk.fresh(action).status == "pending"


def test_a_plain_form_is_redirected_to_the_card(desk: Desk):
    action, browser = desk.propose(), desk.browser()
    answer = browser.post(desk.url_of(action, "confirm"), {"hash": action.digest})
    assert (answer.status_code, answer["Location"]) == (303, desk.url_of(action))
    page = browser.get(desk.url_of(action)).content.decode()
    assert 'data-state="scheduled"' in page


def test_a_rejection_without_a_reason_stays_on_the_card_with_a_sentence(desk: Desk):
    action = desk.propose()
    answer = post(desk.browser(), desk.url_of(action, "reject"), hash=action.digest)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert 'data-panel="reject"' in html
    assert 'aria-invalid="true"' in html
    assert "Write a reason, so the next draft is right." in html
    assert desk.fresh(action).status == "pending"


def test_a_rejection_keeps_its_reason(desk: Desk):
    action = desk.propose()
    given = {"hash": action.digest, "reason_code": "amount", "reason": "Too much."}
    answer = post(desk.browser(), desk.url_of(action, "reject"), **given)
    assert answer.status_code == 200
    assert "Amount: Too much." in answer.content.decode()
    with desk.cast.scope():
        decision = Decision.objects.get(action=action)
    assert (decision.reason_code, decision.reason) == ("amount", "Too much.")


def test_an_unknown_reason_code_is_left_out(desk: Desk):
    action = desk.propose()
    post(desk.browser(), desk.url_of(action, "reject"), hash=action.digest, reason_code="<b>", reason="No.")
    with desk.cast.scope():
        assert Decision.objects.get(action=action).reason_code == ""


def test_an_edit_makes_a_new_card_that_shows_what_changed(desk: Desk):
    action = desk.propose("rename_client", name="Jon Smith")
    answer = post(desk.browser(), desk.url_of(action, "edit"), hash=action.digest, name="John Smithe")
    html = answer.content.decode()
    assert answer.status_code == 200
    assert "Changed, please look again" in html
    assert re.search(r"<del>.*Jon Smith</del> <ins>.*John Smithe</ins>", html)
    assert f'id="action-{action.pk}"' not in html
    assert desk.fresh(action).status == "superseded"


def test_h46_a_bad_edit_changes_nothing_and_keeps_what_was_typed(desk: Desk):
    action = desk.propose("rename_client", name="Jon Smith")
    answer = post(desk.browser(), desk.url_of(action, "edit"), hash=action.digest, name=" ")
    html = answer.content.decode()
    assert answer.status_code == 422
    assert 'data-panel="edit"' in html
    assert desk.fresh(action).status == "pending"


def test_the_edit_form_has_the_editable_fields_only(desk: Desk):
    action = desk.propose("rename_client", name="Jon Smith")
    html = desk.browser().get(f"{desk.url_of(action)}?panel=edit").content.decode()
    form = html[html.index('data-panel="edit"') :]
    assert re.findall(r'<(?:input|textarea|select) id="[^"]+" name="([^"]+)"', form)[:1] == ["name"]
    assert 'name="client_ref"' not in form


def test_r4_another_companys_and_a_missing_card_answer_the_same(desk: Desk):
    """T64: mallory's browser on dana's card, dana's browser on a card that is not there."""
    action = desk.propose()
    theirs = make_desk(strangers())
    dana, mallory = desk.browser(), theirs.browser("mallory")
    for word in WORDS:
        foreign = mallory.post(desk.url_of(action, word), {"hash": action.digest})
        other = mallory.post(theirs.url_of(action, word), {"hash": action.digest})
        missing = dana.post(f"{desk.url}actions/{desk.conversation.pk}/{word}", {"hash": action.digest})
        assert [r.status_code for r in (foreign, other, missing)] == [404, 404, 404], word
        assert foreign.content == missing.content == other.content, word
    assert desk.fresh(action).status == "pending"


def test_r4_a_colleague_who_did_not_ask_finds_nothing(desk: Desk):
    action, alex = desk.propose(), desk.browser("alex")
    for word in WORDS:
        assert alex.post(desk.url_of(action, word), {"hash": action.digest}).status_code == 404, word
    assert alex.get(desk.url_of(action)).status_code == 404
    assert desk.fresh(action).status == "pending"


def test_r4_the_conversation_of_the_url_counts(desk: Desk):
    action = desk.propose()
    other = make_desk(desk.cast)
    assert desk.browser().post(other.url_of(action, "confirm"), {"hash": action.digest}).status_code == 404
    assert desk.fresh(action).status == "pending"


def test_t73_only_a_post_decides(desk: Desk):
    action, browser = desk.propose(), desk.browser()
    for word in WORDS:
        for method in ("get", "head", "options", "put", "delete"):
            assert getattr(browser, method)(desk.url_of(action, word)).status_code == 405, (method, word)
    assert desk.fresh(action).status == "pending"


def test_a_click_without_a_token_of_the_form_is_refused(desk: Desk):
    action = desk.propose()
    browser = Browser(enforce_csrf_checks=True)
    browser.force_login(desk.cast.dana.user)
    for word in WORDS:
        assert browser.post(desk.url_of(action, word), {"hash": action.digest}).status_code == 403, word
    assert desk.fresh(action).status == "pending"


def test_a_stranger_is_sent_to_sign_in(desk: Desk):
    action = desk.propose()
    for word in WORDS:
        answer = Browser().post(desk.url_of(action, word), {"hash": action.digest})
        assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/login/"), word
        assert post(Browser(), desk.url_of(action, word)).status_code == 401, word


def test_looking_writes_nothing_and_the_first_sight_is_kept(desk: Desk):
    """Settled question 12."""
    action, browser = desk.propose(), desk.browser()
    browser.get(desk.url)
    browser.get(desk.url_of(action))
    with desk.cast.scope():
        assert Seen.objects.filter(action=action).count() == 0
    for _ in range(3):
        assert post(browser, desk.url_of(action, "seen"), hash=action.digest).status_code == 204
    with desk.cast.scope():
        assert Seen.objects.filter(action=action, member=desk.cast.dana, door="web").count() == 1
        assert AuditEvent.objects.filter(kind="action.seen", subject_id=action.pk).count() == 1


def test_a_strong_card_wants_a_fresh_sign_in_a_hold_and_a_reason(desk: Desk):
    action = desk.propose("pay_out", by=desk.cast.sam, amount_cents=10000)
    with desk.cast.scope():
        type(desk.conversation).objects.filter(pk=desk.conversation.pk).update(starter=desk.cast.sam)
    browser = Browser()
    url = desk.url_of(action, "confirm")
    browser.force_login(desk.cast.sam.user)
    given = {"hash": action.digest, "held": "1", "reason": "Overpaid."}
    stale = post(browser, url, **given)
    assert stale.status_code == 422
    assert "Sign in again" in stale.content.decode()
    assert browser.post("/login/", {"username": desk.cast.sam.user.email, "password": "correct horse battery"})
    assert "Hold the button" in post(browser, url, **(given | {"held": ""})).content.decode()
    assert "Write a short reason" in post(browser, url, **(given | {"reason": ""})).content.decode()
    assert desk.fresh(action).status == "pending"
    assert post(browser, url, **given).status_code == 200
    assert desk.fresh(action).status in ("scheduled", "awaiting_second")


def test_asking_again_puts_a_new_card_up(desk: Desk):
    action, browser = desk.propose(), desk.browser()
    post(browser, desk.url_of(action, "cancel"), hash=action.digest)
    answer = browser.post(desk.url_of(action, "again"))
    assert answer.status_code == 303
    assert answer["Location"] != desk.url_of(action)
    html = browser.get(answer["Location"]).content.decode()
    assert "Waiting for you" in html
    with desk.cast.scope():
        assert Attempt.objects.count() == 0


def test_a_card_that_waits_is_not_asked_again(desk: Desk):
    action = desk.propose()
    assert post(desk.browser(), desk.url_of(action, "again")).status_code == 409


@pytest.mark.parametrize("raw", ["\x00", "\ud800", "'", "x" * 100_000])
def test_odd_input_is_answered_with_a_sentence_or_a_conflict(desk: Desk, raw: str):
    action, browser = desk.propose(), desk.browser()
    data = {"hash": raw, "reason": raw, "reason_code": raw, "typed": raw, "held": raw}
    body = "&".join(f"{name}=%00" if raw == "\x00" else f"{name}=%ED%A0%80" for name in data)
    if raw in ("\x00", "\ud800"):
        answer = browser.post(desk.url_of(action, "reject"), body, content_type="application/x-www-form-urlencoded")
    else:
        answer = browser.post(desk.url_of(action, "reject"), data)
    assert answer.status_code in (303, 400, 409, 422)
    assert desk.fresh(action).status == "pending"


def executed(desk: Desk, tool: str, **arguments: str) -> PendingAction:
    action = desk.propose(tool, **arguments)
    post(desk.browser(), desk.url_of(action, "confirm"), hash=action.digest)
    execution.execute(desk.cast.tenant_id, action.pk)
    assert desk.fresh(action).status == "executed"
    return action


def test_a_receipt_offers_the_reverse_and_says_when_it_was_taken_back(desk: Desk):
    action, browser = executed(desk, "delete_client", subject_hint="John Smith"), desk.browser()
    button = f'hx-post="{desk.url_of(action, "reverse")}"'
    receipt = browser.get(desk.url_of(action)).content.decode()
    assert receipt.count(button) == browser.get(desk.url).content.decode().count(button) == 1
    assert "Restore from the trash</button>" in receipt
    answer = post(browser, desk.url_of(action, "reverse"))
    html = answer.content.decode()
    assert (answer.status_code, button in html) == (200, False)
    assert "Taken back by Dana at" in html
    assert "Taken back by Dana at" in browser.get(desk.url).content.decode()
    assert post(browser, desk.url_of(action, "reverse")).status_code == 409
    with desk.cast.scope():
        assert Client.objects.get(pk=desk.client.pk).deleted_at is None


def test_a_reverse_with_a_card_puts_it_up_in_the_conversation(desk: Desk):
    action, browser = executed(desk, "rename_client", name="Jon Smith"), desk.browser()
    answer = browser.post(desk.url_of(action, "reverse"))
    with desk.cast.scope():
        asked = PendingAction.objects.get(compensates=action)
    assert (answer.status_code, answer["Location"]) == (303, desk.url_of(asked))
    assert (asked.status, asked.conversation_id) == ("pending", action.conversation_id)
    post(browser, desk.url_of(asked, "confirm"), hash=asked.digest)
    execution.execute(desk.cast.tenant_id, asked.pk)
    receipt = browser.get(desk.url_of(action)).content.decode()
    assert f'href="{desk.url}#action-{asked.pk}">See what took it back' in receipt
    assert desk.url_of(action, "reverse") not in receipt


def test_what_was_not_done_offers_no_reverse(desk: Desk):
    action = desk.propose("rename_client", name="Jon Smith")
    for status in ("pending", "cancelled"):
        assert desk.url_of(action, "reverse") not in desk.browser().get(desk.url_of(action)).content.decode()
        assert post(desk.browser(), desk.url_of(action, "reverse")).status_code == 409, status
        post(desk.browser(), desk.url_of(action, "cancel"), hash=action.digest)


@pytest.mark.parametrize("word", ["again", "reverse"])
def test_a_new_card_is_led_to_from_the_page_of_the_old_one(desk: Desk, word: str):
    """No stream brings it there: without this a click on "Ask again" would seem to do nothing."""
    if word == "again":
        action = desk.propose()
        post(desk.browser(), desk.url_of(action, "cancel"), hash=action.digest)
    else:
        action = executed(desk, "rename_client", name="Jon Smith")
    here = {"HTTP_HX_REQUEST": "true", "HTTP_HX_CURRENT_URL": f"http://testserver{desk.url_of(action)}"}
    answer = desk.browser().post(desk.url_of(action, word), **here)
    with desk.cast.scope():
        asked = PendingAction.objects.exclude(pk=action.pk).get()
    assert (answer.status_code, answer["HX-Redirect"]) == (204, desk.url_of(asked))
