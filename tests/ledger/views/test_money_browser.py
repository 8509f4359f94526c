"""Invoices and payments in a real Chromium: readable at every width, and a payment recorded from its page (H20)."""

import os
from typing import Any

import pytest
from playwright.sync_api import expect

from ledger.models import Invoice, Payment
from tests.assistant.doors.test_browser import ARMED_MS, SIZES, sign_in, violations
from tests.bills import charged, draft, fresh, issued, paid
from tests.browser import NewPage
from tests.cast import Cast, lone_ridge
from tests.processes import Running

pytestmark = pytest.mark.browser


@pytest.fixture
def office(product: Running) -> Cast:
    """A company with a draft, an invoice that is paid in part, and money that came by card."""
    cast = lone_ridge()
    with cast.scope():
        draft(cast, "450.00")
        paid(cast, 18_500, issued(cast, "260.00"))
        charged(cast, 32_000, issued(cast, "300.00"))
    return cast


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_break_no_rule_of_axe_and_fit_at_320_pixels(
    product: Running, office: Cast, new_page: NewPage, scheme: str
) -> None:
    page = new_page(color_scheme=scheme, reduced_motion="reduce")
    sign_in(page, product, office)
    found: dict[str, Any] = {}
    for path in ("invoices/", "invoices/D-0001/", "invoices/INV-0001/", "payments/", "payments/PAY-0002/"):
        page.goto(f"{product.url}/{path}")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            found[f"{path} {width}"] = violations(page)
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width, path
            if folder := os.environ.get("AVAL_TEST_PICTURES"):
                page.screenshot(path=f"{folder}/{path.strip('/').replace('/', '-')}-{scheme}-{width}.png")
    assert {path: problems for path, problems in found.items() if problems} == {}


def test_h20_the_rest_is_recorded_from_the_invoices_page(product: Running, office: Cast, new_page: NewPage) -> None:
    page = new_page()
    sign_in(page, product, office)
    page.goto(f"{product.url}/invoices/INV-0001/")
    expect(page.get_by_label("Amount received")).to_have_value("75.00")
    page.get_by_role("button", name="Record…").click()
    waiting = page.locator(".slip[data-guard]")
    expect(waiting).to_contain_text("Record $75.00 from John Smith?")
    expect(waiting).to_contain_text("INV-0001 $75.00 → $0.00")
    page.wait_for_timeout(ARMED_MS + 300)
    waiting.get_by_role("button", name="Record $75.00").click()
    receipt = page.locator('.slip[data-state="executed"]')
    expect(receipt).to_contain_text("INV-0001 is paid.", timeout=20_000)
    with office.scope():
        assert fresh(Invoice.objects.get(ref="INV-0001")).status == "paid"
        assert Payment.objects.filter(amount_cents=7_500).count() == 1
