"""Invoices inside the company: look, draft, render. Nothing here reaches a client or takes a number."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.db.models import Sum
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field, StringConstraints

from assistant.tools.fields import Day, Percent, Ref
from assistant.tools.invoice_words import brief, late, told_allocation, told_credit, whole
from assistant.tools.quote_drafts import Line, drafts
from assistant.tools.registry import Context, ReadResult, ToolArguments, tool
from ledger import dates
from ledger.actions.invoice_documents import preview_invoice_pdf
from ledger.actions.invoice_quotes import create_invoice_of_quote
from ledger.actions.invoices import create_invoice, invoice_of, lines_of, newest_first, overdue
from ledger.actions.records import by_ref
from ledger.errors import DomainError, NotFound
from ledger.models import Client, ClientMessage, Invoice, Quote
from ledger.money import amount_text

Status = Literal["draft", "issued", "sent", "viewed", "partially_paid", "paid", "overdue", "void", "written_off"]
Limit = Annotated[int, Field(ge=1, le=50)]
MOST_MESSAGES = 10


@tool(label=gettext_lazy("List invoices"), permission="view_records", effects=())
class ListInvoices:
    """List invoices by status, client, date, amount."""

    class Arguments(ToolArguments):
        status: Status | None = None
        client_ref: Ref | None = None
        project_ref: Ref | None = None
        due_before: Day | None = None
        limit: Limit = 20

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        refuse_project(arguments.project_ref)
        today = dates.today(ctx.company.timezone)
        found = Invoice.objects.filter(deleted_at=None)
        if arguments.status == "overdue":
            found = overdue(today)
        elif arguments.status:
            found = newest_first(found.filter(status=arguments.status))
        else:
            found = newest_first(found)
        if arguments.client_ref:
            found = found.filter(client=by_ref(Client, arguments.client_ref))
        if arguments.due_before:
            found = found.filter(due_on__lt=dates.parse_iso(arguments.due_before))
        rows = list(found.select_related("client")[: arguments.limit + 1])
        return {
            "invoices": [brief(invoice, today) for invoice in rows[: arguments.limit]],
            "currency": ctx.company.currency,
            "more": len(rows) > arguments.limit,
        }


@tool(label=gettext_lazy("List overdue invoices"), permission="view_records", effects=())
class ListOverdueInvoices:
    """Overdue invoices with days late, balance, last reminder, promise-to-pay, dispute flag, A/R bucket."""

    class Arguments(ToolArguments):
        min_days: Annotated[int, Field(ge=0, le=3650)] = 0
        client_ref: Ref | None = None
        limit: Limit = 20

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        today = dates.today(ctx.company.timezone)
        found = overdue(today)
        if arguments.min_days > 1:
            found = found.filter(due_on__lte=_days_before(today, arguments.min_days))
        if arguments.client_ref:
            found = found.filter(client=by_ref(Client, arguments.client_ref))
        rows = list(found.select_related("client")[: arguments.limit + 1])
        sums = found.order_by().aggregate(owed=Sum("balance_cents"))
        return {
            "invoices": [late(invoice, today) for invoice in rows[: arguments.limit]],
            "count": found.count() if len(rows) > arguments.limit else len(rows),
            "total": amount_text(sums["owed"] or 0),
            "currency": ctx.company.currency,
            "today": today.isoformat(),
        }


@tool(label=gettext_lazy("Read an invoice"), permission="view_records", effects=())
class GetInvoice:
    """Invoice with lines, totals, payments, credits, reminders, delivery log."""

    class Arguments(ToolArguments):
        invoice_ref: Ref

    def run(ctx: Context, arguments: Any) -> ReadResult:
        invoice = whole_invoice(arguments.invoice_ref)
        paid = invoice.allocations.filter(amount_cents__gt=0).select_related("payment").order_by("pk")
        sent = invoice.messages.order_by("-created_at")[:MOST_MESSAGES]
        data = _told(ctx, invoice) | {
            "payments": [told_allocation(allocation) for allocation in paid],
            "credit_notes": [told_credit(note) for note in invoice.credit_notes.order_by("serial")],
            "messages": [_message(message) for message in sent],
        }
        return ReadResult(data, touched=(invoice.ref,))


@tool(label=gettext_lazy("Show an invoice's PDF"), permission="view_records", effects=())
class PreviewInvoicePdf:
    """Render the PDF; link for the user, sha256. Sends nothing, assigns no number."""

    class Arguments(ToolArguments):
        invoice_ref: Ref

    def run(ctx: Context, arguments: Any) -> ReadResult:
        invoice = whole_invoice(arguments.invoice_ref)
        document = preview_invoice_pdf(invoice, by=ctx.member)
        link = reverse("invoice_pdf", args=[invoice.ref, document.sha256])
        data = {"invoice": invoice.ref, "link": link, "pages": document.pages, "sha256": document.sha256}
        return ReadResult(data, touched=(invoice.ref,))


@tool(label=gettext_lazy("Draft an invoice"), permission="create_invoice", effects=())
class CreateInvoice:
    """Create a draft invoice from a project milestone, a quote or free lines. Drafts have no number."""

    class Arguments(ToolArguments):
        client_ref: Ref
        project_ref: Ref | None = None
        quote_ref: Ref | None = None
        lines: Annotated[list[Line], Field(min_length=1, max_length=100)] | None = None
        percent_of_quote: Percent | None = None
        due_days: Annotated[int, Field(ge=0, le=120)] | None = None
        po_number: Annotated[str, StringConstraints(max_length=40)] = ""

    def run(ctx: Context, arguments: Any) -> ReadResult:
        refuse_project(arguments.project_ref)
        client = by_ref(Client, arguments.client_ref)
        terms = {"due_days": arguments.due_days, "po_number": arguments.po_number}
        if arguments.quote_ref:
            _refuse_both(arguments.lines is not None, "lines")
            quote = by_ref(Quote, arguments.quote_ref)
            if quote.client_id != client.pk:
                sentence = _("%(quote)s is not a quote of %(client)s.") % {"quote": quote.ref, "client": client.ref}
                raise DomainError("QUOTE_OF_ANOTHER", sentence, quote=quote.ref)
            percent = Decimal(arguments.percent_of_quote) if arguments.percent_of_quote else None
            invoice = create_invoice_of_quote(quote, by=ctx.member, percent=percent, **terms)
        else:
            _refuse_both(arguments.percent_of_quote is not None, "percent_of_quote")
            if arguments.lines is None:
                raise DomainError("INVALID_ARGUMENTS", _("Give lines, or the quote to invoice."), field="lines")
            invoice = create_invoice(client, by=ctx.member, lines=drafts(arguments.lines), **terms)
        return ReadResult(_told(ctx, whole_invoice(invoice.ref)), touched=(invoice.ref, client.ref))


def whole_invoice(ref: str) -> Invoice:
    """The invoice of that number or draft's ref with what is told of it. Raises NotFound."""
    rows = Invoice.objects.select_related("client", "quote__site").prefetch_related("client__contacts")
    return invoice_of(ref, rows)


def refuse_project(ref: str | None) -> None:
    """Raises NotFound: no project has been kept under any ref yet."""
    if ref:
        raise NotFound(_("There is no record %(ref)s.") % {"ref": ref}, ref=ref)


def _told(ctx: Context, invoice: Invoice) -> dict[str, Any]:
    return whole(invoice, lines_of(invoice), dates.today(ctx.company.timezone))


def _refuse_both(given: bool, field: str) -> None:
    if given:
        sentence = _("An invoice is of a quote, in whole or in part, or has lines of its own.")
        raise DomainError("INVALID_ARGUMENTS", sentence, field=field)


def _days_before(today: date, days: int) -> date:
    return today - timedelta(days=days)


def _message(message: ClientMessage) -> dict[str, Any]:
    return {
        "ref": message.ref,
        "channel": message.channel,
        "to": message.to,
        "status": message.status,
        "sent_at": message.sent_at.isoformat(timespec="seconds") if message.sent_at else None,
    }
