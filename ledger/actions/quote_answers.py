"""What the client does with a quote on its page: see it, accept it, decline it, ask for changes.

The link is the permission, so `by` is nobody. Everything is refused unless the revision is open at that moment.
"""

import uuid
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit
from ledger.actions import rows
from ledger.actions.leads import win_lead
from ledger.actions.quote_documents import locale_of
from ledger.actions.quotes import drop_draft, locked_quote
from ledger.errors import DomainError
from ledger.models import Acceptance, Company, Quote, QuoteRevision
from ledger.money import Totals, format_money
from ledger.quote_state import State, state_of
from ledger.tenancy import current_tenant
from ledger.text import clean_block, clean_line


@dataclass(frozen=True)
class Signature:
    """Who says yes, to exactly which document, with which options at which total (cents), from where."""

    name: str
    document_sha256: str
    options: frozenset[uuid.UUID]
    total_cents: int
    address: str = ""
    user_agent: str = ""


@dataclass(frozen=True)
class Accepted:
    """The acceptance on record, and whether it is this press that made it (H34)."""

    acceptance: Acceptance
    new: bool


@transaction.atomic
def accept_quote(revision: QuoteRevision, *, signature: Signature, by: None = None) -> Accepted:
    """Record the client's yes, once; a second press finds the first (H34).

    Raises NAME_REQUIRED, DOCUMENT_CHANGED where something else was shown, or the code of the state that the
    revision is in (EXPIRED, WITHDRAWN, SUPERSEDED, DECLINED).
    """
    quote, revision, company = _held(revision)
    standing = Acceptance.objects.filter(revision=revision).first()
    if standing is not None:
        return Accepted(standing, new=False)
    _require_open(quote, revision, company)
    name = clean_line(signature.name)
    if not 2 <= len(name) <= 120:
        raise DomainError("NAME_REQUIRED", _("Write your full name to accept."), field="name")
    lines = list(revision.lines.all())
    totals = revision.totals(lines, signature.options)
    document = revision.document
    if document is None or (document.sha256, totals.total) != (signature.document_sha256, signature.total_cents):
        raise DomainError("DOCUMENT_CHANGED", _("This page was out of date. Please look at the quote as it is now."))
    acceptance = Acceptance.objects.create(
        revision=revision,
        document_sha256=document.sha256,
        signer_name=name,
        selected=sorted(str(pk) for pk in signature.options),
        totals=totals.as_json(),
        total_cents=totals.total,
        agreement=agreement(quote, revision, totals, locale_of(quote, company)),
        address=signature.address[:64],
        user_agent=clean_line(signature.user_agent)[:300],
    )
    rows.write(quote, by=by, status=Quote.Status.ACCEPTED, revision=drop_draft(quote))
    if quote.lead is not None:
        win_lead(quote.lead, by=by)
    audit.record(
        "quote.accepted",
        by=by,
        subject=quote,
        ref=quote.ref,
        revision=revision.n,
        signer=name,
        total_cents=totals.total,
        document_sha256=acceptance.document_sha256,
        user_agent=acceptance.user_agent,
    )
    return Accepted(acceptance, new=True)


@transaction.atomic
def decline_quote(revision: QuoteRevision, *, reason: str, by: None = None) -> QuoteRevision:
    """Record the client's no; saying it again changes nothing."""
    quote, revision, company = _held(revision)
    if revision.declined_at is not None:
        return revision
    _require_open(quote, revision, company)
    revision.declined_at, revision.decline_reason = timezone.now(), clean_block(reason)[:1000]
    revision.save(update_fields=["declined_at", "decline_reason"])
    if quote.status != Quote.Status.DRAFT:  # a revision being drafted goes on
        rows.write(quote, by=by, status=Quote.Status.DECLINED)
    audit.record(
        "quote.declined", by=by, subject=quote, ref=quote.ref, revision=revision.n, reason=revision.decline_reason
    )
    return revision


@transaction.atomic
def request_quote_changes(revision: QuoteRevision, *, wish: str, by: None = None) -> QuoteRevision:
    """Record what the client would like otherwise; the quote stays open. A later wish replaces the one before."""
    quote, revision, company = _held(revision)
    _require_open(quote, revision, company)
    text = clean_block(wish)[:1000]
    if not text:
        raise DomainError("TEXT_REQUIRED", _("Write what you would like to change."), field="wish")
    revision.requested_at, revision.request = timezone.now(), text
    revision.save(update_fields=["requested_at", "request"])
    if quote.status in (Quote.Status.SENT, Quote.Status.VIEWED):
        rows.write(quote, by=by, status=Quote.Status.CHANGES_REQUESTED)
    audit.record("quote.changes_requested", by=by, subject=quote, ref=quote.ref, revision=revision.n, wish=text)
    return revision


@transaction.atomic
def mark_viewed(revision: QuoteRevision, *, by: None = None) -> bool:
    """The page was on somebody's screen. False, and nothing, unless the quote is open."""
    quote, revision, company = _held(revision)
    if state_of(quote, revision, company.timezone) is not State.OPEN:
        return False
    now = timezone.now()
    first = revision.viewed_at is None
    QuoteRevision.objects.filter(pk=revision.pk).update(views=F("views") + 1, viewed_at=revision.viewed_at or now)
    if quote.status == Quote.Status.SENT:
        rows.write(quote, by=by, status=Quote.Status.VIEWED)
    if first:
        audit.record("quote.viewed", by=by, subject=quote, ref=quote.ref, revision=revision.n)
    return True


def agreement(quote: Quote, revision: QuoteRevision, totals: Totals, locale: str) -> str:
    """What the client says yes to, in words; shown above the button and kept with the acceptance."""
    return _("I accept quote %(ref)s, revision %(revision)s, for %(total)s in total, with the terms it states.") % {
        "ref": quote.ref,
        "revision": revision.n,
        "total": format_money(totals.total, quote.currency, locale),
    }


def _held(revision: QuoteRevision) -> tuple[Quote, QuoteRevision, Company]:
    quote = locked_quote(revision.quote)
    fresh = QuoteRevision.objects.select_related("document").defer("document__content", "document__preview")
    return quote, fresh.get(pk=revision.pk), Company.objects.get(pk=current_tenant())


def _require_open(quote: Quote, revision: QuoteRevision, company: Company) -> None:
    match state_of(quote, revision, company.timezone):
        case State.OPEN:
            return
        case State.EXPIRED:
            raise DomainError("EXPIRED", _("This quote has expired."))
        case State.SUPERSEDED:
            raise DomainError("SUPERSEDED", _("This quote was replaced by a newer one."))
        case State.DECLINED:
            raise DomainError("DECLINED", _("This quote was declined."))
        case State.ACCEPTED:
            raise DomainError("ACCEPTED", _("This quote was already accepted."))
        case State.WITHDRAWN:
            raise DomainError("WITHDRAWN", _("This quote is no longer available."))
