"""The books of the demonstration: who owes what, to the cent, in each of its companies (en-03, pt-07)."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import Sum

from ledger import audit, tenancy
from ledger.actions.invoice_issuing import issue_invoice
from ledger.actions.invoices import create_invoice, overdue
from ledger.actions.payment_plans import open_invoices
from ledger.actions.refunds import plan_refund
from ledger.dates import today
from ledger.errors import DomainError
from ledger.models import Access, Client, Company, Invoice, Membership, Payment, Role
from tests.offers import lines_of


@pytest.fixture(scope="module")
def loaded(database: Any) -> None:
    call_command("load_demo", stdout=StringIO())


def company_of(email: str) -> Any:
    return Access.objects.get(user__email=email).tenant_id


LONE_RIDGE, AURORA, OTHER = "dana@loneridge.example", "rafael@aurora.example", "mallory@otherco.example"


@pytest.mark.parametrize(
    ("email", "refs", "total"),
    [
        (LONE_RIDGE, ["INV-0229", "INV-0236", "INV-0231", "INV-0233", "INV-0237"], 1_803_525),
        (AURORA, ["FAT-0112", "FAT-0115", "FAT-0120", "FAT-0117", "FAT-0119"], 2_578_000),
        (OTHER, ["INV-0229"], 9_999_900),
    ],
)
def test_what_is_overdue_is_exact(loaded: None, email: str, refs: list[str], total: int) -> None:
    with tenancy.tenant(company_of(email)):
        late = overdue(today(Company.objects.get().timezone))
        assert [invoice.ref for invoice in late] == refs
        assert late.order_by().aggregate(owed=Sum("balance_cents"))["owed"] == total


@pytest.mark.parametrize(
    ("ref", "status", "total", "balance"),
    [
        ("INV-0226", "paid", 124_000, 0),
        ("INV-0229", "sent", 418_025, 418_025),
        ("INV-0231", "partially_paid", 1_875_000, 937_500),
        ("INV-0234", "sent", 64_000, 64_000),
        ("INV-0235", "paid", 1_086_461, 0),
        ("D-0012", "draft", 651_877, 651_877),
    ],
)
def test_each_invoice_stands_as_the_seed_says(loaded: None, ref: str, status: str, total: int, balance: int) -> None:
    with tenancy.tenant(company_of(LONE_RIDGE)):
        invoice = Invoice.objects.get(ref=ref)
        assert (invoice.status, invoice.total_cents, invoice.balance_cents) == (status, total, balance)


def test_dates_follow_the_numbers_and_the_next_number_is_there(loaded: None) -> None:
    with tenancy.tenant(company_of(LONE_RIDGE)):
        days = list(Invoice.objects.filter(brought=True).order_by("serial").values_list("issued_on", flat=True))
        assert days == sorted(days)
        assert len(days) == 8
        owner = Membership.objects.get(user__email=LONE_RIDGE, role=Role.OWNER)
        client = Client.objects.get(ref="C-0101")
        invoice = issue_invoice(create_invoice(client, by=owner, lines=lines_of("1.00")), by=owner)
        assert (invoice.draft_ref, invoice.ref) == ("D-0013", "INV-0238")
    with tenancy.tenant(company_of(LONE_RIDGE)):
        assert audit.verify().whole


def test_promises_and_reminders_are_known(loaded: None) -> None:
    with tenancy.tenant(company_of(LONE_RIDGE)):
        invoice = Invoice.objects.get(ref="INV-0236")
        day = today("America/Chicago")
        assert (invoice.reminders, (day - invoice.last_reminder_on).days) == (2, 6)
        assert (invoice.promise_on - day).days == 3


def test_payments_came_as_the_seed_says(loaded: None) -> None:
    with tenancy.tenant(company_of(LONE_RIDGE)):
        told = {p.ref: (p.method, p.provider, p.last4, p.reference, p.status) for p in Payment.objects.all()}
        assert told == {
            "PAY-0308": ("check", "", "", "#2291", "recorded"),
            "PAY-0310": ("card", "cards", "4242", "", "succeeded"),
            "PAY-0312": ("ach", "cards", "", "", "succeeded"),
        }
        assert [invoice.ref for invoice in open_invoices(Client.objects.get(ref="C-0103"))] == ["INV-0229"]


def test_a_pix_of_97_days_can_no_longer_go_back(loaded: None) -> None:
    with tenancy.tenant(company_of(AURORA)):
        owner = Membership.objects.filter(role=Role.OWNER).earliest("created_at")
        young, old = Payment.objects.get(ref="PAY-0201"), Payment.objects.get(ref="PAY-0187")
        assert plan_refund(young, by=owner, amount_cents=185_000, reason="other").day == 12
        with pytest.raises(DomainError) as refused:
            plan_refund(old, by=owner, amount_cents=1, reason="other")
        assert (refused.value.code, refused.value.data["day"]) == ("PIX_REFUND_WINDOW", 97)


def test_a_second_run_changes_nothing(loaded: None) -> None:
    def everything() -> list[Any]:
        found = []
        for email in (LONE_RIDGE, AURORA, OTHER):
            with tenancy.tenant(company_of(email)):
                found += [list(model.objects.order_by("pk").values()) for model in (Invoice, Payment)]
        return found

    before = everything()
    call_command("load_demo", verbosity=0)
    assert everything() == before
