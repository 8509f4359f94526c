"""Quotes: draft one, revise it, take it back, let it lapse, throw it away."""

import datetime
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from ledger import audit, dates, links, locales, permissions, terms
from ledger.actions import rows
from ledger.actions.quote_lines import Book, LineDraft, copied, line_of, put, require_count
from ledger.actions.quote_terms import checked_days, checked_title
from ledger.company_settings import current_settings
from ledger.errors import DomainError
from ledger.models import Client, Company, Lead, Membership, PublicLink, Quote, QuoteRevision, Site
from ledger.money import Portion
from ledger.numbering import take_number
from ledger.tenancy import current_tenant
from ledger.text import clean_line, search_key


@transaction.atomic
def create_quote(
    party: Client | Lead,
    *,
    by: Membership,
    title: str,
    lines: Sequence[LineDraft],
    site: Site | None = None,
    discount: Portion | None = None,
    deposit: Portion | None = None,
    valid_days: int | None = None,
    terms_name: str = terms.STANDARD,
    owner: Membership | None = None,
    ref: str = "",
) -> Quote:
    """Draft a quote for a client or a lead. Totals are computed here, from the lines, and nowhere else (I3).

    The site is the party's own; without one, the only one there is. A company that brings its numbers along gives
    `ref`. Raises DomainError for what a quote cannot hold.
    """
    permissions.require(by, "create_quote")
    require_count(len(lines))
    company = Company.objects.get(pk=current_tenant())
    settings = current_settings()
    title = checked_title(title)
    days = checked_days(settings.values.quote_valid_days if valid_days is None else valid_days)
    locale = party.language if isinstance(party, Client) else company.locale
    text = terms.terms_text(terms_name, locales.language_of(locale))
    _check_party(party)
    quote = Quote.objects.create(
        **rows.made_by(by),
        ref=ref or take_number("quote"),
        client=party if isinstance(party, Client) else None,
        lead=party if isinstance(party, Lead) else None,
        site=_site_of(party, site),
        owner=owner or by,
        title=title,
        currency=company.currency,
        valid_days=days,
    )
    revision = QuoteRevision.objects.create(
        quote=quote,
        settings=settings.version,
        tax_mode=settings.values.tax_mode,
        tax_rounding=settings.values.tax_rounding,
        rounding=settings.values.rounding,
        discount_percent=discount.percent if discount else None,
        discount_cents=discount.cents if discount else None,
        deposit_percent=deposit.percent if deposit else None,
        deposit_cents=deposit.cents if deposit else None,
        terms=text,
    )
    book = Book(lines)
    put(revision, [line_of(draft, book) for draft in lines])
    Quote.objects.filter(pk=quote.pk).update(search=search_key(f"{quote.ref} {title} {party.name}"))
    audit.record(
        "quote.created",
        by=by,
        subject=quote,
        ref=quote.ref,
        party=party.ref,
        title=title,
        total_cents=revision.total_cents,
        currency=quote.currency,
    )
    return quote


def locked_quote(quote: Quote, *, expected_version: int | None = None) -> Quote:
    """The quote held until the transaction ends, its lead before it: everybody locks them in this order."""
    if quote.lead_id is not None:
        list(Lead.objects.select_for_update(of=("self",)).filter(pk=quote.lead_id))
    return rows.locked(quote, expected_version=expected_version)


@transaction.atomic
def revise_quote(quote: Quote, *, by: Membership, reason: str = "") -> QuoteRevision:
    """Open the next revision as a draft. What was sent stays frozen, and open to the client until this one goes out."""
    permissions.require(by, "create_quote")
    quote = rows.locked(quote)
    if quote.status not in Quote.REVISABLE:
        sentence = _("%(ref)s cannot be revised as it stands.") % {"ref": quote.ref}
        raise DomainError("WRONG_STATUS", sentence, status=quote.status)
    settings = current_settings()
    last: QuoteRevision = quote.revisions.get(n=quote.revision)
    number = quote.revisions.aggregate(last=Max("n"))["last"] + 1
    revision: QuoteRevision = QuoteRevision.objects.create(
        quote=quote,
        n=number,
        settings=settings.version,
        tax_mode=settings.values.tax_mode,
        tax_rounding=settings.values.tax_rounding,
        rounding=settings.values.rounding,
        discount_percent=last.discount_percent,
        discount_cents=last.discount_cents,
        deposit_percent=last.deposit_percent,
        deposit_cents=last.deposit_cents,
        terms=last.terms,
    )
    put(revision, copied(last.lines.select_related("price")))
    rows.write(quote, by=by, status=Quote.Status.DRAFT, revision=number)
    audit.record("quote.revised", by=by, subject=quote, ref=quote.ref, revision=number, reason=clean_line(reason)[:300])
    return revision


@transaction.atomic
def withdraw_quote(quote: Quote, *, by: Membership, reason: str) -> Quote:
    """Take a sent quote back: its page says that it is no longer available."""
    permissions.require(by, "withdraw_quote")
    quote = rows.locked(quote)
    if quote.status not in Quote.OPEN and not _is_with_client(quote):
        sentence = _("%(ref)s is not with the client, so it cannot be withdrawn.") % {"ref": quote.ref}
        raise DomainError("WRONG_STATUS", sentence, status=quote.status)
    rows.write(quote, by=by, status=Quote.Status.WITHDRAWN, revision=drop_draft(quote))
    audit.record("quote.withdrawn", by=by, subject=quote, ref=quote.ref, reason=clean_line(reason)[:300])
    return quote


@transaction.atomic
def expire_quote(quote: Quote, *, by: None = None, now: datetime.datetime | None = None) -> bool:
    """Mark a quote as expired if its sent revision ran out by the company's day; False where there is nothing to do."""
    quote = rows.locked(quote)
    sent = quote.revisions.filter(status=QuoteRevision.Status.SENT).first()
    zone = Company.objects.get(pk=current_tenant()).timezone
    if quote.status not in Quote.OPEN or sent is None or sent.valid_until is None:
        return False
    if dates.is_open(sent.valid_until, zone, now):
        return False
    rows.write(quote, by=by, status=Quote.Status.EXPIRED)
    audit.record("quote.expired", by=by, subject=quote, ref=quote.ref, valid_until=sent.valid_until)
    return True


@transaction.atomic
def delete_quote(quote: Quote, *, by: Membership, expected_version: int | None = None) -> Quote:
    """Move a quote that binds nobody to the trash; its public page, if it had one, closes (I9)."""
    permissions.require(by, "delete_quote")
    quote = rows.locked(quote, expected_version=expected_version)
    refuse_delete_quote(quote)
    for revision_id in quote.revisions.values_list("pk", flat=True):
        links.close_link(PublicLink.Kind.QUOTE, revision_id)
    rows.trash(quote, by=by)
    audit.record("quote.deleted", by=by, subject=quote, ref=quote.ref, status=quote.status)
    return quote


def refuse_delete_quote(quote: Quote) -> None:
    """Raises what `delete_quote` would; for the card, before anybody is asked."""
    being_sent = quote.revisions.filter(sent_at=None, frozen_at__isnull=False).exists()
    if quote.status not in Quote.DELETABLE or being_sent or _is_with_client(quote):
        sentence = _("%(ref)s was sent or accepted, so it cannot be deleted.") % {"ref": quote.ref}
        raise DomainError("WRONG_STATUS", sentence, status=quote.status)


def drop_draft(quote: Quote) -> int:
    """Give up the revision being drafted, if there is one; the number of the newest that is left."""
    dropped = quote.revisions.filter(status=QuoteRevision.Status.DRAFT, frozen_at=None, n__gt=1)
    dropped.update(status=QuoteRevision.Status.DROPPED)
    left = quote.revisions.exclude(status=QuoteRevision.Status.DROPPED)
    newest: int = left.aggregate(newest=Max("n"))["newest"]
    return newest


def _is_with_client(quote: Quote) -> bool:
    """Whether a draft hides a revision that the client can still accept."""
    if quote.status != Quote.Status.DRAFT:
        return False
    return bool(quote.revisions.filter(status=QuoteRevision.Status.SENT, declined_at=None).exists())


def _check_party(party: Client | Lead) -> None:
    if party.deleted_at is not None:
        raise DomainError("PARTY_GONE", _("%(ref)s is in the trash.") % {"ref": party.ref}, ref=party.ref)
    if isinstance(party, Lead) and party.converted_client_id is not None:
        sentence = _("%(ref)s became a client; quote the client.") % {"ref": party.ref}
        raise DomainError("LEAD_CONVERTED", sentence, ref=party.ref)


def _site_of(party: Client | Lead, site: Site | None) -> Site | None:
    own = list(party.sites.filter(deleted_at=None).order_by("pk")[:2])
    if site is None:
        return own[0] if len(own) == 1 else None
    if not party.sites.filter(pk=site.pk, deleted_at=None).exists():
        sentence = _("%(site)s is not a site of %(party)s.") % {"site": site.ref, "party": party.ref}
        raise DomainError("SITE_OF_ANOTHER", sentence, site=site.ref, party=party.ref)
    return site
