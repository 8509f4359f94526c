"""What a draft says beside its lines: title, discount, deposit, how long it holds, terms."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import rows
from ledger.actions.quote_lines import draft_revision, put
from ledger.errors import DomainError
from ledger.models import Membership, Quote, QuoteRevision
from ledger.money import Portion, percent_text
from ledger.text import clean_block, clean_line, search_key

MOST_TERMS = 4000
VALID_DAYS = range(1, 181)


@dataclass(frozen=True)
class QuoteTerms:
    """The changes; what is None stays as it is. A portion of nothing takes the discount or the deposit away."""

    title: str | None = None
    discount: Portion | None = None
    deposit: Portion | None = None
    valid_days: int | None = None
    terms: str | None = None


@transaction.atomic
def set_quote_terms(quote: Quote, *, by: Membership, expected_version: int, changes: QuoteTerms) -> QuoteRevision:
    """Change what a draft says beside its lines; totals are computed anew (I3).

    Raises STALE_VERSION, WRONG_STATUS (sent or being sent), BAD_TEXT and BAD_NUMBER with the field, and MoneyError
    for more than the whole.
    """
    permissions.require(by, "set_quote_terms")
    quote = rows.locked(quote, expected_version=expected_version)
    revision = draft_revision(quote)
    before = told(quote, revision)
    written: dict[str, Any] = {"status": Quote.Status.DRAFT}
    if changes.title is not None:
        written["title"] = checked_title(changes.title)
        written["search"] = search_key(f"{quote.ref} {written['title']} {quote.party.name}")
    if changes.valid_days is not None:
        written["valid_days"] = checked_days(changes.valid_days)
    if changes.terms is not None:
        revision.terms = _terms(changes.terms)
    for name in ("discount", "deposit"):
        portion: Portion | None = getattr(changes, name)
        if portion is not None:
            setattr(revision, f"{name}_percent", portion.percent or None)
            setattr(revision, f"{name}_cents", portion.cents or None)
    revision.save(update_fields=SAID)
    put(revision, list(revision.lines.select_related("price")))
    rows.write(quote, by=by, **written)
    audit.record(
        "quote.terms_set",
        by=by,
        subject=quote,
        ref=quote.ref,
        revision=revision.n,
        before=before,
        after=told(quote, revision),
        total_cents=revision.total_cents,
    )
    return revision


SAID = ["terms", "discount_percent", "discount_cents", "deposit_percent", "deposit_cents"]


def checked_title(title: str) -> str:
    """The title as it is kept. Raises BAD_TEXT."""
    title = clean_line(title)
    if not 1 <= len(title) <= 160:
        raise DomainError("BAD_TEXT", _("Give the quote a title of 1 to 160 characters."), field="title")
    return title


def checked_days(days: int) -> int:
    """The days that a quote holds. Raises BAD_NUMBER."""
    if days not in VALID_DAYS:
        raise DomainError("BAD_NUMBER", _("A quote is valid for 1 to 180 days."), field="valid_days")
    return days


def told(quote: Quote, revision: QuoteRevision) -> dict[str, Any]:
    """What may be set, for the record: enough to set it again."""
    percents = {
        name: None if getattr(revision, name) is None else percent_text(getattr(revision, name))
        for name in ("discount_percent", "deposit_percent")
    }
    return percents | {
        "title": quote.title,
        "valid_days": quote.valid_days,
        "terms": revision.terms,
        "discount_cents": revision.discount_cents,
        "deposit_cents": revision.deposit_cents,
    }


def _terms(text: str) -> str:
    text = clean_block(text)
    if len(text) > MOST_TERMS:
        sentence = _("That text is too long; %(most)s characters are possible.") % {"most": MOST_TERMS}
        raise DomainError("BAD_TEXT", sentence, field="terms", most=MOST_TERMS)
    return text
