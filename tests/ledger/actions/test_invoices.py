"""Invoices: drafted with totals of their own lines, found by number, numbered without gaps (H15 to H18, I3 to I5)."""

import threading
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
import time_machine
from django.db import DatabaseError, connection, transaction

from ledger import tenancy
from ledger.actions import invoice_issuing
from ledger.actions.company import change_settings
from ledger.actions.invoice_documents import file_invoice_pdf, issued_paper, preview_invoice_pdf
from ledger.actions.invoice_issuing import issue_invoice
from ledger.actions.invoice_quotes import create_invoice_of_quote
from ledger.actions.invoices import create_invoice, delete_invoice, invoice_of, newest_first, overdue
from ledger.actions.quotes import create_quote
from ledger.documents.typeset import invoice_pdf
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import AuditEvent, Client, Invoice, InvoiceLine, Quote, Sequence, StoredDocument
from ledger.money import Portion
from ledger.numbering import continue_from
from tests.bills import accepted, brought, draft, fresh, issued, the_client
from tests.cast import Cast, aurora, joanne_smith, john_smith, lone_ridge
from tests.offers import CEDAR_BEND_TOTAL, cedar_bend, lines_of

TAX = Decimal("8.25")


def threads(count: int, work) -> None:
    """Run `work` in so many threads that start together, each on a connection of its own."""
    start = threading.Barrier(count)

    def one(number: int) -> None:
        start.wait()
        try:
            work(number)
        finally:
            connection.close()

    running = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def test_a_draft_has_a_ref_and_totals_but_no_number(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = fresh(draft(lone_ridge, "45.50", "18.70", tax=TAX, po_number=" PO 7 "))
        assert (invoice.ref, invoice.draft_ref, invoice.number, invoice.serial) == ("D-0001", "D-0001", None, None)
        assert (invoice.subtotal_total_cents, invoice.tax_total_cents, invoice.total_cents) == (6420, 530, 6950)  # H02
        assert (invoice.balance_cents, invoice.po_number, invoice.terms_days) == (6950, "PO 7", 15)
        assert [line.position for line in invoice.lines.all()] == [1, 2]
        assert not Sequence.objects.filter(kind="invoice").exists()


def test_h01_a_whole_discount_leaves_nothing_to_pay(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lines = lines_of("74.52", discount=Portion(percent=Decimal(100)))
        invoice = fresh(issue_invoice(draft(lone_ridge, lines=lines), by=lone_ridge.dana))
        assert (invoice.total_cents, invoice.balance_cents, invoice.status) == (0, 0, "paid")


def test_h05_stored_lines_add_up_to_the_stored_totals(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lines = [*lines_of("600.00"), *lines_of("400.00", tax=Decimal(7))]
        invoice = draft(lone_ridge, lines=lines, discount=Portion(percent=Decimal(10)))
        stored = [(line.share_cents, line.taxable_cents) for line in invoice.lines.all()]
        assert stored == [(6000, 54_000), (4000, 36_000)]
        assert (invoice.tax_total_cents, invoice.total_cents) == (2520, 92_520)


def test_the_clients_terms_come_before_the_companys(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, terms_days=30)
        assert draft(lone_ridge, "1.00", client=client).terms_days == 30
        assert draft(lone_ridge, "1.00", client=client, due_days=0).terms_days == 0
        with pytest.raises(DomainError) as refused:
            draft(lone_ridge, "1.00", client=client, due_days=366)
        assert refused.value.code == "BAD_NUMBER"


def test_a_stranger_to_the_books_may_not_invoice(lone_ridge: Cast) -> None:
    with lone_ridge.scope(), pytest.raises(NotAllowed):
        create_invoice(the_client(lone_ridge), by=lone_ridge.alex, lines=lines_of("1.00"))


@pytest.mark.parametrize(
    ("column", "value", "code"),
    [("archived_at", datetime(2026, 1, 1, tzinfo=UTC), "CLIENT_ARCHIVED"), ("blocked", True, "CLIENT_BLOCKED")],
)
def test_no_invoice_for_a_client_who_is_archived_or_blocked(lone_ridge: Cast, column, value, code) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "1.00")
        Client.objects.update(**{column: value})
        for attempt in (
            lambda: draft(lone_ridge, "1.00"),
            lambda: issue_invoice(fresh(invoice), by=lone_ridge.dana),
        ):
            with pytest.raises(DomainError) as refused, transaction.atomic():
                attempt()
            assert refused.value.code == code


# Numbers


def test_h15_twenty_invoices_at_once_get_twenty_numbers_in_a_row(lone_ridge: Cast, aurora: Cast) -> None:
    with lone_ridge.scope():
        continue_from("invoice", 42)
        waiting = [draft(lone_ridge, "1.00") for _ in range(20)]
    with aurora.scope():
        theirs = draft(aurora, "1.00")
    got: list[str] = []

    def issue(number: int) -> None:
        with tenancy.tenant(lone_ridge.tenant_id):
            got.append(issue_invoice(waiting[number], by=lone_ridge.dana).ref)

    threads(20, issue)
    assert sorted(got) == [f"INV-{n:04d}" for n in range(42, 62)]
    with aurora.scope():
        assert issue_invoice(theirs, by=aurora.bia).ref == "FAT-0001"
    with lone_ridge.scope():
        assert sorted(Invoice.objects.values_list("serial", flat=True)) == list(range(42, 62))
        assert Sequence.objects.get(kind="invoice").next == 62


def test_h15_another_company_is_not_blocked_by_a_number_that_is_held(lone_ridge: Cast, aurora: Cast) -> None:
    with aurora.scope():
        theirs = draft(aurora, "1.00")
    issued_there: list[str] = []

    def issue_there(_number: int) -> None:
        with aurora.scope():
            connection.cursor().execute("SET LOCAL lock_timeout = '2s'")
            issued_there.append(issue_invoice(theirs, by=aurora.bia).ref)

    with lone_ridge.scope():
        issued(lone_ridge, "1.00")  # holds the series until this block ends
        threads(1, issue_there)
        assert issued_there == ["FAT-0001"]


def test_h16_a_failed_issue_leaves_no_gap_and_a_draft_has_no_number(
    lone_ridge: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_paper) -> None:
        raise RuntimeError("no PDF today")

    with lone_ridge.scope():
        continue_from("invoice", 8)
        first, second, third = (draft(lone_ridge, amount) for amount in ("1.00", "2.00", "3.00"))
    monkeypatch.setattr(invoice_issuing, "invoice_pdf", broken)
    with pytest.raises(RuntimeError), lone_ridge.scope():
        issue_invoice(first, by=lone_ridge.dana)
    monkeypatch.setattr(invoice_issuing, "invoice_pdf", invoice_pdf)
    with lone_ridge.scope():
        delete_invoice(second, by=lone_ridge.dana)
    with lone_ridge.scope():
        assert issue_invoice(third, by=lone_ridge.dana).ref == "INV-0008"
        assert (fresh(first).status, fresh(first).number) == ("draft", None)
        assert fresh(second).number is None
        assert Sequence.objects.get(kind="invoice").next == 9


def test_h16_a_failure_after_the_number_gives_it_back(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "1.00")
    with pytest.raises(RuntimeError), lone_ridge.scope():
        issue_invoice(invoice, by=lone_ridge.dana)
        raise RuntimeError("the transaction ends badly")
    with lone_ridge.scope():
        assert fresh(invoice).number is None
        assert issue_invoice(invoice, by=lone_ridge.dana).ref == "INV-0001"


def test_h17_numbers_follow_by_their_numeric_part() -> None:
    cast = lone_ridge(invoice_format="INV-{seq}")
    with cast.scope():
        day = {"issued_on": date(2026, 1, 2), "due_on": date(2026, 1, 17)}
        brought(cast, "INV-9", "1.00", **day)
        brought(cast, "INV-10", "1.00", **day)
        continue_from("invoice", 11)
        assert issued(cast, "1.00").ref == "INV-11"


def test_h17_after_9999_comes_10000_and_the_list_is_newest_first() -> None:
    cast = lone_ridge(invoice_format="INV-{seq:04d}")
    with cast.scope():
        brought(cast, "INV-9999", "1.00", issued_on=date(2026, 1, 2), due_on=date(2026, 1, 17))
        continue_from("invoice", 10_000)
        assert [issued(cast, "1.00").ref for _ in range(2)] == ["INV-10000", "INV-10001"]
        waiting = draft(cast, "1.00")
        listed = [invoice.ref for invoice in newest_first(Invoice.objects.all())]
        assert listed == [waiting.ref, "INV-10001", "INV-10000", "INV-9999"]


def test_a_format_with_the_year_starts_anew_each_year() -> None:
    cast = lone_ridge(invoice_format="INV-{YYYY}{seq:03d}")
    with cast.scope():
        with time_machine.travel("2026-12-31T18:00:00Z", tick=False):
            assert [issued(cast, "1.00").ref for _ in range(2)] == ["INV-2026001", "INV-2026002"]
        with time_machine.travel("2027-01-01T18:00:00Z", tick=False):
            assert issued(cast, "1.00").ref == "INV-2027001"


def test_i5_dates_never_go_backwards(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        with time_machine.travel("2026-12-02T18:00:00Z", tick=False):
            issued(lone_ridge, "1.00")
        with time_machine.travel("2026-12-01T18:00:00Z", tick=False), pytest.raises(DomainError) as refused:
            issued(lone_ridge, "1.00")
        assert refused.value.code == "SEQUENCE_CONFLICT"


def test_i5_the_database_refuses_a_number_that_was_not_taken(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "1.00")
        with pytest.raises(DatabaseError, match="was taken from its series"), transaction.atomic():
            Invoice.objects.filter(pk=invoice.pk).update(
                number="INV-0007",
                ref="INV-0007",
                serial=7,
                status="issued",
                issued_on=date(2026, 1, 1),
                due_on=date(2026, 1, 1),
                issued_at=datetime.now(UTC),
                snapshot={},
            )


def test_i5_the_database_refuses_a_gap_and_an_earlier_day(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        first = issued(lone_ridge, "1.00")
        for next_free, day, problem in (
            (4, first.issued_on, "does not follow"),
            (3, date(2020, 1, 1), "is dated before"),
        ):
            invoice = draft(lone_ridge, "1.00")
            with pytest.raises(DatabaseError, match=problem), transaction.atomic():
                Sequence.objects.filter(kind="invoice").update(next=next_free)
                number = f"INV-{next_free - 1:04d}"
                Invoice.objects.filter(pk=invoice.pk).update(
                    number=number,
                    ref=number,
                    serial=next_free - 1,
                    status="issued",
                    issued_on=day,
                    due_on=day,
                    issued_at=datetime.now(UTC),
                    snapshot={},
                )


def test_numbers_are_brought_along_before_the_first_is_given_here(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "1.00")
        with pytest.raises(DatabaseError, match="brought along"), transaction.atomic():
            brought(lone_ridge, "INV-0500", "1.00", issued_on=date(2026, 1, 2), due_on=date(2026, 1, 17))


def test_i20_nothing_is_issued_in_a_closed_period(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "1.00")
        change_settings(by=lone_ridge.dana, changes={"books_closed_on": "2999-12-31"})
        with pytest.raises(DomainError) as refused, transaction.atomic():
            issue_invoice(invoice, by=lone_ridge.dana)
        assert refused.value.code == "PERIOD_CLOSED"


# Issued means frozen


def test_an_issued_invoice_keeps_what_it_says(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        with time_machine.travel("2026-12-01T06:30:00Z", tick=False):  # half past midnight in Chicago
            invoice = issued(lone_ridge, "100.00", tax=TAX)
        assert (invoice.issued_on, invoice.due_on) == (date(2026, 12, 1), date(2026, 12, 16))
        paper = issued_paper(fresh(invoice).snapshot)
        assert (paper.number, paper.client.name, paper.totals.total) == ("INV-0001", "John Smith", 10_825)
        Client.objects.update(name="Somebody Else")
        assert issued_paper(fresh(invoice).snapshot) == paper
        assert AuditEvent.objects.filter(kind="invoice.issued").count() == 1


@pytest.mark.parametrize(
    "changes",
    [{"total_cents": 1}, {"number": "INV-0002"}, {"due_on": date(2030, 1, 1)}, {"client_id": None}, {"snapshot": {}}],
)
def test_i4_the_database_freezes_an_issued_invoice(lone_ridge: Cast, changes) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1.00")
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            Invoice.objects.filter(pk=invoice.pk).update(**changes)


@pytest.mark.parametrize("status", ["draft", "viewed", "partially_paid"])
def test_the_database_refuses_a_status_that_cannot_follow(lone_ridge: Cast, status: str) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1.00")
        with pytest.raises(DatabaseError), transaction.atomic():
            Invoice.objects.filter(pk=invoice.pk).update(status=status)


def test_i4_the_database_freezes_the_lines(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1.00")
        line = invoice.lines.get()
        for attempt in (
            lambda: InvoiceLine.objects.update(description="Other"),
            lambda: InvoiceLine.objects.all().delete(),
            lambda: InvoiceLine.objects.create(
                invoice=invoice, position=2, **{name: getattr(line, name) for name in COLUMNS}
            ),
        ):
            with pytest.raises(DatabaseError, match="never change"), transaction.atomic():
                attempt()


COLUMNS = (
    "description",
    "quantity",
    "unit_price",
    "gross_total_cents",
    "discount_total_cents",
    "net_total_cents",
    "share_cents",
    "taxable_cents",
)


def test_an_invoice_in_another_currency_is_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "1.00")
        with pytest.raises(DatabaseError, match="currency"), transaction.atomic():
            Invoice.objects.filter(pk=invoice.pk).update(currency="BRL")


def test_the_pdf_is_rendered_from_the_snapshot_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1.00")
        Client.objects.update(name="Somebody Else")
    first = file_invoice_pdf(lone_ridge.tenant_id, invoice.pk)
    assert file_invoice_pdf(lone_ridge.tenant_id, invoice.pk) == first
    with lone_ridge.scope():
        assert preview_invoice_pdf(fresh(invoice), by=lone_ridge.dana).sha256 == first
        assert StoredDocument.objects.count() == 1
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            Invoice.objects.update(document=None)


def test_a_drafts_preview_has_no_number_and_takes_none(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "1.00")
        preview = preview_invoice_pdf(invoice, by=lone_ridge.dana)
        assert preview.pages == 1
        assert (fresh(invoice).document_id, Sequence.objects.filter(kind="invoice").count()) == (None, 0)


# Of a quote


def test_h18_converting_a_quote_twice_gives_one_invoice(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = accepted(lone_ridge, cedar_bend(lone_ridge))
        invoice = create_invoice_of_quote(quote, by=lone_ridge.dana)
        with pytest.raises(DomainError) as refused, transaction.atomic():
            create_invoice_of_quote(quote, by=lone_ridge.dana)
        assert (refused.value.code, refused.value.data["invoice"]) == ("ALREADY_INVOICED", invoice.ref)
        assert (invoice.total_cents, invoice.title) == (CEDAR_BEND_TOTAL, quote.title)
        assert (invoice.discount_percent, invoice.discount_total_cents) == (Decimal(5), 51_628)
        of_quote = quote.revisions.get().lines.values_list("description", "net_total_cents", "share_cents", "tax_rate")
        assert list(invoice.lines.values_list("description", "net_total_cents", "share_cents", "tax_rate")) == list(
            of_quote
        )
        assert fresh(quote).status == "converted"


def test_h18_converting_twice_at_once_gives_one_invoice(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = accepted(lone_ridge, cedar_bend(lone_ridge))
    told: list[str] = []

    def convert(_number: int) -> None:
        try:
            with tenancy.tenant(lone_ridge.tenant_id):
                told.append(create_invoice_of_quote(quote, by=lone_ridge.dana).ref)
        except DomainError as refused:
            told.append(refused.code)

    threads(4, convert)
    assert sorted(told) == ["ALREADY_INVOICED"] * 3 + ["D-0001"]
    with lone_ridge.scope():
        assert Invoice.objects.count() == 1


def test_h18_the_database_allows_one_closing_invoice_of_a_quote(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = accepted(lone_ridge, cedar_bend(lone_ridge))
        create_invoice_of_quote(quote, by=lone_ridge.dana)
        other = draft(lone_ridge, "1.00")
        with pytest.raises(DatabaseError, match="invoice_closes_quote_once"), transaction.atomic():
            Invoice.objects.filter(pk=other.pk).update(quote=quote, quote_part="rest")


def test_options_count_as_the_client_took_them(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lines = [*lines_of("500.00"), *lines_of("80.00", "20.00", optional=True)]
        quote = create_quote(john_smith(lone_ridge), by=lone_ridge.dana, title="Roof", lines=lines)
        taken = quote.revisions.get().lines.get(position=2)
        invoice = create_invoice_of_quote(accepted(lone_ridge, quote, taken.pk), by=lone_ridge.dana)
        assert [line.net_total_cents for line in invoice.lines.all()] == [50_000, 8_000]


def test_h06_a_deposit_and_the_rest_make_the_whole(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = create_quote(john_smith(lone_ridge), by=lone_ridge.dana, title="Job", lines=lines_of("333.35"))
        quote = accepted(lone_ridge, quote)
        deposit = create_invoice_of_quote(quote, by=lone_ridge.dana, percent=Decimal(30))
        rest = create_invoice_of_quote(quote, by=lone_ridge.dana)
        assert (deposit.total_cents, rest.total_cents) == (10_001, 23_334)
        assert (deposit.quote_part, rest.quote_part) == ("percent", "rest")
        assert fresh(quote).status == "converted"


@pytest.mark.parametrize("percents", [(30, 70), (33, 33, 34), (50, 50), ("12.5", "87.5")])
def test_h06_parts_of_mixed_rates_add_up_rate_by_rate(lone_ridge: Cast, percents) -> None:
    with lone_ridge.scope():
        quote = accepted(lone_ridge, cedar_bend(lone_ridge))
        parts = []
        for percent in percents:
            part = create_invoice_of_quote(quote, by=lone_ridge.dana, percent=Decimal(percent))
            parts.append(issue_invoice(part, by=lone_ridge.dana))
        assert sum(part.total_cents for part in parts) == CEDAR_BEND_TOTAL
        taxed = [row["base"] for part in parts for row in part.tax_lines if row["rate"] == "8.25"]
        assert sum(taxed) == 422_322 + 34_842
        assert parts[-1].quote_part == "rest"


def test_the_same_part_is_not_drafted_twice_and_not_beyond_the_whole(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = accepted(lone_ridge, cedar_bend(lone_ridge))
        first = create_invoice_of_quote(quote, by=lone_ridge.dana, percent=Decimal(40))
        for percent, code in ((40, "ALREADY_INVOICED"), (61, "OVER_QUOTE"), (0, "BAD_NUMBER")):
            with pytest.raises(DomainError) as refused, transaction.atomic():
                create_invoice_of_quote(quote, by=lone_ridge.dana, percent=Decimal(percent))
            assert refused.value.code == code
        issue_invoice(first, by=lone_ridge.dana)
        again = create_invoice_of_quote(quote, by=lone_ridge.dana, percent=Decimal(40))
        assert again.total_cents == fresh(first).total_cents


def test_a_whole_percentage_is_the_quote_itself(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = accepted(lone_ridge, cedar_bend(lone_ridge))
        invoice = create_invoice_of_quote(quote, by=lone_ridge.dana, percent=Decimal(100))
        assert (invoice.quote_part, invoice.lines.count(), invoice.total_cents) == ("whole", 3, CEDAR_BEND_TOTAL)


def test_a_quote_that_is_not_accepted_is_not_invoiced(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        with pytest.raises(DomainError) as refused:
            create_invoice_of_quote(cedar_bend(lone_ridge), by=lone_ridge.dana)
        assert refused.value.code == "QUOTE_NOT_ACCEPTED"


def test_a_leads_quote_waits_for_the_lead_to_become_a_client(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge, email="joanne@example.com")
        quote = accepted(lone_ridge, create_quote(lead, by=lone_ridge.dana, title="Roof", lines=lines_of("1.00")))
        with pytest.raises(DomainError) as refused:
            create_invoice_of_quote(quote, by=lone_ridge.dana)
        assert refused.value.code == "LEAD_NOT_CONVERTED"


# Deleting, finding, being late


def test_a_draft_goes_to_the_trash_and_an_issued_invoice_does_not(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        delete_invoice(draft(lone_ridge, "1.00"), by=lone_ridge.dana)
        kept = issued(lone_ridge, "1.00")
        with pytest.raises(DomainError) as refused:
            delete_invoice(kept, by=lone_ridge.dana)
        assert refused.value.code == "WRONG_STATUS"
        with pytest.raises(NotFound):
            invoice_of("D-0001")
        with pytest.raises(DatabaseError), transaction.atomic():
            Invoice.objects.filter(pk=kept.pk).delete()


def test_a_deleted_conversion_makes_room_for_another(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        quote = accepted(lone_ridge, cedar_bend(lone_ridge))
        delete_invoice(create_invoice_of_quote(quote, by=lone_ridge.dana), by=lone_ridge.dana)
        assert create_invoice_of_quote(Quote.objects.get(), by=lone_ridge.dana).total_cents == CEDAR_BEND_TOTAL


def test_an_invoice_is_found_by_its_number_and_by_its_drafts_ref(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "1.00")
        assert invoice_of("inv-0001 ").pk == invoice_of("D-0001").pk == invoice.pk


def test_another_company_finds_nothing(lone_ridge: Cast, strangers: Cast) -> None:
    with lone_ridge.scope():
        issued(lone_ridge, "1.00")
    with strangers.scope(), pytest.raises(NotFound):
        invoice_of("INV-0001")


def test_h25_overdue_goes_by_the_companys_day() -> None:
    cast = aurora()
    with cast.scope():
        with time_machine.travel("2026-12-01T15:00:00Z", tick=False):
            invoice = issued(cast, "1.00", due_days=9)
        assert invoice.due_on == date(2026, 12, 10)
        assert invoice.days_late(date(2026, 12, 10)) == 0
        assert invoice.days_late(date(2026, 12, 11)) == 1
        assert list(overdue(date(2026, 12, 10))) == []
        assert list(overdue(date(2026, 12, 11))) == [invoice]
