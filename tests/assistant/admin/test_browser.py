"""The operator's site in a real Chromium: nothing breaks the content security policy, in light and in dark.

`new_page` fails a test on any violation, any error of a script and any request to another host.
"""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from assistant.models import PendingAction, Status
from ledger.models import User
from ledger.providers import sandbox
from tests import operators
from tests.browser import NewPage
from tests.cast import PASSWORD, Cast
from tests.desks import Desk, desk_of
from tests.processes import Processes, Running

pytestmark = [pytest.mark.browser, pytest.mark.processes]
HEADINGS = """() => [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')]
    .filter(one => one.checkVisibility()).map(one => Number(one.tagName[1]))"""
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def web(processes: Processes) -> Iterator[Running]:
    yield processes.web()


@pytest.fixture
def doubtful(lone_ridge: Cast) -> tuple[Desk, PendingAction]:
    """Lone Ridge with something in each list, and a quote whose sending is in doubt."""
    operators.fill(lone_ridge)
    desk = desk_of(lone_ridge)
    sandbox.set_knob(lone_ridge.tenant_id, "mail", sandbox.Mode.TIMEOUT_AFTER_ACCEPT)
    action = desk.run(
        desk.propose(
            "send_email", party_ref="C-0001", subject="About Monday", body="We come at eight.", attach_refs=["Q-0001"]
        )
    )
    assert action.status == Status.IN_DOUBT
    return desk, action


def enter(page: Page, web: Running, user: User, cast: Cast, go_on: str = "/admin/") -> None:
    """Sign in and enter the company, as a person does."""
    page.goto(f"{web.url}{go_on}")
    page.get_by_label("E-mail").fill(user.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose a company")
    check(page)
    page.get_by_label("Company").fill(str(cast.tenant_id))
    page.get_by_role("button", name="Enter the company").click()
    expect(page.locator(".here strong")).to_have_text(cast.company.name)


def check(page: Page) -> None:
    """One first heading, none skipped, and nothing wider than the window."""
    page.wait_for_load_state()
    levels = page.evaluate(HEADINGS)
    assert levels.count(1) == 1, (page.url, levels)
    assert all(after - before <= 1 for before, after in pairwise(levels)), (page.url, levels)
    assert page.evaluate(WIDER) <= 0, page.url


PAGES = [
    "/admin/",
    "/admin/ledger/",
    "/admin/ledger/client/",
    "/admin/ledger/client/?q=John&kind__exact=person",
    "/admin/ledger/quote/",
    "/admin/ledger/auditevent/",
    "/admin/assistant/pendingaction/",
    "/admin/assistant/alert/",
    "/admin/assistant/turn/",
    "/admin/chain/",
    "/admin/sandbox/",
    "/admin/ledger/user/",
    "/admin/ledger/user/add/",
    "/admin/password_change/",
    "/admin/company/",
]


@pytest.mark.parametrize(("scheme", "pages"), [("light", PAGES), ("dark", ["/admin/chain/", "/admin/ledger/client/"])])
def test_every_kind_of_page_keeps_the_policy(
    web: Running, new_page: NewPage, doubtful: tuple[Desk, PendingAction], scheme: str, pages: list[str]
) -> None:
    desk, action = doubtful
    page = new_page(color_scheme=scheme)
    boss = operators.staff(is_superuser=True)
    enter(page, web, boss, desk.cast)
    colours = set()
    rows = [f"/admin/assistant/pendingaction/{action.pk}/change/", f"/admin/ledger/user/{boss.pk}/password/"]
    for address in (*pages, *rows):
        answer = page.goto(f"{web.url}{address}")
        assert answer is not None and answer.status == 200, address
        check(page)
        colours.add(page.evaluate(BACKGROUND))
    for listed in ("client", "quote", "auditevent"):
        page.goto(f"{web.url}/admin/ledger/{listed}/")
        page.locator("#result_list tbody th a").first.click()
        page.wait_for_url("**/change/**")
        check(page)
    assert len(colours) == 1, "every page has the same ground"


def test_light_and_dark_are_two_grounds(web: Running, new_page: NewPage, lone_ridge: Cast) -> None:
    user = operators.staff()
    grounds = []
    for scheme in ("light", "dark"):
        page = new_page(color_scheme=scheme)
        enter(page, web, user, lone_ridge)
        grounds.append(page.evaluate(BACKGROUND))
    assert grounds[0] != grounds[1]
    page.get_by_role("button", name="Toggle theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert page.evaluate(BACKGROUND) == grounds[0], "the switch of the page goes before the machine's wish"


def test_a_person_settles_what_is_in_doubt(
    web: Running, new_page: NewPage, doubtful: tuple[Desk, PendingAction]
) -> None:
    desk, action = doubtful
    page = new_page()
    enter(page, web, operators.staff(), desk.cast, go_on=f"/admin/assistant/pendingaction/{action.pk}/change/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Send e-mail")
    card = page.locator(".as-shown")
    expect(card).to_contain_text("We come at eight.")
    expect(card.get_by_role("button")).to_have_count(0)
    page.get_by_role("button", name="Settle").click()
    assert page.evaluate("() => document.querySelectorAll(':invalid').length") > 0, "the browser itself asks for more"
    page.get_by_label("It was done").check()
    page.get_by_label("Note: how do you know?").fill("It is in the provider's list of sent messages.")
    page.get_by_role("button", name="Settle").click()
    expect(page.locator(".messagelist")).to_contain_text("It is settled")
    expect(page.locator(".state")).to_contain_text("Done")
    assert desk.fresh(action).status == Status.EXECUTED


def test_the_chain_is_verified_by_a_press(web: Running, new_page: NewPage, lone_ridge: Cast) -> None:
    page = new_page()
    enter(page, web, operators.staff(), lone_ridge, go_on="/admin/chain/")
    page.get_by_role("button", name="Verify now").click()
    expect(page.locator(".messagelist")).to_contain_text("The chain is whole")
    page.get_by_role("button", name="Leave this company").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose a company")


def test_side_by_side_stands_below_each_other_on_a_phone(
    web: Running, new_page: NewPage, doubtful: tuple[Desk, PendingAction]
) -> None:
    desk, action = doubtful
    address = f"/admin/assistant/pendingaction/{action.pk}/change/"
    page = new_page()
    enter(page, web, operators.staff(), desk.cast, go_on=address)
    shown, ran = (page.locator(f"section[aria-labelledby={part}]").bounding_box() for part in ("shown-t", "ran-t"))
    assert shown is not None and ran is not None
    assert shown["x"] + shown["width"] <= ran["x"], "side by side"
    page.set_viewport_size({"width": 360, "height": 740})
    shown, ran = (page.locator(f"section[aria-labelledby={part}]").bounding_box() for part in ("shown-t", "ran-t"))
    assert shown is not None and ran is not None
    assert shown["y"] + shown["height"] <= ran["y"], "below each other"
    check(page)
