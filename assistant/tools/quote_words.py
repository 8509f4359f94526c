"""A quote as the model reads it: public refs, amounts in major units as text, nothing that needs arithmetic."""

from collections.abc import Iterable, Sequence
from typing import Any

from assistant.tools.party_words import known_by, named
from assistant.tools.subjects import Candidate
from ledger.models import Client, Lead, Quote, QuoteLine, QuoteRevision
from ledger.money import amount_text, percent_text


def party_of(quote: Quote) -> dict[str, Any]:
    """Whom it is for: kind, ref, name and city."""
    party = quote.party
    return {"kind": party._meta.model_name, "ref": party.ref, "name": party.name, "city": party.city}


def brief(quote: Quote, revision: QuoteRevision | None) -> dict[str, Any]:
    """One line of a list."""
    told: dict[str, Any] = {
        "ref": quote.ref,
        "title": quote.title,
        "party": party_of(quote),
        "status": quote.status,
        "revision": quote.revision,
        "created_on": quote.created_at.date().isoformat(),
    }
    if revision is not None:
        told |= {
            "total": amount_text(revision.total_cents),
            "sent_at": _moment(revision.sent_at),
            "viewed_at": _moment(revision.viewed_at),
            "views": revision.views,
            "valid_until": revision.valid_until.isoformat() if revision.valid_until else None,
        }
    return told


def whole(quote: Quote, revision: QuoteRevision, lines: Sequence[QuoteLine]) -> dict[str, Any]:
    """The quote with one revision: its lines and totals."""
    return brief(quote, revision) | {
        "version": quote.version,
        "shown_revision": revision.n,
        "currency": quote.currency,
        "site": {"ref": quote.site.ref, "address": quote.site.address} if quote.site else None,
        "owner": quote.owner.name,
        "valid_days": quote.valid_days,
        "lines": [told_line(line) for line in lines],
        "subtotal": amount_text(revision.subtotal_total_cents),
        "discount_pct": _percent(revision.discount_percent),
        "discount": amount_text(revision.discount_total_cents),
        "tax": amount_text(revision.tax_total_cents),
        "tax_included_in_prices": revision.tax_mode == "inclusive",
        "total": amount_text(revision.total_cents),
        "deposit": amount_text(revision.deposit_total_cents),
        "terms": revision.terms,
    }


def told_line(line: QuoteLine) -> dict[str, Any]:
    """One line; `line` is the number that edits use. An overridden price shows the book's beside it."""
    told: dict[str, Any] = {
        "line": line.position,
        "description": line.description,
        "qty": percent_text(line.quantity),
        "unit": line.unit,
        "unit_price": percent_text(line.unit_price),
        "net": amount_text(line.net_total_cents),
        "tax_rate": percent_text(line.tax_rate),
    }
    if line.discount is not None:
        told["discount"] = amount_text(line.discount_total_cents)
    if line.optional:
        told |= {"optional": True, "selected": line.selected}
    if line.group:
        told["group"] = line.group
    if line.price is not None and line.is_overridden:
        told |= {"price_overridden": True, "book_price": percent_text(line.price.unit_price)}
    return told


def candidate(quote: Quote) -> Candidate:
    """The quote as something that may be meant by somebody's words."""
    party = quote.party
    places = [quote.site.address if quote.site else "", party.address]
    text = " ".join([quote.title, party.ref, party.name, *places, *known_by(party)])
    label = f"{named(party)}: {quote.title}"
    return Candidate(quote.ref, label, text, party=party.ref, state=quote.status)


def others_like(quote: Quote) -> Iterable[Candidate]:
    """The company's other newest quotes that are not in the trash."""
    rows = Quote.objects.filter(deleted_at=None).exclude(pk=quote.pk).select_related("client", "lead", "site")
    return [candidate(row) for row in rows.prefetch_related("client__contacts").order_by("-created_at")[:200]]


def party_kind(party: Client | Lead) -> str:
    return "lead" if isinstance(party, Lead) else "client"


def _percent(percent: Any) -> str | None:
    return None if percent is None else percent_text(percent)


def _moment(at: Any) -> str | None:
    return at.isoformat(timespec="seconds") if at else None
