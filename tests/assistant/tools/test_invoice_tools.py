"""Reading and drafting invoices by tools: what the model is told, in how many queries."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import resolve, reverse

from assistant.tools import registry
from ledger.actions.invoice_issuing import issue_invoice
from ledger.dates import today
from ledger.errors import DomainError, NotFound
from ledger.models import Invoice
from tests.bills import accepted, brought, draft, issued, paid, the_client
from tests.cast import Cast, john_smith, lone_ridge
from tests.desks import desk_of
from tests.offers import CEDAR_BEND_TOTAL, cedar_bend, price_book

NAMES = ("list_invoices", "list_overdue_invoices", "get_invoice", "preview_invoice_pdf", "create_invoice")


def late_by(cast: Cast, days: int, amount: str = "100.00", **given: object) -> Invoice:
    """An invoice that has been overdue for so many days."""
    due = today(cast.company.timezone) - timedelta(days=days)
    number = f"OLD-{Invoice.objects.count() + 1:02d}"
    return brought(cast, number, amount, issued_on=due - timedelta(days=15), due_on=due, **given)


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("INV-{seq}", "INV-1"),
        ("FAT-{YYYY}{seq:08d}", "FAT-202600000001"),
        ("F-{seq:02d}", "F-01"),
        ("NFSE-{YYYY}{seq}", "NFSE-20261"),
    ],
)
def test_h17_every_form_of_number_can_be_linked_to_and_named_to_a_tool(form: str, first: str) -> None:
    cast = lone_ridge(**{f"{kind}_format": form for kind in ("invoice", "quote", "payment")})
    with cast.scope(), time_machine.travel("2026-12-01T18:00:00Z", tick=False):
        paid(cast, 1_000, issued(cast, "100.00"))
        cedar_bend(cast, the_client(cast))
    desk = desk_of(cast)
    assert desk.read("get_invoice", invoice_ref=first)["number"] == first
    assert desk.read("get_payment", payment_ref=first)["ref"] == desk.read("get_quote", quote_ref=first)["ref"] == first
    assert {hit["ref"] for hit in desk.read("search_records", query=first.lower())["hits"]} == {first}
    for page in ("invoice", "payment", "quote"):
        assert resolve(reverse(page, args=[first])).kwargs == {"ref": first}


@pytest.mark.parametrize("number", ["2025/98", "INV 9", "98", "INVOICE-9", "INV-1234567890123", "INV-٣"])
def test_h17_a_number_that_nothing_could_name_is_not_brought_along(lone_ridge: Cast, number: str) -> None:
    with lone_ridge.scope(), pytest.raises(DomainError) as refused:
        brought(lone_ridge, number, "9.00", issued_on=date(2026, 1, 2), due_on=date(2026, 1, 17))
    assert refused.value.code == "BAD_NUMBER"


def test_the_reading_tools_have_no_card() -> None:
    assert [(name, int(registry.TOOLS[name].level)) for name in NAMES] == [(name, 0) for name in NAMES]


def test_what_is_overdue_is_told_with_days_and_sum(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        late_by(lone_ridge, 47, "4180.25")
        late_by(lone_ridge, 1, "395.00")
        late_by(lone_ridge, 0, "640.00")  # due today is not late
        draft(lone_ridge, "77.00")
    told = desk_of(lone_ridge).read("list_overdue_invoices")
    assert (told["count"], told["total"], told["currency"]) == (2, "4575.25", "USD")
    lines = [(one["ref"], one["days_late"], one["bucket"], one["status"]) for one in told["invoices"]]
    assert lines == [("OLD-01", 47, "31-60", "overdue"), ("OLD-02", 1, "1-30", "overdue")]


@pytest.mark.parametrize(("given", "refs"), [({"min_days": 2}, ["OLD-01"]), ({"limit": 1}, ["OLD-01"]), ({}, 2)])
def test_the_overdue_list_can_be_narrowed(lone_ridge: Cast, given, refs) -> None:
    with lone_ridge.scope():
        late_by(lone_ridge, 2)
        late_by(lone_ridge, 1)
    told = desk_of(lone_ridge).read("list_overdue_invoices", **given)
    found = [one["ref"] for one in told["invoices"]]
    assert found == refs if isinstance(refs, list) else len(found) == refs
    assert told["count"] == (2 if "min_days" not in given else 1)


@pytest.mark.parametrize(
    ("given", "refs"),
    [
        ({}, ["D-0004", "INV-0002", "INV-0001", "OLD-01"]),
        ({"status": "draft"}, ["D-0004"]),
        ({"status": "paid"}, ["INV-0001"]),
        ({"status": "overdue"}, ["OLD-01"]),
        ({"due_before": "2026-02-01"}, ["OLD-01"]),
        ({"client_ref": "C-0001", "limit": 2}, ["D-0004", "INV-0002"]),
    ],
)
def test_invoices_are_listed(lone_ridge: Cast, given, refs) -> None:
    with lone_ridge.scope():
        brought(lone_ridge, "OLD-01", "9.00", issued_on=date(2026, 1, 2), due_on=date(2026, 1, 17))
        paid(lone_ridge, 100, issued(lone_ridge, "1.00", draft_ref="D-0001"))
        issued(lone_ridge, "2.00", draft_ref="D-0002")
        draft(lone_ridge, "3.00", draft_ref="D-0004")
    told = desk_of(lone_ridge).read("list_invoices", **given)
    assert [one["ref"] for one in told["invoices"]] == refs
    assert told["more"] is (given.get("limit") == 2)


@pytest.mark.parametrize("name", ["list_invoices", "list_overdue_invoices"])
def test_lists_take_the_same_queries_for_one_and_for_thirty(lone_ridge: Cast, name: str) -> None:
    desk = desk_of(lone_ridge)
    counts = []
    for more in (1, 29):
        with lone_ridge.scope():
            for _ in range(more):
                late_by(lone_ridge, 3)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert len(desk.read(name, limit=50)["invoices"]) in (1, 30)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_one_invoice_is_told_with_its_lines_payments_and_messages(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "100.00", "50.00", tax=Decimal("8.25"))
        payment = paid(lone_ridge, 5_000, invoice, reference="1187")
    told = desk_of(lone_ridge).read("get_invoice", invoice_ref=invoice.draft_ref)
    assert (told["ref"], told["number"], told["status"]) == ("INV-0001", "INV-0001", "partially_paid")
    assert (told["subtotal"], told["tax"], told["total"], told["balance"]) == ("150.00", "12.38", "162.38", "112.38")
    assert [line["net"] for line in told["lines"]] == ["100.00", "50.00"]
    assert [(one["payment"], one["amount"]) for one in told["payments"]] == [(payment.ref, "50.00")]
    assert told["client"] == {"ref": "C-0001", "name": "John Smith", "city": "Austin"}


def test_a_preview_is_a_link_with_a_fingerprint(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00")
    told = desk_of(lone_ridge).read("preview_invoice_pdf", invoice_ref="D-0001")
    assert told["link"] == f"/invoices/D-0001/pdf/{told['sha256']}/"
    assert told["pages"] == 1


def test_lines_from_the_price_book_become_a_draft(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        the_client(lone_ridge)
        items = price_book(lone_ridge)
    lines = [
        {"price_item_ref": items["FLS-KIT"].ref, "qty": "2"},
        {"description": "Leak repair", "qty": "1.5", "unit_price": "80.00", "tax_code": "exempt"},
    ]
    told = desk_of(lone_ridge).read("create_invoice", client_ref="C-0001", lines=lines, due_days=7, po_number="PO-1")
    assert (told["ref"], told["status"], told["number"]) == ("D-0001", "draft", None)
    assert (told["subtotal"], told["tax"], told["total"], told["due_days"]) == ("891.00", "63.61", "954.61", 7)


def test_a_quote_is_invoiced_in_parts_or_whole(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        accepted(lone_ridge, cedar_bend(lone_ridge))
    desk = desk_of(lone_ridge)
    told = desk.read("create_invoice", client_ref="C-0001", quote_ref="Q-0001", percent_of_quote="30")
    assert (told["total"], told["part_of_quote"], told["quote"]) == ("3047.29", "30", "Q-0001")
    rest = desk.read("create_invoice", client_ref="C-0001", quote_ref="Q-0001")
    assert Decimal(rest["total"]) * 100 == CEDAR_BEND_TOTAL - 304_729
    with pytest.raises(DomainError) as refused:
        desk.read("create_invoice", client_ref="C-0001", quote_ref="Q-0001")
    assert (refused.value.code, refused.value.data["invoice"]) == ("ALREADY_INVOICED", rest["ref"])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "INVALID_ARGUMENTS"),
        (
            {"lines": [{"qty": "1", "unit_price": "1.00", "description": "x"}], "quote_ref": "Q-0001"},
            "INVALID_ARGUMENTS",
        ),
        ({"percent_of_quote": "30"}, "INVALID_ARGUMENTS"),
        ({"lines": [{"qty": "0", "unit_price": "1.00", "description": "x"}]}, "QUANTITY_NOT_POSITIVE"),
        ({"lines": [{"qty": "1", "unit_price": "1.00", "description": "x", "optional": True}]}, "OPTIONAL_LINE"),
        ({"lines": [{"qty": "1"}]}, "NO_PRICE"),
        ({"quote_ref": "Q-0001", "client_ref": "C-0002"}, "QUOTE_OF_ANOTHER"),
        ({"project_ref": "P-0055", "lines": [{"qty": "1"}]}, "NOT_FOUND"),
        ({"due_days": 121, "lines": [{"qty": "1"}]}, "INVALID_ARGUMENTS"),
    ],
)
def test_what_cannot_be_drafted_changes_nothing(lone_ridge: Cast, given, code) -> None:
    with lone_ridge.scope():
        cedar_bend(lone_ridge)
        john_smith(lone_ridge, name="Ann Other", email="ann@example.com")
    with pytest.raises(DomainError) as refused:
        desk_of(lone_ridge).read("create_invoice", **({"client_ref": "C-0001"} | given))
    assert refused.value.code == code
    with lone_ridge.scope():
        assert not Invoice.objects.exists()


def test_mallory_finds_none_of_it(lone_ridge: Cast, strangers: Cast) -> None:
    with lone_ridge.scope():
        issue_invoice(draft(lone_ridge, "100.00"), by=lone_ridge.dana)
    desk = desk_of(strangers)
    for name in ("list_invoices", "list_overdue_invoices"):
        assert desk.read(name)["invoices"] == []
    for name in ("get_invoice", "preview_invoice_pdf"):
        with pytest.raises(NotFound):
            desk.read(name, invoice_ref="INV-0001")
