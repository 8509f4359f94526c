"""The stream is faster than a post's own answer, by any time: what the page shows and what can be done stay right.

An answer is held back between the server and the page, while everything else goes its way.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from assistant import turns
from assistant.models import Message, Turn
from tests.assistant.doors.conftest import Desk, make_desk
from tests.assistant.doors.test_browser import ARMED_MS, card, say, sign_in, status_of
from tests.browser import NewPage
from tests.cast import lone_ridge
from tests.processes import Running

pytestmark = pytest.mark.browser
PATIENCE_MS = 30_000


@pytest.fixture
def desk(product: Running) -> Desk:
    return make_desk(lone_ridge(undo_seconds={"post_letter": 0}))


@pytest.fixture
def page(product: Running, desk: Desk, new_page: NewPage) -> Page:
    """The desk's conversation before dana."""
    page = new_page()
    sign_in(page, product, desk.cast)
    page.goto(f"{product.url}{desk.url}")
    return page


class Held:
    """An answer on its way: the server has given it, the page has not got it."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Route, APIResponse]] = []

    def take(self, route: Route) -> None:
        self.waiting.append((route, route.fetch()))

    def let_go(self, page: Page) -> None:
        """The page gets it, and has put what is in it where it belongs."""
        assert self.waiting, "the server has not answered yet"
        for route, answer in self.waiting:
            with page.expect_event("requestfinished", lambda one: one == route.request):  # noqa: B023
                route.fulfill(response=answer)
        page.wait_for_timeout(300)
        self.waiting.clear()


@contextmanager
def held_back(page: Page, pattern: str) -> Iterator[Held]:
    """Hold back what the server answers to posts to this address."""
    held = Held()
    page.route(pattern, held.take)
    yield held
    page.unroute(pattern, held.take)
    assert held.waiting == []


def stop_button(page: Page) -> Locator:
    return page.locator("[data-stop]")


def settled(page: Page) -> None:
    """Nothing works any more, and nothing offers to stop it."""
    expect(page.locator(".turn-state .spin")).to_have_count(0, timeout=PATIENCE_MS)
    expect(stop_button(page)).to_have_count(0)


def words(page: Page) -> str:
    return re.sub(r"\s+", " ", page.locator("#thread").inner_text())


def test_escape_stops_an_answer_whose_post_is_not_answered_yet(desk: Desk, page: Page):
    with held_back(page, "**/messages") as held:
        say(page, "take your time")
        expect(page.locator(".said")).to_contain_text("One thing at a time", timeout=PATIENCE_MS)
        page.keyboard.press("Escape")
        expect(page.locator(".line")).to_have_text("Stopped.", timeout=PATIENCE_MS)
        settled(page)
        held.let_go(page)
    settled(page)
    expect(page.locator(".mine")).to_have_text("take your time")
    expect(page.locator("#message")).to_have_value("")
    with desk.cast.scope():
        assert [turn.status for turn in Turn.objects.all()] == ["stopped"]
        assert Message.objects.get(role="assistant").text == "One thing at a time:\n\nFirst"


WATCH = """() => {
  window.first = null;
  new MutationObserver(() => {
    const shown = document.querySelector(".mine, .said, .turn-state .spin") !== null;
    if (shown) window.first ??= { shown, stoppable: document.querySelector("[data-stop]") !== null };
  }).observe(document.body, { childList: true, subtree: true });
}"""


def test_the_first_thing_that_a_turn_shows_comes_with_the_stop_button(desk: Desk, page: Page):
    """Whatever it is: watched by the page itself, which looks at every change of its own."""
    page.evaluate(WATCH)
    with held_back(page, "**/messages") as held:
        say(page, "take your time")
        expect(page.locator(".said")).to_contain_text("First", timeout=PATIENCE_MS)
        page.keyboard.press("Escape")
        expect(page.locator(".line")).to_have_text("Stopped.", timeout=PATIENCE_MS)
        held.let_go(page)
    assert page.evaluate("window.first") == {"shown": True, "stoppable": True}


def test_an_answer_to_a_post_that_comes_after_the_end_begins_nothing_anew(desk: Desk, page: Page):
    with held_back(page, "**/messages") as held:
        say(page, "hello")
        expect(page.locator(".said")).to_be_visible(timeout=PATIENCE_MS)
        settled(page)
        held.let_go(page)
    settled(page)
    expect(page.locator(".mine")).to_have_text("hello")
    expect(page.locator("#message")).to_have_value("")
    before = words(page)
    page.reload()
    assert words(page) == before
    say(page, "hello again")
    expect(page.locator(".said")).to_have_count(2, timeout=PATIENCE_MS)
    settled(page)
    expect(page.locator(".mine")).to_have_text(["hello", "hello again"])


@pytest.mark.parametrize("late", [False, True], ids=["answered at once", "answered late"])
def test_a_message_that_waited_stands_once_in_the_turn_that_takes_it_up(desk: Desk, page: Page, late: bool):
    turn = desk.turn()
    desk.say("first", turn=turn)
    desk.say("I look.", turn=turn, role="assistant")
    expect(page.locator(".mine")).to_have_text("first")
    expect(stop_button(page)).to_be_visible()

    def end() -> None:
        with desk.cast.scope():
            turns.finish(turns.hold(turn.pk), Turn.Status.DONE)
        expect(page.locator(".said")).to_have_count(2, timeout=PATIENCE_MS)
        settled(page)

    if late:
        with held_back(page, "**/messages") as held:
            say(page, "hello")
            expect(page.locator(".mine")).to_have_count(2, timeout=PATIENCE_MS)
            end()
            held.let_go(page)
    else:
        say(page, "hello")
        expect(page.locator(".mine .meta")).to_be_visible()
        end()
    settled(page)
    expect(page.locator(".mine")).to_have_text(["first", "hello"])
    before = words(page)
    page.reload()
    assert words(page) == before


def test_a_click_that_is_answered_after_the_receipt_leaves_the_receipt(desk: Desk, page: Page):
    action = desk.propose("rename_client", name="Jon")
    expect(card(page)).to_be_visible()
    page.wait_for_timeout(ARMED_MS + 300)
    with held_back(page, "**/confirm") as held:
        card(page).get_by_role("button", name="Do it to John Smith").click()
        expect(page.locator('.slip[data-state="executed"]')).to_be_visible(timeout=PATIENCE_MS)
        held.let_go(page)
    expect(page.locator(".slip")).to_have_count(1)
    expect(page.locator('.slip[data-state="executed"] h2')).to_be_focused()
    assert status_of(desk, action) == "executed"


def test_an_edit_that_is_answered_after_its_new_card_shows_each_card_once(desk: Desk, page: Page):
    action = desk.propose()
    card(page).get_by_role("link", name="Edit").click()
    form = page.locator("[data-panel=edit]")
    form.get_by_role("textbox").fill("Dear John.")
    page.wait_for_timeout(ARMED_MS + 300)
    with held_back(page, "**/edit") as held:
        form.get_by_role("button", name="Save and review again").click()
        expect(page.locator('.slip[data-state="superseded"]')).to_be_visible(timeout=PATIENCE_MS)
        expect(page.locator('.slip[data-state="pending"]')).to_be_visible()
        held.let_go(page)
    ids = page.locator(".slip").evaluate_all("slips => slips.map(slip => [slip.id, slip.dataset.state])")
    assert [state for _id, state in ids] == ["superseded", "pending"]
    assert ids[0][0] == f"action-{action.pk}"
    expect(page.locator('.slip[data-state="superseded"] h2')).to_be_focused()


MEANWHILE = """async () => {
  const card = (id, order, words) => `<section class="slip" id="${id}" data-order="${order}" data-seq="7">
    <h2 tabindex="-1" ${words}>${id}</h2></section>`;
  const part = (item) => `<hx-partial hx-target="#thread" hx-swap="place">
    <section data-shell id="turn-0" data-order="8"><div class="items">${item}</div></section></hx-partial>`;
  const sourceElement = document.body;
  const come = (text, target, swap) => htmx.swap({ sourceElement, target, swap, text });
  await come(part(card("action-a", 100, "")), document.body, "none");
  await come(part(card("action-b", 101, "")), document.body, "none");
  await come(card("action-b", 0, "autofocus"), document.getElementById("action-a"), "outerHTML");
}"""


def test_an_edit_that_is_answered_between_its_two_cards_takes_neither_away(page: Page):
    """The stream has brought the new card, and not yet what became of the old one, whose form still stands."""
    page.evaluate(MEANWHILE)
    slips = page.locator("#turn-0 .slip")
    shown = slips.evaluate_all("slips => slips.map(slip => [slip.id, slip.dataset.order])")
    assert shown == [["action-a", "100"], ["action-b", "101"]]
    expect(slips.last.locator("h2")).to_be_focused()
