"""The page on which a draft is changed: one plain form, all or nothing, once for each key (H22, I10)."""

import re
import uuid
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client as Browser

from ledger.models import AuditEvent, Membership, Quote, QuoteLine, QuoteRevision
from tests.cast import Cast
from tests.ledger.views.test_quote_pages import browser_of
from tests.offers import CEDAR_BEND_TOTAL, cedar_bend, send

EDIT = "/quotes/Q-0001/edit/"


def draft(cast: Cast) -> Browser:
    with cast.scope():
        cedar_bend(cast)
    return browser_of(cast)


def form_of(browser: Browser, url: str = EDIT) -> dict[str, Any]:
    """The fields of the form as a browser would post them untouched."""
    html = browser.get(url).content.decode()
    html = html[html.index('<form class="form editor"') :]
    fields: dict[str, Any] = {}
    for tag in re.findall(r"<input[^>]*>", html[: html.index("</form>")]):
        attributes = dict(re.findall(r'([a-z-]+)="([^"]*)"', tag))
        if attributes.get("type") != "checkbox" or " checked" in tag:
            fields[attributes["name"]] = unescape(attributes.get("value", ""))
    for name, inner in re.findall(r'<select name="([^"]*)".*?>(.*?)</select>', html, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', inner)
        fields[name] = chosen[1] if chosen else ""
    fields |= {
        n: unescape(t).strip() for n, t in re.findall(r'<textarea name="([^"]*)".*?>(.*?)</textarea>', html, re.DOTALL)
    }
    return fields


def lines(cast: Cast) -> list[tuple[str, Decimal, Decimal]]:
    with cast.scope():
        found = QuoteLine.objects.filter(revision__n=1).order_by("position")
        return [(line.description, line.quantity, line.unit_price) for line in found]


def total(cast: Cast) -> int:
    with cast.scope():
        return int(QuoteRevision.objects.get().total_cents)


def test_an_untouched_form_changes_nothing(lone_ridge: Cast) -> None:
    browser = draft(lone_ridge)
    before, given = lines(lone_ridge), form_of(browser)
    assert browser.post(EDIT, given).status_code == 303
    assert (lines(lone_ridge), total(lone_ridge)) == (before, CEDAR_BEND_TOTAL)
    with lone_ridge.scope():
        assert Quote.objects.get().version == 1
        assert not AuditEvent.objects.filter(kind__in=["quote.lines_edited", "quote.terms_set"]).exists()


def test_lines_are_changed_added_removed_and_moved_in_one_go(lone_ridge: Cast) -> None:
    browser = draft(lone_ridge)
    given = form_of(browser) | {
        "line-1-quantity": "30",
        "line-1-discount": "10%",
        "line-2-remove": "on",
        "line-3-place": "1",
        "line-3-tax": "exempt",
        "new-description": "Skylight",
        "new-quantity": "2",
        "new-unit_price": "$1,250.50",
        "discount": "",
        "deposit": "500",
        "title": "Roof and skylights",
    }
    answer = browser.post(EDIT, given)
    assert (answer.status_code, answer["Location"]) == (303, "/quotes/Q-0001/")
    assert lines(lone_ridge) == [
        ("Chimney flashing kit", Decimal("1.000"), Decimal("385.5000")),
        ("Architectural shingles", Decimal("30.000"), Decimal("145.0000")),
        ("Skylight", Decimal("2.000"), Decimal("1250.5000")),
    ]
    with lone_ridge.scope():
        flashing, shingles, _skylight = QuoteLine.objects.order_by("position")
        revision = QuoteRevision.objects.get()
        assert (shingles.discount_percent, flashing.tax_rate) == (Decimal(10), Decimal(0))
        assert (revision.discount_total_cents, revision.deposit_total_cents) == (0, 50_000)
        assert Quote.objects.get().title == "Roof and skylights"


def test_an_item_of_the_price_book_brings_its_price(lone_ridge: Cast) -> None:
    browser = draft(lone_ridge)
    html = browser.get(EDIT).content.decode()
    ref = re.search(r'value="([^"]+)">Chimney flashing kit', html)
    assert ref is not None
    answer = browser.post(EDIT, form_of(browser) | {"new-item": ref[1], "new-quantity": "3", "more": "1"})
    assert (answer.status_code, answer["Location"]) == (303, EDIT)
    assert lines(lone_ridge)[-1] == ("Chimney flashing kit", Decimal("3.000"), Decimal("385.5000"))


def test_h22_a_double_click_saves_once(lone_ridge: Cast) -> None:
    browser = draft(lone_ridge)
    given = form_of(browser) | {"new-description": "Skylight", "new-quantity": "2", "new-unit_price": "10"}
    assert [browser.post(EDIT, given).status_code for _ in range(2)] == [303, 303]
    assert len(lines(lone_ridge)) == 4


def test_i10_what_somebody_else_changed_meanwhile_is_not_overwritten(lone_ridge: Cast) -> None:
    browser = draft(lone_ridge)
    mine, theirs = form_of(browser), form_of(browser)
    browser.post(EDIT, theirs | {"valid_days": "20"})
    answer = browser.post(EDIT, mine | {"line-1-quantity": "5"})
    assert answer.status_code == 409
    assert "was changed in the meantime" in answer.content.decode()
    assert lines(lone_ridge)[0][1] == Decimal("28.000")


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("line-1-quantity", "0", "more than zero"),
        ("line-1-quantity", "many", "not a quantity"),
        ("line-1-unit_price", "-5", "may not be negative"),
        ("line-1-quantity", "1.500", "Do you mean"),
        ("line-1-description", "", "required"),
        ("new-quantity", "2", "Say what the line is for"),
        ("discount", "101%", "from 0 to 100"),
        ("valid_days", "200", "less than or equal to 180"),
    ],
)
def test_h10_what_cannot_be_read_is_said_beside_its_field_and_nothing_is_saved(
    lone_ridge: Cast, field: str, text: str, words: str
) -> None:
    browser = draft(lone_ridge)
    answer = browser.post(EDIT, form_of(browser) | {field: text, "title": "Changed"})
    html = answer.content.decode()
    assert answer.status_code == 422
    assert words in html[html.index(f'name="{field}"') - 600 :]
    assert 'aria-invalid="true"' in html
    with lone_ridge.scope():
        assert Quote.objects.get().title == "Full roof replacement, 28 squares"


def test_more_than_the_whole_is_said_beside_the_discount(lone_ridge: Cast) -> None:
    browser = draft(lone_ridge)
    answer = browser.post(EDIT, form_of(browser) | {"discount": "99999", "line-1-quantity": "5"})
    assert answer.status_code == 422
    assert "That is more than the whole amount." in answer.content.decode()
    assert lines(lone_ridge)[0][1] == Decimal("28.000")


def test_the_sums_follow_what_is_typed_and_nothing_is_stored(lone_ridge: Cast) -> None:
    browser = draft(lone_ridge)
    answer = browser.post(f"{EDIT}sums/", form_of(browser) | {"discount": "", "deposit": ""})
    assert "$10,692.25" in answer.content.decode()
    unread = browser.post(f"{EDIT}sums/", form_of(browser) | {"line-1-quantity": "x"}).content.decode()
    assert "$10,157.64" in unread
    assert "as last saved" in unread
    with lone_ridge.scope():
        assert (Quote.objects.get().version, QuoteRevision.objects.get().total_cents) == (1, CEDAR_BEND_TOTAL)
        assert not AuditEvent.objects.filter(kind="quote.terms_set").exists()


def test_figures_are_read_as_the_reader_writes_them(aurora: Cast) -> None:
    browser, url = draft(aurora), "/quotes/ORC-0001/edit/"
    given = form_of(browser, url)
    assert given["line-3-unit_price"] == "385,50"
    assert browser.post(url, given | {"line-3-unit_price": "1.385,5"}).status_code == 303
    assert lines(aurora)[2][2] == Decimal("1385.5000")


def test_a_sent_quote_is_led_back_with_a_word(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        send(lone_ridge, cedar_bend(lone_ridge))
    browser = browser_of(lone_ridge)
    for answer in (browser.get(EDIT), browser.post(EDIT, {"key": str(uuid.uuid4())})):
        assert (answer.status_code, answer["Location"]) == (303, "/quotes/Q-0001/")
    page = browser.get("/quotes/Q-0001/").content.decode()
    assert "make a new revision to change it" in page
    assert EDIT not in page


def test_r4_strangers_get_404_and_who_may_not_403(lone_ridge: Cast, strangers: Cast) -> None:
    dana, mallory = draft(lone_ridge), browser_of(strangers)
    with lone_ridge.scope():
        Membership.objects.filter(pk=lone_ridge.alex.pk).update(role="crew")
    crew = browser_of(lone_ridge, "alex")
    assert EDIT in dana.get("/quotes/Q-0001/").content.decode()
    assert EDIT not in crew.get("/quotes/Q-0001/").content.decode()
    for url, ways in ((EDIT, ("get", "post")), (f"{EDIT}sums/", ("post",))):
        for way in ways:
            assert getattr(mallory, way)(url).status_code == 404, url
            assert getattr(crew, way)(url).status_code == 403, url
            assert getattr(Browser(), way)(url).status_code == 302, url
