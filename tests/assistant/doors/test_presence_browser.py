"""Strong cards in a real Chromium: a passkey from its making to the receipt, the typed amount, keys that are held."""

import itertools
import time

import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from assistant.gate import passkeys
from assistant.models import Decision, PendingAction
from ledger.models import Passkey
from tests.assistant.doors.conftest import Desk, make_desk
from tests.assistant.doors.test_browser import ARMED_MS, SIZES, sign_in, status_of, violations
from tests.browser import NewPage
from tests.cast import PASSWORD, lone_ridge
from tests.processes import Running

pytestmark = pytest.mark.browser
SCRIPTED = """async ([url, hash]) => {
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  const fields = {hash, held: "1", typed: "100.00", reason: "scripted", csrfmiddlewaretoken: token};
  const answer = await fetch(url, {method: "POST", body: new URLSearchParams(fields)});
  document.querySelector("[data-confirm]").click();
  document.querySelector("[data-confirm]").form.requestSubmit();
  return answer.status;
}"""

HELD = """() => {
  const { dataset } = document.documentElement;
  delete dataset.held;
  addEventListener("submit", () => (dataset.held = ""), { capture: true, once: true });
}"""


@pytest.fixture
def desk(product: Running) -> Desk:
    return make_desk(lone_ridge(undo_seconds={"pay_out": 0}))


def authenticator(page: Page, *, verifies: bool = True) -> tuple[CDPSession, str]:
    """A device of the page's: it makes and keeps keys, and says at once that its person was there."""
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": verifies,
        "automaticPresenceSimulation": True,
    }
    added = devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return devices, str(added["authenticatorId"])


def hold(page: Page) -> None:
    """Hold the button until it says yes, on however slow a machine, and no shorter than two seconds."""
    page.evaluate(HELD)
    page.locator("[data-hold]").scroll_into_view_if_needed()
    box = page.locator("[data-hold]").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    began = time.monotonic()
    page.mouse.down()
    page.locator("html[data-held]").wait_for()
    page.mouse.up()
    assert time.monotonic() - began >= 2


def strong_card(product: Running, desk: Desk, page: Page) -> PendingAction:
    action = desk.propose("pay_out", amount_cents=10_000)
    page.goto(f"{product.url}{desk.url}")
    page.wait_for_timeout(ARMED_MS + 300)
    return action


def decided(page: Page, action: PendingAction) -> Locator:
    return page.locator(f"#action-{action.pk}:not([data-state=pending])")


def test_t69_a_strong_card_takes_the_passkey_and_no_scripted_click(product: Running, desk: Desk, new_page: NewPage):
    page = new_page()
    devices, device = authenticator(page)
    sign_in(page, product, desk.cast)
    page.get_by_role("link", name="Dana").click()
    adding = page.locator("[data-passkey-add]")
    adding.get_by_label("Name").fill("My telephone")
    adding.get_by_label("Your password").fill("wrong")
    adding.get_by_role("button", name="Add a passkey").click()
    expect(adding.locator("[data-problem]")).to_have_text("That is not your password.")
    adding.get_by_label("Your password").fill(PASSWORD)
    adding.get_by_role("button", name="Add a passkey").click()
    expect(page.locator("tbody th")).to_have_text("My telephone")
    page.get_by_label("Your password").last.fill(PASSWORD)
    page.get_by_role("button", name="Require a passkey for strong cards").click()
    expect(page.get_by_role("button", name="No longer require a passkey")).to_be_visible()
    page.get_by_role("link", name="Remove… My telephone").click()
    assert violations(page) == []
    page.go_back()
    assert violations(page) == []

    action = strong_card(product, desk, page)
    assert page.evaluate(SCRIPTED, [desk.url_of(action, "confirm"), action.digest]) == 422
    page.wait_for_timeout(300)
    assert status_of(desk, action) == "pending"

    page.get_by_label("Short reason").fill("Overpaid")
    devices.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": False})
    hold(page)
    expect(page.locator("[data-problem]")).to_have_text("Your passkey did not sign. Try again.", timeout=30_000)
    assert status_of(desk, action) == "pending"

    devices.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": True})
    hold(page)
    expect(decided(page, action)).to_contain_text("signed with the passkey “My telephone”", timeout=20_000)
    with desk.cast.scope():
        decision = Decision.objects.select_related("action").get(action=action)
        assert passkeys.problem_of(decision) == ""
        assert Passkey.objects.get().last_used_at is not None


def test_a_strong_card_takes_the_typed_amount_from_a_keyboard_and_no_held_key(
    product: Running, desk: Desk, new_page: NewPage
):
    """WCAG 2.1.1: a key that must be held is no way in, and a held key is no way through."""
    page = new_page()
    sign_in(page, product, desk.cast)
    action = strong_card(product, desk, page)
    button, typed = page.locator("[data-hold]"), page.get_by_label("Type 100.00 and press the button")
    expect(typed).to_be_hidden()
    page.get_by_label("Short reason").fill("Overpaid")
    for key in ("Enter", "Space"):
        button.focus()
        for _ in range(20):
            page.keyboard.down(key)
            page.wait_for_timeout(20)
        page.keyboard.up(key)
        expect(typed).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert status_of(desk, action) == "pending"
    page.keyboard.type("99.00")
    page.keyboard.press("Enter")
    expect(page.locator(".note.wrong")).to_contain_text("Hold the button, or type the amount exactly as shown.")
    expect(page.get_by_label("Short reason")).to_have_value("Overpaid")
    page.wait_for_timeout(ARMED_MS)
    expect(typed).to_have_value("99.00")
    typed.fill("100.00")
    page.locator("input[type=file]").set_input_files(
        {"name": "letter.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 a letter"}
    )
    page.locator("[data-hold]").focus()
    page.keyboard.press("Space")
    expect(decided(page, action)).to_contain_text("Evidence: letter.pdf")
    assert status_of(desk, action) != "pending"


def test_a_strong_card_and_the_passkeys_fit_and_have_no_violation(product: Running, desk: Desk, new_page: NewPage):
    action = desk.propose("pay_out", amount_cents=10_000)
    for scheme, sizes in (("light", SIZES[:1]), ("dark", SIZES[1:])):
        page = new_page(color_scheme=scheme, reduced_motion="reduce")
        sign_in(page, product, desk.cast)
        for (width, height), path in itertools.product(sizes, ("/passkeys/", desk.url_of(action))):
            page.set_viewport_size({"width": width, "height": height})
            page.goto(f"{product.url}{path}")
            for summary in page.locator(".more summary").all():
                summary.click()
            assert violations(page) == [], (path, width)
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert over <= 0, (path, width)
