"""The margin leads to every page there is, and to none that the reader would not find."""

import re

import pytest

from ledger.models import Membership
from tests.assistant.doors.conftest import Desk

WAYS = ["/c/", "/leads/", "/clients/", "/quotes/", "/invoices/", "/payments/", "/price-book/", "/outbox/", "/trash/"]


def ways(desk: Desk, name: str = "dana") -> list[str]:
    html = desk.browser(name).get("/c/").content.decode()
    return re.findall(r'<li><a href="([^"]+)"', html[html.index('<nav class="nav"') : html.index('<nav class="convs"')])


def test_every_page_is_led_to_and_opens(desk: Desk):
    found = ways(desk)
    assert [url for url in WAYS if url not in found] == []
    assert [url for url in found if desk.browser().get(url).status_code != 200] == []


def test_who_may_not_restore_is_not_led_to_the_trash(desk: Desk):
    with desk.cast.scope():
        Membership.objects.filter(pk=desk.cast.alex.pk).update(role="crew")
    assert "/trash/" not in ways(desk, "alex")
    assert desk.browser("alex").get("/trash/").status_code == 404


@pytest.mark.parametrize("page", ["/c/", "/quotes/"])
def test_search_is_on_every_page(desk: Desk, page: str):
    html = desk.browser().get(page).content.decode()
    assert re.search(
        r'<form class="find" role="search" aria-label="Search all records" action="/search/">.*name="q"', html
    )
