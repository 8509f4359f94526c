"""The chat in a real Chromium, on the product's own processes: from the sentence to the receipt."""

import re
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.test import Client as Browser
from playwright.sync_api import Browser as PlaywrightBrowser
from playwright.sync_api import Page, expect

from assistant.models import Attempt, PendingAction
from tests.assistant.doors.conftest import Desk, make_desk
from tests.browser import NewPage
from tests.cast import PASSWORD, Cast, lone_ridge
from tests.offers import cedar_bend
from tests.processes import Running

pytestmark = pytest.mark.browser
AXE = (Path(__file__).resolve().parents[2] / "vendor/axe-core-4.14.1/axe.min.js").read_text()
ARMED_MS = 750
SIZES = ((1440, 1000), (390, 844), (320, 640))


def sign_in(page: Page, product: Running, cast: Cast, name: str = "dana") -> None:
    page.goto(f"{product.url}/login/")
    page.get_by_label("E-mail").fill(cast[name].user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/c/")


def say(page: Page, words: str) -> None:
    page.get_by_role("textbox", name="Message").fill(words)
    page.keyboard.press("Enter")


def violations(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds, by rule and element. Its script runs outside the page's policy, as a tester's would."""
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [(rule["id"], node["html"][:200]) for rule in found["violations"] for node in rule["nodes"]]


def card(page: Page):
    return page.locator(".slip[data-guard]")


def status_of(desk: Desk, action: PendingAction) -> str:
    return str(desk.fresh(action).status)


@pytest.fixture
def office(product: Running) -> Cast:
    """A company with the quote of Cedar Bend drafted, and no time to wait after a click."""
    cast = lone_ridge(undo_seconds={"send_quote": 0, "post_letter": 0})
    with cast.scope():
        cedar_bend(cast)
    return cast


@pytest.fixture
def desk(product: Running) -> Desk:
    return make_desk(lone_ridge(undo_seconds={"post_letter": 60}))


def test_from_the_sentence_to_the_receipt(product: Running, office: Cast, new_page: NewPage):
    page = new_page()
    sign_in(page, product, office)
    say(page, "Send the Smith quote")
    expect(card(page)).to_be_visible(timeout=20_000)
    expect(card(page)).to_contain_text("10,157.64")
    expect(card(page)).to_contain_text("john.smith@example.com")
    expect(card(page).locator(".doc img")).to_have_js_property("complete", True)
    assert card(page).locator(".doc img").evaluate("image => image.naturalWidth") > 100
    assert violations(page) == []
    page.wait_for_timeout(ARMED_MS)
    card(page).get_by_role("button", name="Send quote for $10,157.64").click()
    receipt = page.locator('.slip[data-state="executed"]')
    expect(receipt).to_be_visible(timeout=20_000)
    expect(receipt).to_contain_text("was sent to john.smith@example.com")
    expect(receipt.locator("h2")).to_be_focused()
    expect(card(page)).to_have_count(0)
    expect(page.locator("#waiting-chip a")).to_have_count(0)
    assert violations(page) == []
    before = re.sub(r"\s+", " ", page.locator("#thread").inner_text())
    page.reload()
    assert re.sub(r"\s+", " ", page.locator("#thread").inner_text()) == before


def test_a_conversation_works_without_scripts(product: Running, office: Cast, new_page: NewPage):
    page = new_page(java_script_enabled=False)
    sign_in(page, product, office)
    page.get_by_role("textbox", name="Message").fill("Send the Smith quote")
    page.get_by_role("button", name="Send message").click()
    for _ in range(40):
        if page.locator(".slip").count():
            break
        page.wait_for_timeout(500)
        page.reload()
    page.get_by_role("button", name="Send quote for $10,157.64").click()
    expect(page.locator('.slip[data-state="scheduled"], .slip[data-state="executed"]')).to_be_visible()
    for _ in range(40):
        if page.locator('.slip[data-state="executed"]').count():
            break
        page.wait_for_timeout(500)
        page.reload()
    expect(page.locator(".slip")).to_contain_text("was sent to john.smith@example.com")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violation_at_any_size(product: Running, desk: Desk, new_page: NewPage, scheme: str):
    """axe-core on the empty page, the card, its forms and the receipts; no sideways scrolling at 320 pixels."""
    turn = desk.turn("waiting")
    desk.say("Please post it", turn=turn)
    looked = desk.say("", turn=turn, role="assistant")
    desk.call(looked, "look_at_client", touched=["C-0001"])
    desk.say("# Here\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n- it is on a [card](/c/)", turn=turn, role="assistant")
    closed = desk.propose("rename_client", turn=turn, name="Jon")
    desk.browser().post(desk.url_of(closed, "cancel"), {"hash": closed.digest})
    action = desk.propose(turn=turn)
    page = new_page(color_scheme=scheme, reduced_motion="reduce")
    found: dict[str, Any] = {}
    page.goto(f"{product.url}/login/")
    found["login"] = violations(page)
    sign_in(page, product, desk.cast)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for name, path in (
            ("empty", "/c/"),
            ("thread", desk.url),
            ("card", desk.url_of(action)),
            ("reject", f"{desk.url_of(action)}?panel=reject"),
            ("edit", f"{desk.url_of(action)}?panel=edit"),
        ):
            page.goto(f"{product.url}{path}")
            page.locator("details.details summary").first.click() if name == "card" else None
            page.wait_for_timeout(200)
            found[f"{name} {width}"] = violations(page)
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert over <= 0, (name, width)
    assert {where: what for where, what in found.items() if what} == {}


def test_t85_a_card_that_arrives_takes_no_focus_and_no_key(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    sign_in(page, product, desk.cast)
    turn = desk.turn("waiting")
    page.goto(f"{product.url}{desk.url}")
    composer = page.get_by_role("textbox", name="Message")
    composer.click()
    page.keyboard.type("and then")
    page.keyboard.down("Space")
    action = desk.propose(turn=turn)
    expect(card(page)).to_be_visible()
    page.keyboard.up("Space")
    expect(composer).to_be_focused()
    page.keyboard.type("the others ")
    expect(composer).to_have_value("and then the others ")
    expect(page.locator("#status")).to_contain_text("Waiting for you: Post a letter to John Smith")
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    for key in ("y", "c", "1", "Enter", "Space"):
        page.keyboard.press(key)
    page.wait_for_timeout(ARMED_MS)
    card(page).focus()
    for key in ("Enter", "Space"):
        page.keyboard.press(key)
    assert status_of(desk, action) == "pending"


def test_a_card_ignores_activation_until_it_has_been_in_sight(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    sign_in(page, product, desk.cast)
    page.goto(f"{product.url}{desk.url}")
    action = desk.propose()
    button = card(page).get_by_role("button", name="Do it to John Smith")
    button.wait_for()
    button.evaluate("button => { button.click(); button.form.requestSubmit(button); button.click(); }")
    page.wait_for_timeout(300)
    assert status_of(desk, action) == "pending"
    page.wait_for_timeout(ARMED_MS)
    button.click()
    expect(page.locator('.slip[data-state="scheduled"]')).to_be_visible()
    assert status_of(desk, action) == "scheduled"


def test_a_triple_click_decides_once_and_undo_takes_it_back(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    sign_in(page, product, desk.cast)
    action = desk.propose()
    page.goto(f"{product.url}{desk.url}")
    page.wait_for_timeout(ARMED_MS + 300)
    card(page).get_by_role("button", name="Do it to John Smith").click(click_count=3)
    held = page.locator('.slip[data-state="scheduled"]')
    expect(held.locator("progress")).to_be_visible()
    expect(held.locator("h2")).to_be_focused()
    assert len([url for url in posts if url.endswith("/confirm")]) == 1
    held.get_by_role("button", name="Undo: stop it").click()
    expect(page.locator('.slip[data-state="cancelled"]')).to_contain_text("Dana stopped it before it ran.")
    with desk.cast.scope():
        assert Attempt.objects.filter(action=action).count() == 0


def test_the_first_sight_of_a_card_is_told_once_it_is_seen(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    sign_in(page, product, desk.cast)
    action = desk.propose()
    with page.expect_response(lambda answer: answer.url.endswith("/seen")) as told:
        page.goto(f"{product.url}{desk.url}")
    assert told.value.status == 204
    with desk.cast.scope():
        assert action.views.count() == 1


def test_escape_leaves_a_form_of_a_card_without_deciding(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    sign_in(page, product, desk.cast)
    action = desk.propose()
    page.goto(f"{product.url}{desk.url}")
    for name, panel in (("Reject…", "reject"), ("Edit", "edit")):
        card(page).get_by_role("link", name=name).click()
        form = page.locator(f"[data-panel={panel}]")
        expect(form.locator("h2")).to_be_focused()
        page.keyboard.press("Escape")
        expect(form).to_have_count(0)
    assert status_of(desk, action) == "pending"


def test_what_is_typed_into_a_card_survives_news_of_the_conversation(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    sign_in(page, product, desk.cast)
    desk.propose()
    page.goto(f"{product.url}{desk.url}")
    card(page).get_by_role("link", name="Reject…").click()
    reason = page.get_by_label("Tell Aval what to change")
    reason.fill("The date is")
    turn = desk.turn("waiting")
    desk.say("Something else", turn=turn, role="assistant")
    expect(page.locator("#thread")).to_contain_text("Something else")
    expect(reason).to_be_focused()
    expect(reason).to_have_value("The date is")


def strong_card(product: Running, desk: Desk, page: Page) -> PendingAction:
    """A card of level 3 before sam, who has just signed in."""
    with desk.cast.scope():
        type(desk.conversation).objects.filter(pk=desk.conversation.pk).update(starter=desk.cast.sam)
    action = desk.propose("pay_out", by=desk.cast.sam, amount_cents=10_000)
    sign_in(page, product, desk.cast, "sam")
    page.goto(f"{product.url}{desk.url}")
    page.wait_for_timeout(ARMED_MS + 300)
    page.get_by_label("Short reason").fill("Overpaid")
    return action


def test_a_strong_card_is_held_with_the_pointer(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    action = strong_card(product, desk, page)
    box = page.locator("[data-hold]").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.wait_for_timeout(700)
    page.mouse.up()
    page.wait_for_timeout(300)
    assert status_of(desk, action) == "pending"
    page.mouse.down()
    page.wait_for_timeout(2_300)
    page.mouse.up()
    expect(page.locator(f"#action-{action.pk}:not([data-state=pending])")).to_be_visible()
    assert status_of(desk, action) != "pending"


def test_a_lost_connection_is_said_and_what_was_missed_comes_after(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    sign_in(page, product, desk.cast)
    turn = desk.turn("waiting")
    page.goto(f"{product.url}{desk.url}")
    page.get_by_role("textbox", name="Message").fill("a draft")
    desk.say("before", turn=turn, role="assistant")
    expect(page.locator("#thread")).to_contain_text("before")
    page.context.set_offline(True)
    expect(page.locator("#connection-lost")).to_be_visible(timeout=20_000)
    expect(page.locator("#not-taken")).to_be_hidden()
    page.locator(".send").click()
    expect(page.locator("#not-taken")).to_be_visible()
    desk.say("meanwhile", turn=turn, role="assistant")
    page.context.set_offline(False)
    expect(page.locator("#thread")).to_contain_text("meanwhile", timeout=30_000)
    expect(page.locator("#connection-lost")).to_be_hidden()
    assert page.locator("#thread").inner_text().count("before") == 1
    expect(page.get_by_role("textbox", name="Message")).to_have_value("a draft")
    page.locator(".send").click()
    expect(page.locator(".mine")).to_have_text("a draft")
    expect(page.locator("#not-taken")).to_be_hidden()


def test_the_answer_to_a_card_stays_in_sight_and_never_before_its_facts(
    product: Running, desk: Desk, new_page: NewPage
):
    """On a telephone: not over the sum and what follows, and within sight as long as the letter is read."""
    page = new_page(viewport={"width": 390, "height": 844})
    sign_in(page, product, desk.cast)
    desk.propose(text="\n".join(f"Line {n} of a long letter." for n in range(200)))
    page.goto(f"{product.url}{desk.url}")
    stub, then = card(page).locator(".stub"), card(page).locator(".then")
    expect(stub).to_be_in_viewport(ratio=1)
    above, answer = then.bounding_box(), stub.bounding_box()
    assert above is not None
    assert answer is not None
    assert above["y"] + above["height"] <= answer["y"]
    card(page).locator(".details summary").click()
    page.locator("chat-thread").evaluate("thread => thread.scrollBy(0, 200)")
    expect(stub).to_be_in_viewport(ratio=1)


def test_a_draft_is_kept_for_each_conversation_and_gone_after_signing_out(
    product: Running, desk: Desk, new_page: NewPage
):
    page = new_page()
    sign_in(page, product, desk.cast)
    page.goto(f"{product.url}{desk.url}")
    page.get_by_role("textbox", name="Message").fill("half a thought")
    page.goto(f"{product.url}/c/")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    page.goto(f"{product.url}{desk.url}")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("half a thought")
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, product, desk.cast)
    page.goto(f"{product.url}{desk.url}")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")


def test_shift_enter_makes_a_new_line(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    sign_in(page, product, desk.cast)
    page.goto(f"{product.url}{desk.url}")
    composer = page.get_by_role("textbox", name="Message")
    composer.click()
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    expect(composer).to_have_value("one\ntwo")
    page.keyboard.press("Enter")
    expect(page.locator(".mine")).to_have_text("one\ntwo")
    expect(composer).to_have_value("")
    expect(composer).to_be_focused()


COME = """async () => {
  const part = (item) => `<hx-partial hx-target="#thread" hx-swap="place">
    <section data-shell id="turn-0" data-order="8"><div class="items">${item}</div></section></hx-partial>`;
  const item = (number) => `<article id="message-${number}" data-order="${number}">hello</article>`;
  const come = (text) => htmx.swap({ sourceElement: document.body, target: document.body, swap: "none", text });
  await Promise.all([come(part(item(1))), come(part(item(1)))]);
  await come(part(item(2)) + part(item(2)));
}"""


def test_what_comes_twice_stands_once(product: Running, desk: Desk, new_page: NewPage):
    """A message comes with the answer to its post and by the stream, at the same time, or twice in one answer."""
    page = new_page()
    sign_in(page, product, desk.cast)
    page.goto(f"{product.url}{desk.url}")
    page.evaluate(COME)
    expect(page.locator("#turn-0")).to_have_count(1)
    expect(page.locator("#turn-0 article")).to_have_text(["hello", "hello"])


def test_a_signed_out_page_says_so(product: Running, desk: Desk, browser: PlaywrightBrowser):
    """In a context of its own: htmx prints the 401 as an error, which new_page would not let pass."""
    page = browser.new_context().new_page()
    sign_in(page, product, desk.cast)
    page.goto(f"{product.url}{desk.url}")
    page.context.clear_cookies()
    page.context.set_offline(True)
    page.wait_for_timeout(300)
    page.context.set_offline(False)
    expect(page.locator("#signed-out")).to_be_visible(timeout=20_000)
    page.context.close()


def test_h53_readers_that_slam_the_door_leave_no_connection_open(product: Running, desk: Desk, database_url: str):
    """Fifty sockets that read the beginning of a stream and close: the server's connections are what they were."""
    browser = Browser()
    browser.force_login(desk.cast.dana.user)
    cookie = browser.cookies["sessionid"].value
    place = urlsplit(product.url)
    request = (
        f"GET {desk.url}events HTTP/1.1\r\nHost: {place.netloc}\r\nCookie: sessionid={cookie}\r\n"
        "Accept: text/event-stream\r\n\r\n"
    )

    def connections() -> int:
        with psycopg.connect(database_url) as connection:
            row = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            return int(row.fetchone()[0])

    def visit() -> None:
        with socket.create_connection((place.hostname, place.port), timeout=10) as door:
            door.sendall(request.encode())
            assert b"200 OK" in door.recv(4096)

    visit()
    before = connections()
    for _ in range(50):
        visit()
    deadline = time.monotonic() + 5
    while connections() > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert connections() <= before
