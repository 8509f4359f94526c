"""Invoices of the seed, brought along from books kept elsewhere, and the drafts that wait."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from ledger.actions.invoice_issuing import Past, bring_invoice
from ledger.actions.invoice_quotes import create_invoice_of_quote
from ledger.actions.invoices import create_invoice
from ledger.actions.quote_lines import LineDraft
from ledger.company_settings import current_settings
from ledger.demo.world import Seed, World, missing, number_of, numbers_go_on
from ledger.models import Client, Invoice, Quote

SENT_AFTER = time(15)


def load(world: World, seed: Seed) -> None:
    entries, drafts = seed.get("invoices", []), seed.get("draft_invoices", [])
    issued = _days_of_issue(world, entries)
    for entry in missing(Invoice, entries):
        _load_one(world, entry, issued[entry["ref"]])
    for entry in missing(Invoice, drafts):
        _draft(world, entry)
    if entries:
        numbers_go_on("invoice", entries, start=seed.get("next_invoice", 1))
    if drafts:
        numbers_go_on("draft_invoice", drafts)


def _days_of_issue(world: World, entries: Iterable[Seed]) -> dict[str, date]:
    """The company's terms before each due date, but never later than the number after it (I5)."""
    terms = timedelta(days=current_settings().values.terms_days)
    days: dict[str, date] = {}
    latest = world.today
    for entry in sorted(entries, key=lambda one: number_of(one["ref"]), reverse=True):
        latest = days[entry["ref"]] = min(world.day(entry["due"]) - terms, latest)
    return days


def _load_one(world: World, entry: Seed, issued_on: date) -> None:
    invoice = _draft(world, entry)
    sent_at = datetime.combine(issued_on, SENT_AFTER, ZoneInfo(world.company.timezone))
    bring_invoice(
        invoice,
        by=world.owner,
        number=entry["ref"],
        issued_on=issued_on,
        due_on=world.day(entry["due"]),
        past=Past(
            sent_at=sent_at,
            reminders=entry.get("reminders", 0),
            last_reminder_on=world.day(entry["last_reminder"]) if "last_reminder" in entry else None,
            promise_on=world.day(entry["promise"]) if "promise" in entry else None,
        ),
    )


def _draft(world: World, entry: Seed) -> Invoice:
    """The draft, as it was before it was issued: of a part of its quote, or with one line."""
    if "quote" in entry:
        invoice = create_invoice_of_quote(
            Quote.objects.get(ref=entry["quote"]),
            by=world.owner,
            percent=Decimal(entry["percent"]),
            title=entry.get("title", ""),
            due_days=entry.get("due_days"),
            draft_ref=entry["ref"],
        )
    else:
        amount = Decimal(entry["total"]).scaleb(-2)
        rate = Decimal(5) if world.company.country == "BR" else Decimal(0)
        line = LineDraft(quantity=Decimal(1), description=entry["title"], unit_price=amount, tax_rate=rate)
        client = Client.objects.get(ref=entry["client"])
        invoice = create_invoice(client, by=world.owner, title=entry["title"], lines=[line], draft_ref=entry["ref"])
    if invoice.total_cents != entry["total"]:
        raise ValueError(f"the seed says that {entry['ref']} comes to {entry['total']} cents")
    return invoice
