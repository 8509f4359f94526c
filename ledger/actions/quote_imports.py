"""Quotes that were sent and answered elsewhere, before the company kept its books here. Nothing goes out."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from ledger import audit, dates, links, permissions
from ledger.actions import rows
from ledger.actions.leads import win_lead
from ledger.actions.quote_answers import agreement
from ledger.actions.quote_documents import Days, locale_of, quote_paper, snapshot, store_document
from ledger.actions.quote_lines import draft_revision
from ledger.actions.quotes import locked_quote
from ledger.errors import DomainError
from ledger.models import Acceptance, Company, Membership, PublicLink, Quote, QuoteRevision
from ledger.tenancy import current_tenant
from ledger.text import clean_block, clean_line


@dataclass(frozen=True)
class History:
    """What became of a revision elsewhere. Times are aware; an acceptance names its signer."""

    sent_at: datetime
    views: int = 0
    request: str = ""
    accepted_at: datetime | None = None
    signer: str = ""
    converted: bool = False
    expired: bool = False


@transaction.atomic
def import_quote_history(quote: Quote, *, by: Membership, history: History) -> QuoteRevision:
    """Freeze the draft as it was sent, and carry its answer along, in the order in which it happened.

    The record says `quote.imported`, never `quote.sent`: no message stands behind it.
    """
    permissions.require(by, "import_records")
    quote = locked_quote(quote)
    revision = draft_revision(quote)
    company = Company.objects.get(pk=current_tenant())
    issued_on = dates.today(company.timezone, history.sent_at)
    days = Days(issued_on, dates.valid_through(issued_on, quote.valid_days))
    paper = quote_paper(quote, revision, days)
    quote.revisions.filter(status=QuoteRevision.Status.SENT).update(status=QuoteRevision.Status.SUPERSEDED)
    frozen = {
        "status": QuoteRevision.Status.SENT,
        "frozen_at": history.sent_at,
        "sent_at": history.sent_at,
        "document": store_document("quote", paper, revision),
        "valid_until": days.valid_until,
        "snapshot": snapshot(paper),
        "views": history.views,
        "viewed_at": history.sent_at if history.views else None,
        "request": clean_block(history.request)[:1000],
        "requested_at": history.sent_at if history.request else None,
    }
    for name, value in frozen.items():
        setattr(revision, name, value)
    revision.save(update_fields=list(frozen))
    links.open_link(PublicLink.Kind.QUOTE, revision.pk)
    rows.write(quote, by=by, status=Quote.Status.SENT)
    for status in _steps(history):
        if status == Quote.Status.ACCEPTED:
            _accept(quote, revision, company, history)
        rows.write(quote, by=by, status=status)
    if history.accepted_at and quote.lead is not None:
        win_lead(quote.lead, by=by)
    audit.record(
        "quote.imported",
        by=by,
        subject=quote,
        ref=quote.ref,
        revision=revision.n,
        sent_at=history.sent_at,
        status=quote.status,
    )
    return revision


def _steps(history: History) -> list[Quote.Status]:
    """The states after `sent`, in order."""
    taken = {
        Quote.Status.VIEWED: history.views > 0,
        Quote.Status.CHANGES_REQUESTED: bool(history.request),
        Quote.Status.ACCEPTED: history.accepted_at is not None,
        Quote.Status.CONVERTED: history.converted,
        Quote.Status.EXPIRED: history.expired,
    }
    return [status for status, reached in taken.items() if reached]


def _accept(quote: Quote, revision: QuoteRevision, company: Company, history: History) -> None:
    signer = clean_line(history.signer)[:120]
    if not signer or revision.document is None or history.accepted_at is None:
        raise DomainError("NAME_REQUIRED", _("An acceptance needs the name of who gave it."), field="signer")
    totals = revision.totals(list(revision.lines.all()))
    Acceptance.objects.create(
        revision=revision,
        document_sha256=revision.document.sha256,
        signer_name=signer,
        totals=totals.as_json(),
        total_cents=totals.total,
        agreement=agreement(quote, revision, totals, locale_of(quote, company)),
        at=history.accepted_at,
    )
