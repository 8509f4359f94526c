"""Lists cost the same however long they are."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger import audit
from ledger.actions.company import change_settings
from ledger.actions.members import add_member
from ledger.actions.messages import draft_message
from ledger.actions.pricebook import Price, create_price_item
from ledger.actions.quotes import create_quote
from ledger.admin.reading import NewestPaginator
from ledger.admin_site import site
from ledger.models import AuditEvent, Membership, PriceItem, SettingsVersion
from tests import bills, operators
from tests.bills import the_client
from tests.cast import Cast, joanne_smith, john_smith
from tests.offers import lines_of
from tests.operators import text

# Lists of constant cost


def more_clients(cast: Cast, count: int) -> None:
    for number in range(count):
        john_smith(cast, name=f"Client {number}", email=f"c{number}@example.com")


def more_leads(cast: Cast, count: int) -> None:
    for number in range(count):
        joanne_smith(cast, name=f"Lead {number}", owner=cast.owner)


def more_quotes(cast: Cast, count: int) -> None:
    client = the_client(cast)
    for number in range(count):
        create_quote(client, by=cast.owner, title=f"Job {number}", lines=lines_of("10.00"))


def more_invoices(cast: Cast, count: int) -> None:
    client = the_client(cast)
    for _number in range(count):
        bills.draft(cast, "10.00", client=client)


def more_payments(cast: Cast, count: int) -> None:
    client = the_client(cast)
    for _number in range(count):
        bills.paid(cast, 100, bills.issued(cast, "1.00", client=client))


def more_prices(cast: Cast, count: int) -> None:
    for number in range(count):
        code = f"P-{PriceItem.objects.count() + number}"
        create_price_item(by=cast.owner, code=code, name="Thing", unit="ea", price=Price(Decimal(1)))


def more_messages(cast: Cast, count: int) -> None:
    client = the_client(cast)
    for number in range(count):
        draft_message(client, by=cast.owner, channel="email", subject=f"Message {number}", body="Hello")


def more_members(cast: Cast, count: int) -> None:
    for number in range(count):
        email = f"m{number}-{cast.company.slug}-{Membership.objects.count()}@example.com"
        add_member(by=cast.owner, email=email, name=f"Member {number}", role="viewer")


def more_settings(cast: Cast, count: int) -> None:
    for _number in range(count):
        change_settings(by=cast.owner, changes={"terms_days": SettingsVersion.objects.count() % 300})


def more_events(cast: Cast, count: int) -> None:
    for _number in range(count):
        audit.record("test.event", by=cast.owner)


LISTS = {
    "client": more_clients,
    "lead": more_leads,
    "quote": more_quotes,
    "invoice": more_invoices,
    "payment": more_payments,
    "priceitem": more_prices,
    "clientmessage": more_messages,
    "membership": more_members,
    "settingsversion": more_settings,
    "auditevent": more_events,
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_thirty_asks_no_more_than_a_list_of_one(lone_ridge: Cast, name: str) -> None:
    browser = operators.inside(lone_ridge.company)
    counted, shown = [], []
    for more in (1, 29):
        with lone_ridge.scope():
            LISTS[name](lone_ridge, more)
        with CaptureQueriesContext(connection) as queries:
            page = text(browser.get(f"/admin/ledger/{name}/"))
        counted.append(len(queries))
        shown.append(page.count('class="action-select"') or page.count("/change/"))
    assert counted[0] == counted[1], counted
    assert counted[1] < 25
    assert shown[1] >= shown[0] + 29


def test_a_list_counts_no_further_than_its_bound(lone_ridge: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine events, counted to five, two on a page: three pages."""
    monkeypatch.setattr(NewestPaginator, "MOST", 5)
    monkeypatch.setattr(site.get_model_admin(AuditEvent), "list_per_page", 2)
    monkeypatch.setattr(site.get_model_admin(AuditEvent), "list_max_show_all", 2)
    with lone_ridge.scope():
        more_events(lone_ridge, 9)
    browser = operators.inside(lone_ridge.company)
    shown = [text(browser.get("/admin/ledger/auditevent/", {"q": "test", "p": p})) for p in (1, 2, 3)]
    assert [page.count(">test.event<") for page in shown] == [2, 2, 1]
    assert browser.get("/admin/ledger/auditevent/", {"q": "test", "p": 4}).status_code == 302
    assert "5 audit events" in shown[0]
