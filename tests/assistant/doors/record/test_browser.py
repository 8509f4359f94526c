"""The record in a real Chromium: readable at every width, and the way from a receipt to its story and to paper."""

import os
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.assistant.doors.conftest import Desk, make_desk
from tests.assistant.doors.test_browser import SIZES, sign_in, violations
from tests.browser import NewPage
from tests.cast import PASSWORD
from tests.desks import desk_of
from tests.processes import Running

pytestmark = pytest.mark.browser


@pytest.fixture
def office(product: Running) -> tuple[Desk, str]:
    """A company that has sent a message, and the address of that action's story."""
    made = make_desk()
    desk = desk_of(made.cast)
    asked = desk.propose("send_email", party_ref="C-0001", subject="Monday", body="We come.")
    action = desk.run(asked)
    return made, f"audit/actions/{action.pk}/"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_break_no_rule_of_axe_and_fit_at_320_pixels(
    product: Running, office: tuple[Desk, str], new_page: NewPage, scheme: str
) -> None:
    made, story = office
    page = new_page(color_scheme=scheme, reduced_motion="reduce")
    sign_in(page, product, made.cast)
    found: dict[str, Any] = {}
    for path in ("audit/", story, "audit/export/", "audit/erase/?about=C-0001"):
        page.goto(f"{product.url}/{path}")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            found[f"{path} {width}"] = violations(page)
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width, path
            if folder := os.environ.get("AVAL_TEST_PICTURES"):
                name = path.partition("?")[0].strip("/").replace("/", "-")
                page.screenshot(path=f"{folder}/{name}-{scheme}-{width}.png")
    assert {path: problems for path, problems in found.items() if problems} == {}


def test_from_the_list_to_the_story_to_the_file(product: Running, office: tuple[Desk, str], new_page: NewPage) -> None:
    made, story = office
    page = new_page()
    sign_in(page, product, made.cast)
    page.goto(f"{product.url}/audit/")
    page.get_by_text("Filter", exact=True).click()
    page.get_by_label("What", exact=True).select_option("action")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("link", name="Monday").first.click()
    expect(page).to_have_url(f"{product.url}/{story}")
    expect(page.get_by_role("heading", name="What was shown and what ran are the same")).to_be_visible()
    expect(page.locator(".as-shown")).to_contain_text("We come.")
    expect(page.locator(".as-shown").get_by_role("button")).to_have_count(0)
    expect(page.get_by_text("does NOT hold")).to_have_count(0)
    paper = page.request.get(f"{product.url}/{story}story.pdf")
    assert (paper.status, paper.body()[:5]) == (200, b"%PDF-")
    page.goto(f"{product.url}/audit/export/")
    page.get_by_label("Your password").fill(PASSWORD)
    with page.expect_download() as got:
        page.get_by_role("button", name="Export", exact=True).click()
    assert got.value.suggested_filename.startswith(f"record-{made.cast.company.slug}-")
