"""The review policy, the switch and a question on a card, as a person walks through them in a real Chromium."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from assistant.gate import pausing, review
from assistant.models import Question
from tests.assistant.doors.conftest import Desk, make_desk
from tests.assistant.doors.test_browser import ARMED_MS, SIZES, sign_in, status_of, violations
from tests.browser import NewPage
from tests.cast import lone_ridge
from tests.processes import Running

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def desk(product: Running) -> Desk:
    return make_desk(lone_ridge(undo_seconds={"post_letter": 60}))


def looks_right(page: Page) -> None:
    """At every size and in both themes: nothing for axe-core to say, and no sideways scrolling."""
    usual, found = page.viewport_size, dict[str, Any]()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.wait_for_timeout(300)  # colours move for a moment
            found[f"{width} {scheme}"] = violations(page)
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        found[f"{width} over"] = [over] if over > 0 else []
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(usual)
    assert {where: what for where, what in found.items() if what} == {}


def test_a_rule_is_added_seen_in_words_taken_out_and_put_back(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    sign_in(page, product, desk.cast)
    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_role("link", name="Open the review policy").click()
    page.get_by_text("Add a rule", exact=True).click()
    rule = page.locator('form[action$="/review/rule"]')
    rule.get_by_label("What", exact=True).select_option(label="Post a letter")
    rule.get_by_label("Amount from").fill("1.500")
    rule.get_by_label("Then at least").select_option("3")
    rule.get_by_role("button", name="Add the rule").click()
    expect(rule.get_by_text("Do you mean $1.50 or $1,500.00?")).to_be_visible()
    looks_right(page)
    rule.get_by_label("Amount from").fill("")
    rule.get_by_role("button", name="Add the rule").click()
    expect(page.locator(".entries-of li > span")).to_have_text(["Post a letter: level 3"])
    assert violations(page) == []
    assert desk.propose().level == 3
    page.get_by_role("button", name="Remove Post a letter: level 3").click()
    expect(page.get_by_text("Version 2 is in force.").first).to_be_visible()
    page.get_by_role("link", name="History", exact=True).click()
    assert violations(page) == []
    page.get_by_role("button", name="Put version 1 back").click()
    expect(page.locator(".entries-of li > span")).to_have_text(["Post a letter: level 3"])
    with desk.cast.scope():
        assert (review.current().number, review.current().policy.rules[0].level) == (3, 3)


def test_the_assistant_is_paused_from_a_telephone_and_an_open_chat_says_so(
    product: Running, desk: Desk, new_page: NewPage
):
    action = desk.propose()
    chat, phone = new_page(), new_page(viewport=PHONE)
    sign_in(chat, product, desk.cast)
    chat.goto(product.url + desk.url)
    expect(chat.locator(".slip[data-guard]")).to_be_visible()
    sign_in(phone, product, desk.cast, "sam")
    phone.goto(f"{product.url}/clients/")
    phone.get_by_role("button", name="Open menu").click()
    phone.get_by_role("button", name="Pause the assistant").click()
    ask = phone.get_by_role("dialog", name="Pause the assistant?")
    expect(ask).to_be_visible()
    assert violations(phone) == []
    ask.get_by_label("Reason").fill("Wrong people")
    ask.get_by_role("button", name="Pause it now").click()
    expect(phone.get_by_text("Wrong people")).to_be_visible()
    expect(chat.locator(".slip")).to_contain_text("Closed: Sam paused the assistant.")
    expect(chat.locator("#paused")).to_contain_text("The assistant is paused.")
    expect(chat.locator("#composer-note")).to_contain_text("The assistant is paused")
    assert status_of(desk, action) == "cancelled"
    assert violations(chat) == []
    looks_right(phone)
    phone.get_by_role("button", name="Turn it on again").click()
    expect(phone.locator("#paused")).to_have_text("")
    with desk.cast.scope():
        assert pausing.current() is None
    desk.propose()
    expect(chat.locator("#paused")).to_have_text("")


def test_a_card_answers_from_the_records_in_place(product: Running, desk: Desk, new_page: NewPage):
    """Other readers of the card see it come; without scripts the same buttons do."""
    action = desk.propose("pay_out", by=desk.cast.dana, amount_cents=60_001)
    page, plain = new_page(), new_page(java_script_enabled=False)
    sign_in(page, product, desk.cast)
    page.goto(product.url + desk.url)
    page.wait_for_timeout(ARMED_MS)
    page.get_by_text("Ask the records", exact=True).click()
    page.get_by_role("button", name="Who is this?").click()
    answer = page.locator(".answers section")
    expect(answer).to_contain_text("john.smith@example.com")
    expect(answer.get_by_role("heading", name=re.compile("^Who is this?"))).to_be_focused()
    looks_right(page)
    sign_in(plain, product, desk.cast, "sam")
    plain.goto(product.url + desk.url_of(action))
    expect(plain.locator(".answers section")).to_have_count(1)
    plain.get_by_text("Ask the records", exact=True).click()
    plain.get_by_role("button", name="What is open with them?").click()
    expect(plain.locator(".answers section")).to_have_count(2)
    expect(page.locator(".answers section")).to_have_count(2)
    expect(page.locator(".answers section").last).to_contain_text("Nothing on record.")
    assert status_of(desk, action) == "pending"
    with desk.cast.scope():
        assert Question.objects.filter(action=action).count() == 2
