"""How the main story is told in a browser: what a person does, what stands on the pages, and what the rows say."""

import re
from datetime import date
from functools import cache
from typing import Any

from babel.messages.pofile import read_po
from playwright.sync_api import Locator, Page, expect

from assistant.models import PendingAction
from ledger import dates
from ledger.models import ClientMessage, Quote, SandboxDelivery
from ledger.money import format_money
from tests.assistant.doors.test_browser import ARMED_MS, SIZES, violations
from tests.cast import PASSWORD, Cast
from tests.processes import Running
from tests.server import ROOT
from tests.tales import PORTUGUESE, Tale

PATIENCE_MS = 60_000
EDIT, REJECT = "[data-panel=edit]", "[data-panel=reject]"


def sign_in(page: Page, product: Running, office: Cast) -> None:
    page.goto(f"{product.url}/login/")
    page.locator("#id_username").fill(office.owner.user.email)
    page.locator("#id_password").fill(PASSWORD)
    page.locator("button[type=submit]").click()
    page.wait_for_url("**/c/")


def say(page: Page, text: str) -> None:
    page.locator("#message").fill(text)
    page.keyboard.press("Enter")


def card(page: Page) -> Locator:
    return page.locator(".slip[data-guard]")


def press(page: Page, name: str, *, panel: str = ".slip[data-guard]") -> None:
    """The first button of that name on a card, once the card takes it."""
    page.wait_for_timeout(ARMED_MS + 300)
    page.locator(panel).get_by_role("button", name=name).first.click()


def words(page: Page) -> str:
    return re.sub(r"\s+", " ", page.locator("#thread").inner_text())


def first_page_of(waiting: Locator) -> int:
    """The width of the document's picture, once it is there."""
    picture = waiting.locator(".doc img")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("complete", True)
    return int(picture.evaluate("image => image.naturalWidth"))


def change_the_recipient(page: Page, tale: Tale) -> None:
    """A wrong address first, which is refused with a sentence, then the one that the mail shall go to."""
    card(page).get_by_role("link", name=tale.words["edit"]).click()
    form = page.locator(EDIT)
    field = form.get_by_label(tale.labels["to"], exact=True)
    expect(field).to_have_value(tale.address, timeout=PATIENCE_MS)
    field.fill("mary")
    press(page, tale.words["save"], panel=EDIT)
    expect(form.get_by_role("alert")).to_have_text(tale.words["no_address"], timeout=PATIENCE_MS)
    field.fill(tale.edited)
    press(page, tale.words["save"], panel=EDIT)
    changed = card(page).locator(".delta")
    expect(changed.locator("del")).to_contain_text(tale.address, timeout=PATIENCE_MS)
    expect(changed.locator("ins")).to_contain_text(tale.edited)
    assert foreign(page, tale) == []


def accept(client: Page, link: str | None, tale: Tale) -> None:
    """The client opens the link of the mail, sees the quote in its language and accepts it with a name."""
    assert link is not None
    client.goto(link)
    looks_right(client, tale, sizes=SIZES[-1:])
    client.locator("#name").fill(tale.signer)
    client.locator("form[data-seen] button").click()
    expect(client.locator(".standing .state")).to_contain_text(tale.accepted, timeout=PATIENCE_MS)
    assert foreign(client, tale) == []


def told_by(waiting: Locator, tale: Tale) -> dict[str, str]:
    """The facts on the card by their labels, without the marks beside them."""
    rows = waiting.locator(".facts > div, .also > div").evaluate_all(
        "rows => rows.map(row => [row.querySelector('dt').textContent,"
        " [...row.querySelectorAll('dd > small, dd > span:not(.mark)')].map(s => s.textContent).join('')"
        " || row.querySelector('dd').textContent, row.querySelector('dd').classList.contains('amount')"
        " ? row.querySelector('dd').textContent : ''])"
    )
    return {label: plain(whole or text) for label, text, whole in rows if label in tale.labels.values()}


def recorded(office: Cast, action: PendingAction, tale: Tale) -> dict[str, str]:
    """The same facts from the database, as the reader writes them."""
    with office.scope():
        quote = Quote.objects.select_related("client").get(ref=tale.ref)
        revision = quote.revisions.get()
        figures = {
            "total": revision.total_cents,
            "subtotal": revision.subtotal_total_cents,
            "discount": revision.discount_total_cents,
            "tax": revision.tax_total_cents,
            "deposit": revision.deposit_total_cents,
        }
        contact = quote.client.main_contact
        found = {name: format_money(cents, quote.currency, tale.locale) for name, cents in figures.items() if cents}
        found |= {"to": contact.email, "client": f"{quote.client.name}, {tale.city}", "quote": tale.ref}
        found |= {"title": quote.title, "valid": dates.format_date(_valid_until(action), tale.locale, "full")}
    return {tale.labels[name]: plain(text) for name, text in found.items()}


def _valid_until(action: PendingAction) -> date:
    return date.fromisoformat(action.payload["valid_until"])


def plain(text: str) -> str:
    """With plain spaces, and an amount by itself with none: a card sets its sign apart."""
    spaced = text.replace("\u00a0", " ")
    return spaced.replace(" ", "") if re.fullmatch(r"R?\$ ?[\d.,]+", spaced) else spaced


def actions(office: Cast) -> list[PendingAction]:
    with office.scope():
        return list(PendingAction.objects.order_by("created_at", "pk"))


def mails(office: Cast) -> list[ClientMessage]:
    with office.scope():
        return list(ClientMessage.objects.order_by("created_at"))


def handed_over(office: Cast) -> list[dict[str, Any]]:
    """What the mail provider got, by its own record."""
    with office.scope():
        return [delivery.payload for delivery in SandboxDelivery.objects.all() if delivery.requests == 1]


def the_quote(office: Cast, tale: Tale) -> Quote:
    with office.scope():
        return Quote.objects.get(ref=tale.ref)


def looks_right(page: Page, tale: Tale, sizes: tuple[tuple[int, int], ...] = SIZES) -> None:
    """In both themes and at every size: nothing for axe-core to say, no sideways scrolling, one language."""
    usual = page.viewport_size
    found: dict[str, Any] = {"words": foreign(page, tale)}
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found[f"axe {width} {scheme}"] = violations(page)
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        found[f"over {width}"] = [over] if over > 0 else []
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(usual)
    assert {where: what for where, what in found.items() if what} == {}


def foreign(page: Page, tale: Tale) -> list[str]:
    """Texts of the product that stand on a Portuguese page in English, hidden ones and attributes included."""
    if tale is not PORTUGUESE:
        return []
    shown = page.locator("html").evaluate(
        "html => { const texts = document.createTreeWalker(html, NodeFilter.SHOW_TEXT), found = [];"
        " while (texts.nextNode()) found.push(texts.currentNode.data);"
        " const named = ['aria-label', 'title', 'placeholder', 'alt'];"
        " for (const one of html.querySelectorAll('*')) found.push(...named.map(name => one.getAttribute(name) ?? ''));"
        " return found.join(' '); }"
    )
    text = re.sub(r"\s+", " ", shown)
    return [english for english in translated() if re.search(rf"(?<!\w){re.escape(english)}(?!\w)", text)]


@cache
def translated() -> tuple[str, ...]:
    """Texts of two words and more, without fields, that are something else in Portuguese."""
    with (ROOT / "locale/pt_BR/LC_MESSAGES/django.po").open("rb") as file:
        catalog = read_po(file, "pt_BR")
    texts = [(message.id, message.string) for message in catalog if message.id and isinstance(message.id, str)]
    return tuple(text for text, other in texts if " " in text.strip() and "%(" not in text and other not in ("", text))
