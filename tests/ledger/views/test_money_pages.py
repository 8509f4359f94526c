"""Invoices and payments as the company sees them; strangers see nothing, and every deed asks at the gate (R4, H22)."""

import re
import threading
import uuid
from datetime import date

import pytest
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from assistant.models import PendingAction
from ledger.actions.invoice_documents import file_invoice_pdf, preview_invoice_pdf
from ledger.actions.invoices import delete_invoice
from ledger.actions.refunds import record_refund, reserve_refund
from ledger.dates import today
from ledger.models import Invoice, Payment
from ledger.numbering import continue_from
from tests.bills import brought, charged, draft, fresh, issued, paid
from tests.cast import Cast, john_smith, lone_ridge


def browser_of(cast: Cast, name: str = "") -> Browser:
    browser = Browser(raise_request_exception=False)
    browser.force_login((cast[name] if name else cast.owner).user)
    return browser


def urls_of(cast: Cast) -> list[str]:
    """Every address of an invoice, its document and its payment."""
    with cast.scope():
        invoice = issued(cast, "320.00")
        charged(cast, 32_000, invoice)
    sha = file_invoice_pdf(cast.tenant_id, invoice.pk)
    return [
        "/invoices/INV-0001/",
        f"/invoices/INV-0001/pdf/{sha}/",
        f"/invoices/INV-0001/page/{sha}/",
        "/payments/PAY-0001/",
    ]


def test_mallory_finds_none_of_another_companys_pages(lone_ridge: Cast, strangers: Cast) -> None:
    urls = urls_of(lone_ridge)
    mallory, dana, nobody = browser_of(strangers), browser_of(lone_ridge), Browser()
    for url in urls:
        assert dana.get(url).status_code == 200, url
        assert mallory.get(url).status_code == 404, url
        assert nobody.get(url).status_code == 302, url
    preview = f"{urls[0]}preview/"
    assert mallory.post(preview).status_code == 404
    assert nobody.post(preview).status_code == 302
    assert dana.get(preview).status_code == 405


def test_lists_show_only_the_own_company(lone_ridge: Cast, strangers: Cast) -> None:
    urls_of(lone_ridge)
    with strangers.scope():
        client = john_smith(strangers, name="Their Client", email="theirs@example.com")
        charged(strangers, 777, issued(strangers, "7.77", client=client))
    for url in ("/invoices/", "/payments/"):
        page = browser_of(lone_ridge).get(url).content.decode()
        assert "John Smith" in page
        assert "Their Client" not in page


def test_h17_the_list_is_drafts_then_newest_number_first() -> None:
    cast = lone_ridge()
    with cast.scope():
        brought(cast, "INV-9999", "1.00", issued_on=date(2026, 1, 2), due_on=date(2026, 1, 17))
        continue_from("invoice", 10_000)
        first = draft(cast, "1.00")
        issued(cast, "1.00")
        issued(cast, "1.00")
    page = browser_of(cast).get("/invoices/").content.decode()
    assert re.findall(r'href="/invoices/([A-Z]+-[0-9]+)/"', page) == [first.ref, "INV-10001", "INV-10000", "INV-9999"]


def test_the_list_goes_on_where_it_ended(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        for n in range(1, 34):
            brought(lone_ridge, f"INV-{n:04d}", "1.00", issued_on=date(2026, 1, 2), due_on=date(2026, 1, 17))
    dana, refs, url = browser_of(lone_ridge), [], "/invoices/"
    while url:
        page = dana.get(url).content.decode()
        refs += re.findall(r'href="/invoices/(INV-[0-9]+)/"', page)
        more = re.search(r'href="(\?after=[^"]+)"', page)
        url = f"/invoices/{more[1]}" if more else ""
    assert refs == [f"INV-{n:04d}" for n in range(33, 0, -1)]
    for broken in ("x", "x:y:z", "~"):
        assert dana.get("/invoices/", {"after": broken}).status_code == 200


@pytest.mark.parametrize(
    ("query", "refs"),
    [
        ({"status": "overdue"}, ["OLD-01"]),
        ({"status": "draft"}, ["D-0009"]),
        ({"status": "paid"}, ["INV-0001"]),
        ({"q": "gutter"}, ["D-0009"]),
        ({"q": "smith inv 0001"}, ["INV-0001"]),
        ({"status": "nonsense"}, ["D-0009", "INV-0001", "OLD-01"]),
    ],
)
def test_the_list_can_be_narrowed(lone_ridge: Cast, query, refs) -> None:
    with lone_ridge.scope():
        brought(lone_ridge, "OLD-01", "9.00", issued_on=date(2026, 1, 2), due_on=date(2026, 1, 17))
        paid(lone_ridge, 100, invoice := issued(lone_ridge, "1.00"))
        assert fresh(invoice).status == "paid"
        draft(lone_ridge, "2.00", draft_ref="D-0009", title="Gutter")
    page = browser_of(lone_ridge).get("/invoices/", query).content.decode()
    assert re.findall(r'href="/invoices/([A-Z]+-[0-9]+)/"', page) == refs


@pytest.mark.parametrize("url", ["/invoices/", "/payments/"])
def test_a_list_takes_the_same_queries_for_one_and_for_thirty(lone_ridge: Cast, url: str) -> None:
    dana, counts = browser_of(lone_ridge), []
    for more in (1, 29):
        with lone_ridge.scope():
            for _ in range(more):
                number, day = f"INV-{Invoice.objects.count() + 1:04d}", date(2026, 1, 2)
                paid(lone_ridge, 100, brought(lone_ridge, number, "1.00", issued_on=day, due_on=day))
                draft(lone_ridge, "1.00")
        dana.get(url)
        with CaptureQueriesContext(connection) as queries:
            assert dana.get(url).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_an_invoice_page_takes_the_same_queries_for_one_and_for_thirty(lone_ridge: Cast) -> None:
    dana, counts = browser_of(lone_ridge), []
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1000.00")
    for more in (1, 29):
        with lone_ridge.scope():
            for _ in range(more):
                paid(lone_ridge, 100, invoice)
        dana.get("/invoices/INV-0001/")
        with CaptureQueriesContext(connection) as queries:
            assert dana.get("/invoices/INV-0001/").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_invoice_page_says_what_is_owed_and_since_when(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        day = today("America/Chicago")
        late = day.replace(year=day.year - 1)
        invoice = brought(lone_ridge, "OLD-01", "320.00", issued_on=late, due_on=late)
        paid(lone_ridge, 12_000, invoice)
    page = browser_of(lone_ridge).get("/invoices/OLD-01/").content.decode()
    for words in ("Overdue", "$320.00", "$200.00", "PAY-0001", "days late", "Record a payment"):
        assert words in page


def test_h21_the_pages_say_what_was_refunded(lone_ridge: Cast) -> None:
    urls_of(lone_ridge)
    with lone_ridge.scope():
        held = reserve_refund(
            Payment.objects.get(), by=lone_ridge.dana, key=uuid.uuid4(), amount_cents=8_000, reason="duplicate"
        )
    dana = browser_of(lone_ridge)
    assert "$80.00 on the way" in dana.get("/payments/PAY-0001/").content.decode()
    with lone_ridge.scope():
        record_refund(held, by=None, provider_id="re_1")
    page = dana.get("/payments/PAY-0001/").content.decode()
    assert "Partly refunded" in page
    assert "$240.00" in page
    page = dana.get("/invoices/INV-0001/").content.decode()
    assert "Partly refunded: $80.00" in page
    assert "Partially paid" in page


def test_the_payment_page_says_what_became_credit(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        charged(lone_ridge, 9_000, issued(lone_ridge, "84.00"))
    page = browser_of(lone_ridge).get("/payments/PAY-0001/").content.decode()
    assert "$6.00 became the client" in page


def test_a_draft_leads_to_its_number_once_it_has_one(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "1.00")
    answer = browser_of(lone_ridge).get("/invoices/D-0001/")
    assert (answer.status_code, answer["Location"]) == (302, "/invoices/INV-0001/")


def test_previewing_is_a_post_that_leads_to_the_file(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "1.00")
    dana = browser_of(lone_ridge)
    answer = dana.post("/invoices/D-0001/preview/")
    assert answer.status_code == 303
    assert dana.get(answer["Location"]).content[:5] == b"%PDF-"


def test_a_document_of_another_invoice_is_not_found_under_this_one(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "1.00")
        sha = preview_invoice_pdf(draft(lone_ridge, "2.00"), by=lone_ridge.dana).sha256
    dana = browser_of(lone_ridge)
    assert dana.get(f"/invoices/D-0001/pdf/{sha}/").status_code == 404
    assert dana.get(f"/invoices/D-0001/pdf/{'0' * 64}/").status_code == 404


def test_a_seller_sees_no_buttons_for_the_books_and_gets_no_card(lone_ridge: Cast) -> None:
    urls_of(lone_ridge)
    with lone_ridge.scope():
        issued(lone_ridge, "1.00")
    alex = browser_of(lone_ridge, "alex")
    for url in ("/invoices/INV-0002/", "/payments/PAY-0001/"):
        assert "/propose/" not in alex.get(url).content.decode()
    for tool in ("send_invoice", "record_payment", "refund_payment"):
        assert alex.post(f"/c/desk/propose/{tool}/", {"key": str(uuid.uuid4())}).status_code == 404


def form_of(page: str, tool: str) -> dict[str, str]:
    """The fields of the form that asks for a tool, as a browser would post them untouched."""
    [form] = re.findall(rf'<form[^>]+propose/{tool}/".*?</form>', page, re.DOTALL)
    inputs = {m[1]: m[2] for m in re.finditer(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', form)}
    selects = {
        m[1]: m[2] for m in re.finditer(r'<select[^>]*name="([^"]+)".*?<option value="([^"]*)"', form, re.DOTALL)
    }
    return {name: value for name, value in (inputs | selects).items() if name != "allow_credit"}


def test_h22_five_posts_of_one_form_are_one_card_and_one_payment(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1000.00")
    page = browser_of(lone_ridge).get("/invoices/INV-0001/").content.decode()
    fields = form_of(page, "record_payment") | {"amount": "250.00", "allocations.0.amount": "250.00"}
    told, start = [], threading.Barrier(5)

    def press() -> None:
        dana = browser_of(lone_ridge)
        start.wait()
        told.append(dana.post("/c/desk/propose/record_payment/", fields)["Location"])
        connection.close()

    presses = [threading.Thread(target=press) for _ in range(5)]
    for thread in presses:
        thread.start()
    for thread in presses:
        thread.join()
    assert len(told) == 5
    assert len(set(told)) == 1
    with lone_ridge.scope():
        action = PendingAction.objects.get()
        assert (action.tool, action.payload["amount_cents"]) == ("record_payment", 25_000)
        assert [share["ref"] for share in action.payload["shares"]] == [invoice.ref]
    assert fields["received_on"] == today("America/Chicago").isoformat()


def test_what_a_rule_refuses_is_said_on_the_page_it_came_from(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "100.00")
    dana = browser_of(lone_ridge)
    fields = form_of(dana.get("/invoices/INV-0001/").content.decode(), "record_payment")
    answer = dana.post("/c/desk/propose/record_payment/", fields | {"amount": "120.00"}, follow=True)
    assert answer.redirect_chain[-1][0] == "/invoices/INV-0001/"
    assert "kept as credit if you allow it" in answer.content.decode()
    with lone_ridge.scope():
        assert not PendingAction.objects.exists()


@pytest.mark.parametrize("tool", ["send_invoice", "delete_invoice"])
def test_the_buttons_of_a_draft_put_up_their_cards(lone_ridge: Cast, tool: str) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00")
    dana = browser_of(lone_ridge)
    fields = form_of(dana.get("/invoices/D-0001/").content.decode(), tool)
    card = dana.post(f"/c/desk/propose/{tool}/", fields, follow=True)
    assert card.status_code == 200
    with lone_ridge.scope():
        assert PendingAction.objects.get().tool == tool
        assert Invoice.objects.get().status == "draft"


def test_the_refund_form_puts_up_a_strong_card(lone_ridge: Cast) -> None:
    urls_of(lone_ridge)
    dana = browser_of(lone_ridge)
    fields = form_of(dana.get("/payments/PAY-0001/").content.decode(), "refund_payment")
    fields |= {"amount": "80.00", "reason": "service_issue", "note": "gutter joint failed"}
    card = dana.post("/c/desk/propose/refund_payment/", fields, follow=True).content.decode()
    with lone_ridge.scope():
        action = PendingAction.objects.get()
        assert (action.level, action.payload["amount_cents"]) == (3, 8_000)
    for words in ("Refund $80.00 to the card ending in 4242 of John Smith?", "INV-0001 $0.00 → $0.00", "gutter joint"):
        assert words in card
    assert "Problem with the work" in card


def test_the_trash_gives_a_draft_back(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        delete_invoice(draft(lone_ridge, "100.00"), by=lone_ridge.dana)
    dana = browser_of(lone_ridge)
    assert dana.get("/invoices/D-0001/").status_code == 404
    assert "D-0001" not in dana.get("/invoices/").content.decode()
