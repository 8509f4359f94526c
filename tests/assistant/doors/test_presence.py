"""What a strong card asks for on a page, and the files that came with a yes: who may open them, and as what."""

import hashlib
import json
import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser

from assistant.gate import passkeys
from assistant.models import Decision, PendingAction
from assistant.models.evidence import MOST_BYTES
from ledger import webauthn
from ledger.actions.company import change_settings
from ledger.actions.passkeys import add_passkey
from tests.assistant.doors.conftest import Desk, make_desk
from tests.cast import PASSWORD, john_smith, strangers
from tests.queries import counted
from tests.support.authenticator import Authenticator

PDF = b"%PDF-1.7\n<script>alert(1)</script>"
PNG = b"\x89PNG\r\n\x1a\n<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def address(settings: Any) -> None:
    settings.AVAL_URL = "http://localhost:8000"


def strong(desk: Desk) -> PendingAction:
    return desk.propose("pay_out", amount_cents=10_000)


def signed_in(desk: Desk, name: str = "dana") -> Browser:
    browser = Browser()
    browser.post("/login/", {"username": desk.cast[name].user.email, "password": PASSWORD})
    return browser


def registered(desk: Desk) -> Authenticator:
    key = Authenticator()
    with desk.cast.scope():
        add_passkey(key.register(b"c" * 32), name="Telephone", challenge=b"c" * 32, by=desk.cast.dana)
    return key


def confirm(browser: Browser, desk: Desk, action: PendingAction, **given: Any) -> Any:
    own = {"hash": action.digest, "held": "1", "reason": "Overpaid."}
    return browser.post(desk.url_of(action, "confirm"), own | given, HTTP_HX_REQUEST="true")


def story_of(action: PendingAction) -> str:
    return f"/audit/actions/{action.pk}/"


def asked(html: str) -> dict[str, Any]:
    """What the card's form would have a passkey sign."""
    return json.loads(unescape(re.findall(r'data-passkey="([^"]+)"', html)[0]))


def test_a_strong_card_asks_the_readers_passkey_to_sign_what_it_shows(desk: Desk):
    key, action = registered(desk), strong(desk)
    for path in (desk.url, desk.url_of(action)):
        wanted = asked(desk.browser().get(path).content.decode())
        assert wanted == {
            "challenge": webauthn.encode(passkeys.challenge_of(action)),
            "rpId": "localhost",
            "origin": "http://localhost:8000",
            "credentials": [{"id": webauthn.encode(key.credential_id), "transports": ["hybrid", "internal"]}],
        }
    answer = confirm(desk.browser(), desk, action, assertion=key.sign(webauthn.decode(wanted["challenge"])))
    assert answer.status_code == 200
    assert "signed with the passkey “Telephone”" in answer.content.decode()
    assert "The passkey of Dana signed exactly this." in desk.browser().get(story_of(action)).content.decode()
    told = desk.browser().get(f"/api/v1/actions/{action.pk}/").json()["decisions"]
    assert [(one["passkey"], one["evidence"], one["attachment"]) for one in told] == [(True, "", None)]


def test_t69_a_cookie_and_a_scripted_click_alone_are_refused(desk: Desk):
    """The session is fresh, the card was seen, the button is held, the amount typed: there is no signature."""
    registered(desk)
    with desk.cast.scope():
        change_settings(by=desk.cast.dana, changes={"l3_passkey": True})
    action, browser = strong(desk), signed_in(desk)
    browser.post(desk.url_of(action, "seen"), {"hash": action.digest})
    for given in ({}, {"assertion": "{}"}, {"typed": "100.00"}, {"assertion": "x" * 30_000}):
        answer = confirm(browser, desk, action, **given)
        assert answer.status_code == 422, given
    program = browser.post(
        desk.url_of(action, "confirm"),
        json.dumps({"hash": action.digest, "held": True, "typed": "100.00", "reason": "x"}),
        content_type="application/json",
        HTTP_ACCEPT="application/json",
    )
    assert (program.status_code, program.json()["detail"]) == (422, "Confirm this with your passkey.")
    assert desk.fresh(action).status == "pending"


def test_signing_in_again_is_offered_where_it_is_what_lacks(desk: Desk):
    action = strong(desk)
    offered = 'href="/login/?next='
    assert offered in confirm(desk.browser(), desk, action).content.decode()
    assert offered not in confirm(signed_in(desk), desk, action, held="").content.decode()
    registered(desk)
    assert offered not in confirm(desk.browser(), desk, action).content.decode()


def test_whoever_lacks_a_required_passkey_is_led_to_adding_one(desk: Desk):
    with desk.cast.scope():
        change_settings(by=desk.cast.dana, changes={"l3_passkey": True})
    action = strong(desk)
    html = desk.browser().get(desk.url_of(action)).content.decode()
    assert 'you have none. <a href="/passkeys/">Add a passkey</a>' in html
    assert "data-confirm" not in html
    assert "Reject…" in html


def test_a_card_that_is_not_strong_asks_for_nothing_more(desk: Desk):
    registered(desk)
    html = desk.browser().get(desk.url_of(desk.propose())).content.decode()
    assert ("data-passkey" in html, "Short reason" in html, "data-confirm" in html) == (False, False, True)


def queries_of(desk: Desk) -> int:
    browser = desk.browser()
    with counted() as statements:
        assert browser.get(desk.url).status_code == 200
    return len(statements)


def test_the_strong_cards_of_a_page_ask_for_the_readers_passkeys_once(desk: Desk):
    registered(desk)
    strong(desk)
    one = queries_of(desk)
    for number in range(3):
        with desk.cast.scope():
            other = john_smith(desk.cast, name=f"Other {number}")
        desk.propose("pay_out", amount_cents=10_000, client_ref=other.ref)
    assert desk.browser().get(desk.url).content.decode().count("data-passkey=") == 4
    assert queries_of(desk) == one


def with_file(desk: Desk, content: bytes, name: str = "receipt.png") -> tuple[Any, PendingAction]:
    action = strong(desk)
    file = SimpleUploadedFile(name, content, content_type="text/html")
    answer = confirm(signed_in(desk), desk, action, evidence="Agreed by telephone.", evidence_file=file)
    return answer, action


@pytest.mark.parametrize(
    ("content", "kind", "way"),
    [
        (PNG, "image/png", 'inline; filename="receipt.png"'),
        (PDF, "application/pdf", 'attachment; filename="receipt.pdf"'),
    ],
)
def test_evidence_stands_on_the_receipt_and_opens_as_what_it_is(desk: Desk, content: bytes, kind: str, way: str):
    answer, action = with_file(desk, content)
    html, url = answer.content.decode(), desk.url_of(action, "evidence/1")
    assert answer.status_code == 200
    assert "“Overpaid.”" in html
    assert "Evidence: Agreed by telephone." in html
    assert f'href="{url}"' in html
    assert hashlib.sha256(content).hexdigest() in desk.browser().get(story_of(action)).content.decode()
    file = desk.browser().get(url)
    assert (file.content, file["Content-Type"], file["Content-Disposition"]) == (content, kind, way)
    assert file["X-Content-Type-Options"] == "nosniff"
    assert file["Content-Security-Policy"] == "default-src 'none'; sandbox; frame-ancestors 'none'"
    assert "private" in file["Cache-Control"]


def test_r4_evidence_is_there_for_whoever_may_see_the_card_alone(desk: Desk):
    _answer, action = with_file(desk, PNG)
    url, theirs = desk.url_of(action, "evidence/1"), make_desk(strangers())
    assert desk.browser("alex").get(url).status_code == 404
    assert theirs.browser("mallory").get(url).status_code == 404
    assert theirs.browser("mallory").get(theirs.url_of(action, "evidence/1")).status_code == 404
    assert desk.browser().get(desk.url_of(action, "evidence/2")).status_code == 404
    assert Browser().get(url).status_code == 302


@pytest.mark.parametrize("content", [b"<html>", b"MZ", PNG + b"\x00" * MOST_BYTES])
def test_what_is_no_evidence_is_said_on_the_card_which_keeps_what_was_typed(desk: Desk, content: bytes):
    answer, action = with_file(desk, content)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert re.search("That file is too large: at most 4 MB|As evidence a PDF or a picture", html)
    assert 'value="Overpaid."' in html
    assert 'value="Agreed by telephone."' in html
    with desk.cast.scope():
        assert Decision.objects.filter(action=action).count() == 0


def test_a_form_without_a_file_and_evidence_in_words_alone(desk: Desk):
    action = strong(desk)
    answer = confirm(signed_in(desk), desk, action, evidence="By letter,\r\nyesterday.\x00")
    assert answer.status_code == 200
    with desk.cast.scope():
        decision = Decision.objects.get(action=action)
    assert (decision.evidence, decision.attachment) == ("By letter,\nyesterday.", None)
