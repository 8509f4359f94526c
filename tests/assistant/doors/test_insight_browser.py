"""Figures and the looking afterwards in a real Chromium: axe is content, nothing scrolls sideways, a mark is made."""

import os

import pytest
from playwright.sync_api import Page, expect

from assistant.insight import checks
from assistant.models import ReviewPolicy
from tests.assistant.doors.conftest import Desk, make_desk
from tests.assistant.doors.test_browser import sign_in, violations
from tests.assistant.doors.test_insight import done, rejected
from tests.browser import NewPage
from tests.processes import Running

pytestmark = pytest.mark.browser
SIZES = ((1440, 1000), (390, 844), (320, 640))


@pytest.fixture
def desk(product: Running) -> Desk:
    own = make_desk()
    for number in range(5):
        done(own, f"John {number}", hasty=True)
        rejected(own, f"no {number}")
    with own.cast.scope():
        ReviewPolicy.objects.create(number=1, text='{"review_percent": 100}', created_by=own.cast.owner)
    checks.draw_daily(own.cast.tenant_id, own.cast.tenant_id)
    return own


def looks_right(page: Page, name: str) -> None:
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.wait_for_timeout(300)  # a button's colours fade from one theme to the other
            if folder := os.environ.get("SHOTS"):
                page.screenshot(path=f"{folder}/{name}-{width}-{scheme}.png")
            assert violations(page) == [], (width, scheme)
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, (width, over)


def test_figures_are_read_and_deeds_are_marked(product: Running, desk: Desk, new_page: NewPage) -> None:
    page = new_page(reduced_motion="reduce")
    sign_in(page, product, desk.cast)
    page.goto(f"{product.url}/insight/")
    expect(page.get_by_text("Dana said yes sooner than a card can be read: 5 of 5.")).to_be_visible()
    page.get_by_text("The same as a table").click()
    expect(page.locator(".plot table tbody tr")).to_have_count(1)
    looks_right(page, "insight")
    page.get_by_role("link", name="7 days").click()
    expect(page.locator('.tabs [aria-current="page"]')).to_have_text("7 days")
    page.goto(f"{product.url}/inbox/review/")
    looks_right(page, "review")
    first = page.locator("article.panel").first
    first.get_by_label("Note").fill("Another John")
    first.get_by_role("button", name="Wrong").click()
    expect(page.get_by_text("It is marked, and on record.")).to_be_visible()
    expect(page.get_by_text("Dana: Another John")).to_be_visible()
    expect(page.locator("article.panel")).to_have_count(4)
