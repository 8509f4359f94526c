"""Sending a quote: plan it, hold it, and record what the provider said (settled question 3).

`plan_quote_send` computes what would go out and stores the PDF; nothing else changes. `reserve_quote_send` freezes the
revision and puts the message into the outbox; it refuses unless what would go out is still what was planned. One of
the two records follows the provider's answer.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, dates, jobs, links, permissions, reader
from ledger.actions import rows
from ledger.actions.leads import step
from ledger.actions.letters import Letter, quote_letter
from ledger.actions.messages import Enclosed, Mailing, hold_message, record_email_failed, record_email_sent, sender_of
from ledger.actions.quote_documents import (
    Days,
    content_hash,
    days_of,
    file_name,
    quote_paper,
    snapshot,
    store_document,
    without_bytes,
)
from ledger.actions.quotes import locked_quote
from ledger.actions.recipients import Recipients, recipients_for, require_reachable
from ledger.company_settings import current_settings
from ledger.errors import DomainError, NotFound
from ledger.models import (
    Channel,
    ClientMessage,
    Company,
    Lead,
    Membership,
    PublicLink,
    Quote,
    QuoteRevision,
    Stage,
    StoredDocument,
)
from ledger.models.leads import OPEN_STAGES
from ledger.money import percent_text
from ledger.tenancy import current_tenant

SENDABLE = (Quote.Status.DRAFT, Quote.Status.CHANGES_REQUESTED, Quote.Status.SENT, Quote.Status.VIEWED)


@dataclass(frozen=True)
class QuoteSend:
    """Everything that would go out, computed from the record."""

    quote: Quote
    revision: QuoteRevision
    recipients: Recipients
    letter: Letter
    days: Days
    document: StoredDocument
    content_hash: str
    file_name: str
    discount: Decimal
    again: bool


@dataclass(frozen=True)
class Frozen:
    """What was shown to the person who decided, and nothing else goes out."""

    mailing: Mailing
    days: Days
    document_sha256: str
    content_hash: str
    version: int


def plan_quote_send(
    quote: Quote, *, by: Membership, channel: str = Channel.EMAIL, to: str = "", cc: Sequence[str] = (), words: str = ""
) -> QuoteSend:
    """What sending this quote now would do. Raises DomainError where a rule already says no.

    WRONG_STATUS, OVER_ROLE_LIMIT (I14), EXPIRED, CHANNEL_UNAVAILABLE, and what `recipients_for` raises.
    """
    permissions.require(by, "send_quote")
    if channel != Channel.EMAIL:
        raise DomainError("CHANNEL_UNAVAILABLE", _("Quotes go out by e-mail only, for now."), channel=channel)
    company = Company.objects.get(pk=current_tenant())
    revision: QuoteRevision = quote.revisions.get(n=quote.revision)
    discount = _check(quote, revision, by)
    sender_of(company)
    if revision.document_id is not None and revision.valid_until is not None:
        document = without_bytes().get(pk=revision.document_id)
        days = Days(_issued_on(revision), revision.valid_until)
        if not dates.is_open(days.valid_until, company.timezone):
            raise DomainError("EXPIRED", _("%(ref)s has expired; make a new revision.") % {"ref": quote.ref})
        digest = ""
    else:
        days = days_of(quote, company)
        paper = quote_paper(quote, revision, days)
        document, digest = store_document("quote", paper, revision), content_hash(paper)
    return QuoteSend(
        quote=quote,
        revision=revision,
        recipients=recipients_for(quote.party, to=to, cc=cc),
        letter=quote_letter(quote, revision, company, sender=by, days=days, words=words),
        days=days,
        document=document,
        content_hash=digest,
        file_name=file_name(quote, revision),
        discount=discount,
        again=revision.sent_at is not None,
    )


@transaction.atomic
def reserve_quote_send(quote: Quote, *, by: Membership, key: uuid.UUID, frozen: Frozen) -> ClientMessage:
    """Freeze the revision, open its link and put the message into the outbox, under `key`.

    Everything is checked again. Raises STALE_VERSION, DOCUMENT_CHANGED, WRONG_STATUS, OVER_ROLE_LIMIT,
    RECIPIENT_SUPPRESSED, EXPIRED; then nothing has changed.
    """
    permissions.require(by, "send_quote")
    quote = locked_quote(quote, expected_version=frozen.version)
    revision: QuoteRevision = quote.revisions.get(n=quote.revision)
    _check(quote, revision, by)
    require_reachable((*frozen.mailing.to, *frozen.mailing.cc))
    zone = Company.objects.get(pk=current_tenant()).timezone
    if not dates.is_open(frozen.days.valid_until, zone):
        raise DomainError("EXPIRED", _("%(ref)s has expired; make a new revision.") % {"ref": quote.ref})
    document = without_bytes().filter(sha256=frozen.document_sha256).first()
    if revision.sent_at is not None:
        same = document is not None and revision.document_id == document.pk
    else:
        paper = quote_paper(quote, revision, frozen.days)
        same = document is not None and content_hash(paper) == frozen.content_hash
        if same:
            revision.frozen_at, revision.document = timezone.now(), document
            revision.valid_until, revision.snapshot = frozen.days.valid_until, snapshot(paper)
            revision.save(update_fields=["frozen_at", "document", "valid_until", "snapshot"])
    if not same:
        raise DomainError("DOCUMENT_CHANGED", _("What the quote says has changed since, so nothing was sent."))
    message = hold_message(
        quote.party,
        by=by,
        key=key,
        mailing=frozen.mailing,
        enclosed=[Enclosed(document, file_name(quote, revision))],
        kind=ClientMessage.Kind.QUOTE,
        revision=revision,
        link=links.open_link(PublicLink.Kind.QUOTE, revision.pk),
    )
    rows.write(quote, by=by)
    audit.record(
        "quote.send_reserved",
        by=by,
        subject=quote,
        ref=quote.ref,
        revision=revision.n,
        message=message.ref,
        document_sha256=frozen.document_sha256,
    )
    return message


@transaction.atomic
def record_quote_sent(
    message: ClientMessage, *, by: Membership | None, provider: str, provider_id: str
) -> ClientMessage:
    """The provider accepted it: the quote is with the client, and a revision sent before it is replaced."""
    sent = revision_of(message)
    quote = locked_quote(sent.quote)
    already = message.status == ClientMessage.Status.SENT
    message = record_email_sent(message, by=by, provider=provider, provider_id=provider_id)
    revision: QuoteRevision = QuoteRevision.objects.get(pk=sent.pk)
    if already:
        return message
    quote.revisions.filter(status=QuoteRevision.Status.SENT).exclude(pk=revision.pk).update(
        status=QuoteRevision.Status.SUPERSEDED
    )
    if revision.sent_at is None:
        revision.status, revision.sent_at = QuoteRevision.Status.SENT, timezone.now()
        revision.save(update_fields=["status", "sent_at"])
    status = quote.status if quote.status == Quote.Status.VIEWED else Quote.Status.SENT
    rows.write(quote, by=by, status=status)
    _lead_is_quoted(quote, by)
    zone = Company.objects.get(pk=current_tenant()).timezone
    jobs.later("expire_quote", quote.pk, at=dates.day_ends(_set(revision.valid_until), zone))
    audit.record("quote.sent", by=by, subject=quote, ref=quote.ref, revision=revision.n, message=message.ref)
    return message


@transaction.atomic
def record_quote_send_failed(message: ClientMessage, *, by: Membership | None, problem: str) -> ClientMessage:
    """It certainly did not go out: the message failed and the quote is again as it was before."""
    sent = revision_of(message)
    quote = locked_quote(sent.quote)
    message = record_email_failed(message, by=by, problem=problem)
    revision: QuoteRevision = QuoteRevision.objects.get(pk=sent.pk)
    if message.status == ClientMessage.Status.FAILED and revision.sent_at is None and revision.is_frozen:
        links.close_link(PublicLink.Kind.QUOTE, revision.pk)
        QuoteRevision.objects.filter(pk=revision.pk).update(frozen_at=None)
        QuoteRevision.objects.filter(pk=revision.pk).update(document=None, valid_until=None, snapshot=None)
        rows.write(quote, by=by)
        audit.record("quote.send_failed", by=by, subject=quote, ref=quote.ref, message=message.ref, problem=problem)
    return message


def revision_of(message: ClientMessage) -> QuoteRevision:
    """The revision that a quote's message carries. Raises NotFound for any other message."""
    if message.revision is None:
        raise NotFound(_("This message carries no quote."))
    revision: QuoteRevision = message.revision
    return revision


def require_discount(quote: Quote, revision: QuoteRevision, by: Membership) -> Decimal:
    """The discount given in percent, if this member may give it alone; raises OVER_ROLE_LIMIT (I14)."""
    lines = list(revision.lines.select_related("price"))
    given = revision.discount_given(lines)
    limit = current_settings().values.discount_limit(by)
    if given > limit:
        sentence = _(
            "%(ref)s gives %(given)s %% discount; you may give %(limit)s %%. Ask an owner or admin to send it."
        )
        words = {"ref": quote.ref, "given": reader.number(given), "limit": reader.number(limit)}
        told = {"ref": quote.ref, "given": percent_text(given), "limit": percent_text(limit)}
        raise DomainError("OVER_ROLE_LIMIT", sentence % words, **told)
    return given


def _check(quote: Quote, revision: QuoteRevision, by: Membership) -> Decimal:
    if quote.status not in SENDABLE or quote.deleted_at is not None:
        sentence = _("%(ref)s cannot be sent as it stands: %(status)s.") % {
            "ref": quote.ref,
            "status": quote.get_status_display(),
        }
        raise DomainError("WRONG_STATUS", sentence, status=quote.status)
    if revision.is_frozen and revision.sent_at is None:
        raise DomainError("BEING_SENT", _("%(ref)s is being sent right now.") % {"ref": quote.ref}, ref=quote.ref)
    if revision.declined_at is not None:
        raise DomainError("WRONG_STATUS", _("%(ref)s was declined; make a new revision.") % {"ref": quote.ref})
    return require_discount(quote, revision, by)


def _lead_is_quoted(quote: Quote, by: Membership | None) -> None:
    """On the board, a lead that has a quote stands under it; no lead goes back for one."""
    if quote.lead_id is None:
        return
    lead = Lead.objects.select_for_update(of=("self",)).get(pk=quote.lead_id)
    if lead.deleted_at is None and lead.stage in OPEN_STAGES:
        step(lead, Stage.QUOTED, by=by)


def _issued_on(revision: QuoteRevision) -> date:
    return date.fromisoformat(str((revision.snapshot or {})["issued_on"]))


def _set(day: date | None) -> date:
    if day is None:
        raise ValueError("a sent revision has its last day")
    return day
