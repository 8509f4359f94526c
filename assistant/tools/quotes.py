"""Quotes inside the company: look, draft, change a draft, render. Nothing here reaches a client."""

import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Any, Literal

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from assistant.tools.facts import Outside
from assistant.tools.fields import Money, Percent, Ref
from assistant.tools.quote_drafts import Line, LineOperation, change_of, drafts, portion
from assistant.tools.quote_words import brief, whole
from assistant.tools.registry import Context, ReadResult, ToolArguments, tool
from ledger.actions.quote_documents import preview_quote_pdf
from ledger.actions.quote_lines import edit_quote_lines
from ledger.actions.quote_terms import QuoteTerms, set_quote_terms
from ledger.actions.quotes import create_quote
from ledger.actions.records import by_ref
from ledger.errors import NotFound
from ledger.models import Acceptance, Client, Lead, Quote, QuoteRevision, Site
from ledger.money import amount_text

Status = Literal[
    "draft",
    "awaiting_approval",
    "sent",
    "viewed",
    "changes_requested",
    "accepted",
    "declined",
    "expired",
    "withdrawn",
    "superseded",
    "converted",
]
FOLLOW_UP_DAYS = 3


@tool(label=gettext_lazy("List quotes"), permission="view_records", effects=())
class ListQuotes:
    """List quotes by status, client, age, value; `needs_follow_up` = viewed or sent more than N days ago."""

    class Arguments(ToolArguments):
        status: Status | None = None
        client_ref: Ref | None = None
        needs_follow_up: bool | None = None
        older_than_days: Annotated[int, Field(ge=0, le=365)] | None = None
        limit: Annotated[int, Field(ge=1, le=50)] = 20

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        quotes = Quote.objects.filter(deleted_at=None).select_related("client", "lead")
        days = arguments.older_than_days
        if arguments.status == "superseded":
            quotes = quotes.filter(revisions__status=QuoteRevision.Status.SUPERSEDED).distinct()
        elif arguments.status:
            quotes = quotes.filter(status=arguments.status)
        if arguments.client_ref:
            quotes = quotes.filter(Q(client__ref=arguments.client_ref) | Q(lead__ref=arguments.client_ref))
        if arguments.needs_follow_up:
            before = timezone.now() - timedelta(days=FOLLOW_UP_DAYS if days is None else days)
            waiting = QuoteRevision.objects.filter(status="sent", sent_at__lte=before).values("quote_id")
            quotes = quotes.filter(status__in=Quote.OPEN, pk__in=waiting)
        elif days is not None:
            quotes = quotes.filter(created_at__lte=timezone.now() - timedelta(days=days))
        found = list(quotes.order_by("-created_at", "-pk")[: arguments.limit + 1])
        shown = found[: arguments.limit]
        newest = newest_revisions(shown)
        return {
            "quotes": [brief(quote, newest.get(quote.pk)) for quote in shown],
            "currency": ctx.company.currency,
            "more": len(found) > len(shown),
        }


@tool(label=gettext_lazy("Read a quote"), permission="view_records", effects=())
class GetQuote:
    """Quote with lines, totals, revisions, deposit, signature evidence, view/sent log."""

    class Arguments(ToolArguments):
        quote_ref: Ref
        revision: Annotated[int, Field(ge=1, le=99)] | None = None

    def run(ctx: Context, arguments: Any) -> ReadResult:
        quote = quote_of(arguments.quote_ref)
        revisions = list(quote.revisions.select_related("document").defer(*BYTES).order_by("n"))
        wanted = arguments.revision or quote.revision
        revision = next((one for one in revisions if one.n == wanted), None)
        if revision is None:
            raise NotFound(_("%(ref)s has no revision %(n)s.") % {"ref": quote.ref, "n": wanted}, revision=wanted)
        lines = list(revision.lines.select_related("price"))
        acceptance = Acceptance.objects.filter(revision__quote=quote).first()
        data = whole(quote, revision, lines) | {
            "revisions": [_told_revision(one) for one in revisions],
            "acceptance": _told_acceptance(acceptance),
            "messages": [
                {"ref": m.ref, "to": m.to, "status": m.status, "sent_at": m.sent_at and m.sent_at.isoformat()}
                for m in revision.messages.order_by("-created_at")[:10]
            ],
        }
        written = any(one.request or one.decline_reason for one in revisions) or acceptance is not None
        outside = (Outside("quote_answer", quote.ref),) if written else ()
        return ReadResult(data, outside=outside, touched=(quote.ref,))


@tool(label=gettext_lazy("Show a quote's PDF"), permission="view_records", effects=())
class PreviewQuotePdf:
    """Render the PDF as the client would see it; returns a link for the user, page count and sha256. Sends nothing."""

    class Arguments(ToolArguments):
        quote_ref: Ref

    def run(ctx: Context, arguments: Any) -> ReadResult:
        quote = quote_of(arguments.quote_ref)
        document = preview_quote_pdf(quote, by=ctx.member)
        link = reverse("quote_pdf", args=[quote.ref, document.sha256])
        data = {"quote": quote.ref, "link": link, "pages": document.pages, "sha256": document.sha256}
        return ReadResult(data, touched=(quote.ref,))


@tool(label=gettext_lazy("Draft a quote"), permission="create_quote", effects=())
class CreateQuote:
    """Create a draft quote for a lead or client. Lines should name price_item_ref; a custom price shows as an
    override and may need approval."""

    class Arguments(ToolArguments):
        party_ref: Ref
        site_ref: Ref | None = None
        title: Annotated[str, StringConstraints(max_length=160)]
        lines: Annotated[list[Line], Field(min_length=1, max_length=100)]
        discount_pct: Percent | None = None
        discount_amount: Money | None = None
        deposit_pct: Percent | None = None
        valid_days: Annotated[int, Field(ge=1, le=180)] | None = None
        terms_template: Annotated[str, StringConstraints(max_length=60)] | None = None

    def run(ctx: Context, arguments: Any) -> ReadResult:
        quote = create_quote(
            party_by_ref(arguments.party_ref),
            by=ctx.member,
            title=arguments.title,
            lines=drafts(arguments.lines),
            site=by_ref(Site, arguments.site_ref) if arguments.site_ref else None,
            discount=portion(arguments.discount_pct, arguments.discount_amount),
            deposit=portion(arguments.deposit_pct, None),
            valid_days=arguments.valid_days,
            **({"terms_name": arguments.terms_template} if arguments.terms_template else {}),
        )
        return _answer(quote)


@tool(label=gettext_lazy("Change a quote's lines"), permission="edit_quote_lines", effects=())
class EditQuoteLines:
    """Add, change, remove or reorder lines of a draft quote."""

    class Arguments(ToolArguments):
        quote_ref: Ref
        expected_version: int
        operations: Annotated[list[LineOperation], Field(min_length=1, max_length=50)]

    def run(ctx: Context, arguments: Any) -> ReadResult:
        quote = quote_of(arguments.quote_ref)
        values = drafts(op.value for op in arguments.operations if op.value is not None)
        changes = [change_of(op, values) for op in arguments.operations]
        edit_quote_lines(quote, by=ctx.member, expected_version=arguments.expected_version, changes=changes)
        return _answer(quote_of(quote.ref))


class TermsPatch(BaseModel):
    """What may be changed; what is left out stays. "0" takes a discount or a deposit away."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    title: Annotated[str, StringConstraints(max_length=160)] | None = None
    discount_pct: Percent | None = None
    discount_amount: Money | None = None
    deposit_pct: Percent | None = None
    deposit_amount: Money | None = None
    valid_days: Annotated[int, Field(ge=1, le=180)] | None = None
    terms: Annotated[str, StringConstraints(max_length=4000)] | None = None


@tool(label=gettext_lazy("Change a quote's terms"), permission="set_quote_terms", effects=())
class SetQuoteTerms:
    """Change title, discount, deposit, validity or terms of a draft quote."""

    class Arguments(ToolArguments):
        quote_ref: Ref
        expected_version: int
        patch: TermsPatch

    def run(ctx: Context, arguments: Any) -> ReadResult:
        quote, patch = quote_of(arguments.quote_ref), arguments.patch
        changes = QuoteTerms(
            title=patch.title,
            discount=portion(patch.discount_pct, patch.discount_amount),
            deposit=portion(patch.deposit_pct, patch.deposit_amount),
            valid_days=patch.valid_days,
            terms=patch.terms,
        )
        set_quote_terms(quote, by=ctx.member, expected_version=arguments.expected_version, changes=changes)
        return _answer(quote_of(quote.ref))


BYTES = ("document__content", "document__preview")


def newest_revisions(quotes: Iterable[Quote]) -> dict[uuid.UUID, QuoteRevision]:
    """Each quote's newest revision by the quote's id, in one query."""
    return QuoteRevision.objects.newest_of(quotes)


def quote_of(ref: str) -> Quote:
    """The quote of that ref with what is told of it. Raises NotFound."""
    return by_ref(Quote.objects.select_related("client", "lead", "site", "owner"), ref)


def party_by_ref(ref: str) -> Client | Lead:
    """The client or the lead of that ref. Raises NotFound."""
    try:
        return by_ref(Client, ref)
    except NotFound:
        return by_ref(Lead, ref)


def _answer(quote: Quote) -> ReadResult:
    revision = quote.revisions.get(n=quote.revision)
    return ReadResult(whole(quote, revision, list(revision.lines.select_related("price"))), touched=(quote.ref,))


def _told_revision(revision: QuoteRevision) -> dict[str, Any]:
    return {
        "revision": revision.n,
        "status": revision.status,
        "total": amount_text(revision.total_cents),
        "sent_at": revision.sent_at and revision.sent_at.isoformat(timespec="seconds"),
        "viewed_at": revision.viewed_at and revision.viewed_at.isoformat(timespec="seconds"),
        "views": revision.views,
        "changes_requested": revision.request,
        "decline_reason": revision.decline_reason,
        "sha256": revision.document.sha256 if revision.document else None,
    }


def _told_acceptance(acceptance: Acceptance | None) -> dict[str, Any] | None:
    if acceptance is None:
        return None
    return {
        "signer": acceptance.signer_name,
        "at": acceptance.at.isoformat(timespec="seconds"),
        "total": amount_text(acceptance.total_cents),
        "sha256": acceptance.document_sha256,
        "address": acceptance.address,
    }
