"""Issuing an invoice: the moment it gets its number and stops changing (I4, I5, H15, H16).

The number is taken last, under the row lock of its series, in the transaction that makes the invoice final: a failure
gives it back. Nothing is rendered and nobody is called while the series is held; a trial of the PDF comes before.
"""

from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, dates, numbering, permissions, reader
from ledger.actions import columns, rows
from ledger.actions.invoice_documents import BillDays, bill_days, invoice_paper
from ledger.actions.invoices import require_billable, search_of
from ledger.actions.quote_documents import snapshot
from ledger.company_settings import current_settings
from ledger.documents.papers import InvoiceDocument
from ledger.documents.typeset import invoice_pdf
from ledger.errors import DomainError
from ledger.models import Client, Invoice, Membership


@transaction.atomic
def issue_invoice(invoice: Invoice, *, by: Membership, expected_version: int | None = None) -> Invoice:
    """Give a draft its number, its dates and its final content. Raises WRONG_STATUS for anything but a draft,
    PERIOD_CLOSED (I20), SEQUENCE_CONFLICT where the series is dated later than today, and STALE_VERSION.
    """
    permissions.require(by, "send_invoice")
    held = locked_invoice(invoice, expected_version=expected_version)
    return issue(held, bill_days(held, columns.company()), by=by)


def locked_invoice(invoice: Invoice, *, expected_version: int | None = None) -> Invoice:
    """The invoice held until the transaction ends, its client before it: everybody locks them in this order."""
    client = rows.locked(invoice.client)
    held = rows.locked(invoice, expected_version=expected_version)
    held.client = client
    return held


def issue(invoice: Invoice, days: BillDays, *, by: Membership) -> Invoice:
    """Issue a locked draft as of today, on exactly these days. Inside the caller's transaction."""
    if invoice.status != Invoice.Status.DRAFT:
        raise DomainError("WRONG_STATUS", _("%(ref)s is issued already.") % {"ref": invoice.ref}, status=invoice.status)
    require_billable(invoice.client)
    require_open_period(days.issued_on)
    paper = invoice_paper(invoice, days)
    invoice_pdf(replace(paper, number=numbering.next_number("invoice")))  # a trial, before the series is held
    number = numbering.take("invoice")
    _require_later(number, days.issued_on)
    return _numbered(invoice, number, paper, by=by, issued_at=timezone.now())


@dataclass(frozen=True)
class Past:
    """What became of an invoice in books kept elsewhere: sent when, reminded how often, paid by when as promised."""

    sent_at: datetime | None = None
    reminders: int = 0
    last_reminder_on: date | None = None
    promise_on: date | None = None


@transaction.atomic
def bring_invoice(
    invoice: Invoice, *, by: Membership, number: str, issued_on: date, due_on: date, past: Past | None = None
) -> Invoice:
    """Issue a draft under a number from books kept elsewhere, before the series gives its first one here (H17).

    Raises BAD_NUMBER for a number that could be no ref.
    """
    permissions.require(by, "send_invoice")
    held = locked_invoice(invoice)
    try:
        brought = numbering.read_number("invoice", columns.line(number, "number", 24))
    except ValueError as wrong:
        sentence = _("A number has the form of INV-0042: %(number)s has not.") % {"number": number[:24]}
        raise DomainError("BAD_NUMBER", sentence) from wrong
    zone = ZoneInfo(columns.company().timezone)
    issued_at = datetime.combine(issued_on, time(9), tzinfo=zone)
    paper = invoice_paper(held, BillDays(issued_on, due_on))
    held = _numbered(held, brought, paper, by=by, issued_at=issued_at, brought=True)
    if past is not None:
        held.sent_at = past.sent_at
        rows.write(held, by=by, status=held.status_now(), **asdict(past))
    return held


def require_open_period(day: date) -> None:
    """Raises PERIOD_CLOSED for a day on which the books are closed (I20)."""
    closed = current_settings().values.books_closed_on
    if closed is not None and day <= closed:
        sentence = _("The books are closed up to %(day)s.") % {"day": reader.day(closed)}
        raise DomainError("PERIOD_CLOSED", sentence, closed_on=closed.isoformat())


def require_today(days: BillDays) -> None:
    """Raises DAY_CHANGED where the day that was shown as the day of issue is over in the company's zone."""
    if days.issued_on != dates.today(columns.company().timezone):
        raise DomainError("DAY_CHANGED", _("The day has changed since; the dates have to be looked at again."))


def _require_later(number: numbering.Number, day: date) -> None:
    """Dates never go backwards within a series (I5). The series is held, so the last one stays the last one."""
    issued = Invoice.objects.filter(series=number.series, serial__isnull=False).order_by("-serial")
    last = issued.values_list("issued_on", "ref").first()
    if last is not None and last[0] is not None and last[0] > day:
        sentence = _("%(ref)s is dated %(day)s, so nothing can be issued before that day.")
        raise DomainError("SEQUENCE_CONFLICT", sentence % {"ref": last[1], "day": reader.day(last[0])}, ref=last[1])


def _numbered(
    invoice: Invoice,
    number: numbering.Number,
    paper: InvoiceDocument,
    *,
    by: Membership,
    issued_at: datetime,
    brought: bool = False,
) -> Invoice:
    client: Client = invoice.client
    rows.write(
        invoice,
        by=by,
        ref=number.text,
        number=number.text,
        series=number.series,
        serial=number.serial,
        brought=brought,
        issued_on=paper.issued_on,
        due_on=paper.due_on,
        issued_at=issued_at,
        snapshot=snapshot(replace(paper, number=number.text)),
        status=Invoice.Status.ISSUED if invoice.balance_cents else Invoice.Status.PAID,
        search=search_of(invoice.draft_ref, number.text, invoice.title, client),
    )
    audit.record(
        "invoice.issued",
        by=by,
        subject=invoice,
        ref=invoice.ref,
        draft_ref=invoice.draft_ref,
        client=client.ref,
        issued_on=paper.issued_on,
        due_on=paper.due_on,
        total_cents=invoice.total_cents,
        currency=invoice.currency,
    )
    return invoice
