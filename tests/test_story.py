"""The main story on the product's own processes in a real Chromium, in both languages: from a sentence to a receipt,
from the outbox to the client's page, and to the acceptance. The other ways that a card can go stand below it.

`new_page` fails a test whose page breaks the content security policy, throws or asks another host for something.
"""

import hashlib
import re

import pytest
from playwright.sync_api import expect

from assistant.models import Message
from ledger.models import Acceptance
from tests import telling
from tests.browser import NewPage
from tests.cast import Cast
from tests.processes import Running
from tests.tales import ENGLISH, PORTUGUESE, Tale
from tests.telling import (
    PATIENCE_MS,
    REJECT,
    actions,
    card,
    foreign,
    looks_right,
    mails,
    plain,
    press,
    say,
    sign_in,
    the_quote,
    words,
)

SMALLEST = telling.SIZES[-1:]
pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture(params=[ENGLISH, PORTUGUESE], ids=lambda tale: tale.language)
def tale(request: pytest.FixtureRequest) -> Tale:
    told: Tale = request.param
    return told


@pytest.fixture
def office(product: Running, tale: Tale) -> Cast:
    return tale.office()


def test_from_a_sentence_to_the_clients_yes(product: Running, office: Cast, tale: Tale, new_page: NewPage) -> None:
    page = new_page(locale=tale.locale, reduced_motion="reduce")
    sign_in(page, product, office)
    say(page, tale.wish)
    expect(page.locator(".said").last).to_have_text(tale.asked, timeout=PATIENCE_MS)
    assert actions(office) == []

    say(page, tale.answer)
    waiting = card(page)
    expect(waiting.locator("h2")).to_have_text(tale.question, timeout=PATIENCE_MS)
    (asked,) = actions(office)
    quote = the_quote(office, tale)
    assert telling.told_by(waiting, tale) == telling.recorded(office, asked, tale)
    expect(waiting.get_by_role("button", name=tale.button)).to_be_visible()
    assert telling.first_page_of(waiting) > 100
    pdf = page.request.get(f"{product.url}{waiting.locator('a.doc').get_attribute('href')}").body()
    assert hashlib.sha256(pdf).hexdigest() == asked.payload["document_sha256"]
    looks_right(page, tale)
    before = words(page)
    page.reload()
    assert words(page) == before

    telling.change_the_recipient(page, tale)
    first, changed = actions(office)
    assert (first.status, changed.status, plain(changed.summary)) == ("superseded", "pending", tale.summary)
    press(page, tale.button)
    held = page.locator('.slip[data-state="scheduled"]')
    expect(held.locator("progress")).to_be_visible(timeout=PATIENCE_MS)
    held.get_by_role("button", name=tale.words["undo"]).click()
    undone = page.locator('.slip[data-state="cancelled"]')
    expect(undone).to_contain_text(tale.words["cancelled"], timeout=PATIENCE_MS)
    assert (mails(office), quote.status) == ([], "draft")

    undone.get_by_role("button", name=tale.words["again"]).click()
    expect(card(page).locator("h2")).to_have_text(tale.question, timeout=PATIENCE_MS)
    press(page, tale.button)
    receipt = page.locator('.slip[data-state="executed"]')
    expect(receipt.locator("h2")).to_have_text(tale.sent, timeout=PATIENCE_MS)
    expect(page.locator(".turn-state .spin")).to_have_count(0, timeout=PATIENCE_MS)
    assert [(mail.to, mail.cc, mail.bcc, mail.status) for mail in mails(office)] == [([tale.edited], [], [], "sent")]
    assert [sent["to"] for sent in telling.handed_over(office)] == [[tale.edited]]
    assert [action.status for action in actions(office)] == ["superseded", "cancelled", "executed"]
    looks_right(page, tale)

    receipt.get_by_role("link", name=re.compile("M-0001")).click()
    page.wait_for_url("**/outbox/M-0001/")
    assert page.locator(".record").inner_text().count(tale.edited) == 1
    looks_right(page, tale, sizes=SMALLEST)
    link = page.locator(".panel a").get_attribute("href")
    telling.accept(new_page(locale="en-US", reduced_motion="reduce"), link, tale)
    with office.scope():
        (yes,) = Acceptance.objects.all()
        assert (yes.signer_name, yes.document_sha256) == (tale.signer, asked.payload["document_sha256"])
        assert yes.total_cents == quote.revisions.get().total_cents
    assert the_quote(office, tale).status == "accepted"

    page.goto(f"{product.url}/quotes/{tale.ref}/")
    expect(page.locator(".state").first).to_have_text(tale.words["accepted"])
    expect(page.locator(".record")).to_contain_text(tale.signer)
    looks_right(page, tale, sizes=SMALLEST)
    page.goto(f"{product.url}/c/")
    say(page, tale.wonder)
    expect(page.locator(".said p").first).to_have_text(tale.told, timeout=PATIENCE_MS)


@pytest.mark.parametrize("tale", [PORTUGUESE], indirect=True, ids=["pt-br"])
def test_two_cards_of_one_turn_in_two_tabs(product: Running, office: Cast, tale: Tale, new_page: NewPage) -> None:
    page = new_page(locale=tale.locale)
    sign_in(page, product, office)
    refs = [tale.ref, tale.ref.replace("0001", "0002")]
    say(page, "manda o {} e o {}".format(*refs))
    expect(card(page)).to_have_count(2, timeout=PATIENCE_MS)
    expect(card(page).first.locator("h2")).to_be_in_viewport()
    assert [action.payload["ref"] for action in actions(office)] == refs

    other = page.context.new_page()
    other.goto(page.url)
    expect(card(other)).to_have_count(2)
    say(page, "siiim")
    expect(page.locator(".line").last).to_be_in_viewport(timeout=PATIENCE_MS)
    expect(page.locator(".line").last).to_contain_text(f"{actions(office)[1].summary}")
    assert [action.status for action in actions(office)] == ["pending", "pending"]
    with office.scope():
        assert not Message.objects.filter(role="user", turn=None, silent=False).exists()

    card(page).first.get_by_role("link", name=tale.words["reject"]).click()
    press(page, tale.words["no"], panel=REJECT)
    expect(page.locator(REJECT).locator(".err")).to_have_text(tale.words["no_reason"], timeout=PATIENCE_MS)
    page.locator(REJECT).locator("textarea").fill("40 %")
    press(page, tale.words["no"], panel=REJECT)
    expect(other.locator('.slip[data-state="rejected"]')).to_contain_text("40 %", timeout=PATIENCE_MS)
    press(other, tale.words["close"])
    expect(page.locator('.slip[data-state="cancelled"]')).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".said")).to_have_count(2, timeout=PATIENCE_MS)
    expect(page.locator(".said").last).to_contain_text("“40 %”", timeout=PATIENCE_MS)
    expect(page.locator(".turn-state .spin")).to_have_count(0, timeout=PATIENCE_MS)
    assert [action.status for action in actions(office)] == ["rejected", "cancelled"]
    assert mails(office) == []
    expect(other.locator(".turn-state .spin")).to_have_count(0, timeout=PATIENCE_MS)
    assert words(other) == words(page)
    assert foreign(page, tale) == []
    page.reload()
    assert words(page) == words(other)


def test_an_answer_is_stopped_and_says_so(product: Running, office: Cast, tale: Tale, new_page: NewPage) -> None:
    page = new_page(locale=tale.locale)
    sign_in(page, product, office)
    say(page, {"en": "hello", "pt-br": "bom dia"}[tale.language])
    expect(page.locator(".said")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".turn-state .spin")).to_have_count(0, timeout=PATIENCE_MS)
    begun = {"en": "One thing at a time:\n\nFirst", "pt-br": "Uma coisa de cada vez:\n\nPrimeiro"}[tale.language]
    say(page, {"en": "take your time", "pt-br": "sem pressa"}[tale.language])
    expect(page.locator(".said").last).to_contain_text(begun.split()[-1], timeout=PATIENCE_MS)
    page.keyboard.press("Escape")
    stopped = {"en": "Stopped.", "pt-br": "Parado."}[tale.language]
    expect(page.locator(".line")).to_have_text(stopped, timeout=PATIENCE_MS)
    expect(page.locator("[data-stop]")).to_be_hidden(timeout=PATIENCE_MS)
    with office.scope():
        assert Message.objects.filter(role="assistant").latest("position").text == begun
    assert foreign(page, tale) == []


@pytest.mark.parametrize("tale", [ENGLISH], indirect=True, ids=["en"])
def test_a_card_is_changed_and_refused_without_scripts(
    product: Running, office: Cast, tale: Tale, new_page: NewPage
) -> None:
    page = new_page(locale=tale.locale, java_script_enabled=False)
    sign_in(page, product, office)
    page.locator("#message").fill(f"send {tale.ref}")
    page.locator(".send").click()
    expect(card(page)).to_be_visible(timeout=PATIENCE_MS)  # the page asks again by itself while the answer is written
    telling.change_the_recipient(page, tale)
    page.get_by_role("link", name=tale.words["reject"]).click()
    page.get_by_role("button", name=tale.words["no"]).click()
    expect(page.locator(".err")).to_have_text(tale.words["no_reason"])
    page.locator("textarea[name=reason]").fill("40 %")
    page.get_by_role("button", name=tale.words["no"]).click()
    expect(page.locator('.slip[data-state="rejected"]')).to_contain_text("40 %")
    assert [action.status for action in actions(office)] == ["superseded", "rejected"]
    assert mails(office) == []
    assert foreign(page, tale) == []


def test_an_english_text_on_a_portuguese_page_is_found(new_page: NewPage) -> None:
    """The check that the tests above rely on."""
    page = new_page()
    page.set_content('<p>Fechar sem decidir</p><button aria-label="Copy answer">Save and\n review again</button>')
    assert foreign(page, PORTUGUESE) == ["Copy answer", "Save and review again"]
    assert foreign(page, ENGLISH) == []
