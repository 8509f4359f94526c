"""The approvals inbox in a real Chromium: what comes, what is decided here and elsewhere, and that nothing jumps."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from assistant.models import PendingAction
from tests.assistant.doors.conftest import Desk, make_desk
from tests.assistant.doors.test_browser import ARMED_MS, sign_in, status_of, violations
from tests.browser import NewPage
from tests.cast import lone_ridge
from tests.processes import Running

pytestmark = pytest.mark.browser
SIZES = ((1440, 1000), (390, 844), (320, 640))


@pytest.fixture
def desk(product: Running) -> Desk:
    return make_desk(lone_ridge(undo_seconds={"post_letter": 60, "rename_client": 60}))


def entry(page: Page, action: PendingAction) -> Locator:
    return page.locator(f"#entry-{action.pk}")


def badges(page: Page) -> list[str]:
    return [re.sub(r"\D", "", page.locator(f"#{place}").inner_text()) for place in ("waiting-count", "count-needs")]


def test_t56_t16_the_walk_of_a_card_through_inbox_and_chat(product: Running, desk: Desk, new_page: NewPage):
    """Dana has her inbox open on one screen and the chat on another: new cards come to the end, the place of what is
    there does not move, a decision in the one is a receipt in the other, thirty messages above.
    """
    turn = desk.turn("waiting")
    first = desk.propose(turn=turn)
    for number in range(30):
        desk.say(f"Message {number}", turn=turn, role="assistant")
    inbox, chat = new_page(), new_page()
    for page in (inbox, chat):
        sign_in(page, product, desk.cast)
    chat.goto(f"{product.url}{desk.url}")
    inbox.goto(f"{product.url}/inbox/")
    expect(entry(inbox, first)).to_be_visible()
    expect(inbox).to_have_title(re.compile(r"^\(1\) "))
    before = entry(inbox, first).bounding_box()
    second = desk.propose("rename_client", name="Jon")
    expect(entry(inbox, second)).to_be_attached()
    assert entry(inbox, first).bounding_box() == before
    expect(inbox).to_have_title(re.compile(r"^\(2\) "))
    expect(inbox.locator("#status")).to_contain_text("Waiting for you: Rename John Smith to Jon.")
    assert badges(inbox) == ["2", "2"]
    inbox.wait_for_timeout(ARMED_MS)
    entry(inbox, first).get_by_role("button", name="Do it to John Smith").click()
    expect(entry(inbox, first).locator('.slip[data-state="scheduled"]')).to_contain_text("Confirmed by Dana at")
    expect(entry(inbox, first).locator("h2")).to_be_focused()
    held = chat.locator(f'#action-{first.pk}[data-state="scheduled"]')
    expect(held).to_contain_text("Confirmed by Dana at")
    expect(chat.locator(f"#action-{first.pk} ~ .said")).to_have_count(30)
    assert badges(inbox) == ["1", "1"]
    expect(chat.locator("#waiting-count")).to_contain_text("1")
    below = entry(inbox, second).bounding_box()
    held.get_by_role("button", name="Undo: stop it").click()
    undone = entry(inbox, first).locator('.slip[data-state="cancelled"]')
    expect(undone).to_contain_text("Dana stopped it before it ran.")
    assert entry(inbox, second).bounding_box() == below
    entry(inbox, second).get_by_role("link", name="Edit").click()
    entry(inbox, second).get_by_role("textbox", name="Name").fill("Jonathan")
    inbox.wait_for_timeout(ARMED_MS)
    inbox.get_by_role("button", name="Save and review again").click()
    changed = inbox.locator(".entry", has_text="Rename John Smith to Jonathan")
    expect(entry(inbox, second)).to_contain_text("It was edited; the new card asks again.")
    expect(inbox.locator('.slip:has-text("Jonathan")[data-guard]')).to_have_count(1)
    expect(changed.last.locator(".slip")).to_be_visible()
    assert status_of(desk, second) == "superseded"
    assert violations(inbox) == []


def test_what_is_missed_without_a_connection_comes_after_it(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    sign_in(page, product, desk.cast)
    page.goto(f"{product.url}/inbox/")
    expect(page.locator(".empty")).to_be_visible()
    came = desk.propose()
    expect(entry(page, came)).to_be_visible()
    expect(page.locator(".empty")).to_be_hidden()
    page.context.set_offline(True)
    expect(page.locator("#connection-lost")).to_be_visible(timeout=20_000)
    desk.browser().post(desk.url_of(came, "cancel"), {"hash": came.digest})
    late = desk.propose("rename_client", name="Jon")
    page.context.set_offline(False)
    expect(entry(page, late)).to_be_visible(timeout=30_000)
    expect(entry(page, came).locator('.slip[data-state="cancelled"]')).to_be_visible()
    expect(page.locator("#connection-lost")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violation_at_any_size(product: Running, desk: Desk, new_page: NewPage, scheme: str):
    done = desk.propose("rename_client", name="Johan")
    desk.browser().post(desk.url_of(done, "reject"), {"hash": done.digest, "reason": "no"})
    held = desk.propose("rename_client", name="Jon")
    desk.browser().post(desk.url_of(held, "confirm"), {"hash": held.digest})
    desk.propose()
    page = new_page(color_scheme=scheme, reduced_motion="reduce")
    sign_in(page, product, desk.cast)
    found = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for path in ("/inbox/", "/inbox/scheduled/?days=7", "/inbox/history/", "/inbox/second/"):
            page.goto(f"{product.url}{path}")
            page.wait_for_timeout(200)
            found[f"{path} {width}"] = violations(page)
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert over <= 0, (path, width)
        expect(page.locator("#waiting-above .count")).to_be_visible(visible=width < 896)
    assert {where: what for where, what in found.items() if what} == {}


def test_the_inbox_works_without_scripts(product: Running, desk: Desk, new_page: NewPage):
    page = new_page(java_script_enabled=False)
    sign_in(page, product, desk.cast)
    action = desk.propose()
    page.goto(f"{product.url}/inbox/")
    page.locator(".filters summary").click()
    page.get_by_label("What", exact=True).select_option("post_letter")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page).to_have_url(re.compile(r"tool=post_letter"))
    entry(page, action).get_by_role("button", name="Do it to John Smith").click()
    expect(page.locator('.slip[data-state="scheduled"]')).to_be_visible()
