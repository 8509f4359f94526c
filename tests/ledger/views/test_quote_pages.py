"""Quotes, price book and outbox as the company sees them; strangers see nothing (R4, R13)."""

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from ledger import links
from ledger.actions.messages import draft_message
from ledger.actions.pricebook import Price, create_price_item
from ledger.actions.quote_documents import preview_quote_pdf
from ledger.actions.quotes import create_quote
from ledger.models import ClientMessage, PublicLink, Quote, QuoteRevision
from tests.cast import Cast, john_smith
from tests.offers import BOOK, cedar_bend, lines_of, send


def browser_of(cast: Cast, name: str = "") -> Browser:
    browser = Browser(raise_request_exception=False)
    browser.force_login((cast[name] if name else cast.owner).user)
    return browser


def urls_of(cast: Cast) -> list[str]:
    """Every address of a sent quote and its message."""
    with cast.scope():
        revision = send(cast, cedar_bend(cast))
        message = ClientMessage.objects.get()
        sha = revision.document.sha256
    return [
        f"/quotes/{revision.quote.ref}/",
        f"/quotes/{revision.quote.ref}/pdf/{sha}/",
        f"/quotes/{revision.quote.ref}/page/{sha}/",
        f"/outbox/{message.ref}/",
        f"/outbox/{message.ref}/files/{sha}/",
    ]


def test_mallory_finds_none_of_another_companys_pages(lone_ridge: Cast, strangers: Cast) -> None:
    urls = urls_of(lone_ridge)
    mallory, dana, nobody = browser_of(strangers), browser_of(lone_ridge), Browser()
    for url in urls:
        assert dana.get(url).status_code == 200, url
        assert mallory.get(url).status_code == 404, url
        assert nobody.get(url).status_code == 302, url
    for url in (f"{urls[0]}preview/", f"{urls[0]}revise/"):
        assert mallory.post(url).status_code == 404, url
        assert nobody.post(url).status_code == 302, url
        assert dana.get(url).status_code == 405, url


def test_lists_show_only_the_own_company(lone_ridge: Cast, strangers: Cast) -> None:
    urls_of(lone_ridge)
    with strangers.scope():
        send(strangers, create_quote(john_smith(strangers), by=strangers.owner, title="Theirs", lines=lines_of("7.77")))
    for url in ("/quotes/", "/outbox/"):
        page = browser_of(lone_ridge).get(url).content.decode()
        assert "Full roof replacement" in page
        assert "Theirs" not in page


def test_the_quote_page_shows_what_the_client_would_get(lone_ridge: Cast) -> None:
    url = urls_of(lone_ridge)[0]
    page = browser_of(lone_ridge).get(url).content.decode()
    for words in ("Q-0001", "John Smith", "$10,157.64", "$3,047.29", "Send again"):
        assert words in page


def test_files_are_the_exact_bytes_and_may_be_framed_by_ourselves(lone_ridge: Cast) -> None:
    urls = urls_of(lone_ridge)
    dana = browser_of(lone_ridge)
    pdf, picture, attached = (dana.get(urls[n]) for n in (1, 2, 4))
    with lone_ridge.scope():
        document = QuoteRevision.objects.get().document
        assert pdf.content == attached.content == bytes(document.content)
        assert picture.content == bytes(document.preview)
    assert (pdf["Content-Type"], picture["Content-Type"]) == ("application/pdf", "image/png")
    assert pdf["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in pdf["Content-Security-Policy"]
    again = dana.get(urls[1], headers={"if-none-match": pdf["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_document_of_another_quote_is_not_found_under_this_one(lone_ridge: Cast) -> None:
    urls = urls_of(lone_ridge)
    with lone_ridge.scope():
        client = Quote.objects.get().client
        other = create_quote(client, by=lone_ridge.dana, title="Gutter", lines=lines_of("1.00"))
        sha = preview_quote_pdf(other, by=lone_ridge.dana).sha256
    dana = browser_of(lone_ridge)
    assert dana.get(f"{urls[0]}pdf/{sha}/").status_code == 404
    assert dana.get(f"{urls[0]}pdf/{'0' * 64}/").status_code == 404


def test_previewing_is_a_post_that_leads_to_the_file(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        cedar_bend(lone_ridge)
    dana = browser_of(lone_ridge)
    answer = dana.post("/quotes/Q-0001/preview/")
    assert answer.status_code == 303
    assert dana.get(answer["Location"]).content[:5] == b"%PDF-"


def test_revising_twice_says_so_the_second_time(lone_ridge: Cast) -> None:
    url = urls_of(lone_ridge)[0]
    dana = browser_of(lone_ridge)
    for _press in range(2):
        assert dana.post(f"{url}revise/").status_code == 303
    page = dana.get(url).content.decode()
    assert "cannot be revised as it stands" in page
    with lone_ridge.scope():
        assert QuoteRevision.objects.count() == 2


def test_the_outbox_shows_the_mail_as_it_went_out_with_the_working_link(lone_ridge: Cast) -> None:
    urls = urls_of(lone_ridge)
    page = browser_of(lone_ridge).get(urls[3]).content.decode()
    with lone_ridge.scope():
        token = links.token_of(PublicLink.objects.get(tenant_id=lone_ridge.tenant_id))
    assert f'href="http://testserver/q/{token}/"' in page
    assert "john.smith@example.com" in page
    assert ClientMessage.LINK not in page


def test_words_in_a_message_are_escaped(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        body = "<script>alert(1)</script> javascript:alert(1) http://ok.example/"
        message = draft_message(john_smith(lone_ridge), by=lone_ridge.dana, channel="email", body=body)
    page = browser_of(lone_ridge).get(f"/outbox/{message.ref}/").content.decode()
    assert "<script>alert(1)" not in page
    assert 'href="javascript' not in page


@pytest.mark.parametrize(
    "query",
    [
        "q=%00",
        "q=%27%22%3C",
        "status=nonsense",
        "status=%00",
        "after=x",
        "after=2026-01-01T00:00:00~x",
        "after=99999999999999999~00000000-0000-0000-0000-000000000000",
        "after=999999999999999999999~00000000-0000-0000-0000-000000000000",
        "after=-1~00000000-0000-0000-0000-000000000000",
        "revision=%00",
        "revision=99999999999999999999",
        "q=" + "a" * 5000,
    ],
)
@pytest.mark.parametrize("url", ["/quotes/", "/outbox/", "/price-book/", "/quotes/Q-0001/"])
def test_a_hostile_query_is_no_error(lone_ridge: Cast, url: str, query: str) -> None:
    with lone_ridge.scope():
        cedar_bend(lone_ridge)
    assert browser_of(lone_ridge).get(f"{url}?{query}").status_code == 200


@pytest.mark.parametrize(
    "path", ["/quotes/%00/", "/quotes/q-0001/", "/quotes/Q-1/", "/quotes/Q-999999999/", "/outbox/x/"]
)
def test_a_ref_that_is_none_is_a_404(lone_ridge: Cast, path: str) -> None:
    assert browser_of(lone_ridge).get(path).status_code == 404


def test_the_price_book_lists_todays_prices(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        for code, (name, unit, price, _cost, tax) in BOOK.items():
            create_price_item(
                by=lone_ridge.dana, code=code, name=name, unit=unit, price=Price(Decimal(price), tax_rate=tax)
            )
    page = browser_of(lone_ridge).get("/price-book/?q=flashing").content.decode()
    assert "$385.50" in page
    assert "SHG-ARCH" not in page


def test_lists_take_as_many_queries_for_thirty_rows_as_for_one(lone_ridge: Cast) -> None:
    def count(url: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert dana.get(url).status_code == 200
        return len(captured)

    dana = browser_of(lone_ridge)
    urls = ("/quotes/", "/outbox/", "/price-book/")
    with lone_ridge.scope():
        cedar_bend(lone_ridge)
        client = Quote.objects.get().client
        draft_message(client, by=lone_ridge.dana, channel="email", body="x")
    one = [count(url) for url in urls]
    with lone_ridge.scope():
        for n in range(30):
            create_quote(client, by=lone_ridge.dana, title=f"R{n}", lines=lines_of("1.00"))
            draft_message(client, by=lone_ridge.dana, channel="email", body="x")
            create_price_item(by=lone_ridge.dana, code=f"C{n}", name="N", unit="ea", price=Price(Decimal(1)))
    assert [count(url) for url in urls] == one
    page = dana.get("/quotes/").content.decode()
    older = re.search(r'href="\?(after=[^"]+)"', page)
    assert older is not None
    rest = dana.get("/quotes/?" + older[1].replace("&amp;", "&")).content.decode()
    assert "Q-0001" in rest
    assert "Q-0031" not in rest
