"""The client's page of a quote: whoever holds the link sees one revision and may answer it. No sign-in, no cookie.

The token in the address is the only credential and nothing ambient stands behind it, so there is nothing that another
site could ride on: instead of Django's cookie each form carries a word signed for this link. Reading writes nothing
(H34); `seen` is a POST of the page's script, which mail scanners don't run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ledger import audit, links, locales, reader, tenancy
from ledger.actions.quote_answers import (
    Signature,
    accept_quote,
    agreement,
    decline_quote,
    mark_viewed,
    request_quote_changes,
)
from ledger.actions.quote_documents import file_name, locale_of
from ledger.actions.quote_lines import options_of
from ledger.contacts import format_phone
from ledger.errors import DomainError
from ledger.models import Acceptance, Company, PublicLink, Quote, QuoteLine, QuoteRevision, Via
from ledger.money import Totals
from ledger.quote_state import State, state_of
from ledger.views.throttle import limited

GONE = (State.EXPIRED, State.WITHDRAWN, State.SUPERSEDED)
SALT = "public quote form"
STATUS = {"NAME_REQUIRED": 422, "TEXT_REQUIRED": 422, "DOCUMENT_CHANGED": 409, "FORM_INCOMPLETE": 400}


@dataclass(frozen=True)
class Offer:
    """What the link opens, as it stands at this moment."""

    link: PublicLink
    token: str
    company: Company
    quote: Quote
    revision: QuoteRevision
    state: State

    @property
    def locale(self) -> str:
        return locale_of(self.quote, self.company)

    @property
    def phone(self) -> str:
        """The company's number as its country reads it."""
        number = self.company.phone
        return format_phone(number, self.company.country) if number.startswith("+") else number

    @property
    def form_word(self) -> str:
        return signing.Signer(salt=SALT).sign(str(self.link.pk))

    def check_form(self, request: HttpRequest) -> None:
        """Raise FORM_INCOMPLETE unless the post comes from this link's own page."""
        try:
            word = signing.Signer(salt=SALT).unsign(request.POST.get("form", ""))
        except signing.BadSignature:
            word = ""
        if word != str(self.link.pk):
            with_words = translation.gettext("This form is incomplete. Reload the page and try again.")
            raise DomainError("FORM_INCOMPLETE", with_words)


PageView = Callable[[HttpRequest, Offer], HttpResponse]


def public(view: PageView) -> Callable[..., HttpResponse]:
    """Find the offer of a token, enter its company's scope and its client's language; unknown and closed: 404."""

    @csrf_exempt
    @wraps(view)
    def entered(request: HttpRequest, token: str) -> HttpResponse:
        try:
            response = _entered(request, token, view)
        except Http404:
            response = render(request, "public/unknown.html", status=404)
        response["Referrer-Policy"] = "no-referrer"
        response["X-Robots-Tag"] = "noindex, nofollow"
        response["Cache-Control"] = "no-store, private"
        return response

    entered.outside_tenant = True  # type: ignore[attr-defined]
    return entered


def _entered(request: HttpRequest, token: str, view: PageView) -> HttpResponse:
    link = links.find_link(PublicLink.Kind.QUOTE, token)
    if link is None:
        raise Http404
    with audit.entering(Via.PORTAL, request.META.get("REMOTE_ADDR", "")), tenancy.tenant(link.tenant_id):
        offer = _offer(link, token)
        language = locales.language_of(offer.locale)
        with reader.reading(language, offer.company.timezone):
            response = view(request, offer)
    response["Content-Language"] = language
    return response


@require_safe
@limited(reads=120, writes=0)
@public
def page(request: HttpRequest, offer: Offer) -> HttpResponse:
    """The quote. `option` (several) says which optional lines are to be counted."""
    return _page(request, offer)


@require_http_methods(["GET", "HEAD", "POST"])
@limited(reads=60, writes=20)
@public
def accept(request: HttpRequest, offer: Offer) -> HttpResponse:
    """POST: the client's yes. A second press shows the first (200). GET leads back to the page."""
    if request.method != "POST":
        return redirect("public_quote", offer.token)

    def deed() -> HttpResponse:
        lines = list(offer.revision.lines.all())
        signature = Signature(
            name=request.POST.get("name", ""),
            document_sha256=request.POST.get("document", ""),
            options=options_of(lines, request.POST.getlist("option")),
            total_cents=_whole(request.POST.get("total", "")),
            address=request.META.get("REMOTE_ADDR", ""),
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
        )
        accepted = accept_quote(offer.revision, signature=signature)
        if accepted.new:
            return _see_other(offer)
        return _page(request, _offer(offer.link, offer.token), already=True)

    return _answered(request, offer, deed)


@require_POST
@limited(reads=0, writes=20)
@public
def decline(request: HttpRequest, offer: Offer) -> HttpResponse:
    """The client's no, with a reason if there is one."""

    def deed() -> HttpResponse:
        decline_quote(offer.revision, reason=request.POST.get("reason", ""))
        return _see_other(offer)

    return _answered(request, offer, deed)


@require_POST
@limited(reads=0, writes=20)
@public
def changes(request: HttpRequest, offer: Offer) -> HttpResponse:
    """What the client would like otherwise."""

    def deed() -> HttpResponse:
        request_quote_changes(offer.revision, wish=request.POST.get("wish", ""))
        return _see_other(offer)

    return _answered(request, offer, deed)


@require_POST
@limited(reads=0, writes=20)
@public
def seen(request: HttpRequest, offer: Offer) -> HttpResponse:
    """The page has been on a screen: sent by its script, so a scanner that only fetches never counts."""

    def deed() -> HttpResponse:
        mark_viewed(offer.revision)
        return HttpResponse(status=204)

    return _answered(request, offer, deed)


@require_safe
@limited(reads=30, writes=0)
@public
def pdf(request: HttpRequest, offer: Offer) -> HttpResponse:
    """The document that was sent, as long as the page shows its contents."""
    if offer.state in GONE or offer.revision.document is None:
        return _page(request, offer)
    response = HttpResponse(bytes(offer.revision.document.content), content_type="application/pdf")
    response["Content-Disposition"] = f'inline; filename="{file_name(offer.quote, offer.revision)}"'
    return response


def _offer(link: PublicLink, token: str) -> Offer:
    company = Company.objects.get(pk=link.tenant_id)
    rows = QuoteRevision.objects.select_related("quote__client", "quote__lead", "quote__site", "document").defer(
        "document__content", "document__preview"
    )
    revision = rows.filter(pk=link.object_id, sent_at__isnull=False, quote__deleted_at=None).first()
    if revision is None or not company.active:
        raise Http404
    state = state_of(revision.quote, revision, company.timezone)
    return Offer(link, token, company, revision.quote, revision, state)


def _answered(request: HttpRequest, offer: Offer, deed: Callable[[], HttpResponse]) -> HttpResponse:
    """What the deed answers; what a rule refuses is said on the page as it then stands."""
    try:
        offer.check_form(request)
        return deed()
    except DomainError as error:
        now = _offer(offer.link, offer.token)
        return _page(request, now, problem=error)


def _page(
    request: HttpRequest, offer: Offer, *, problem: DomainError | None = None, already: bool = False
) -> HttpResponse:
    context: dict[str, Any] = {"offer": offer, "problem": problem, "already": already}
    status = 410 if offer.state in GONE else 200
    if offer.state not in GONE:
        context |= _contents(request, offer)
    if problem is not None:
        status = STATUS.get(problem.code, 410 if offer.state in GONE else 409)
    return render(request, "public/quote.html", context, status=status)


def _contents(request: HttpRequest, offer: Offer) -> dict[str, Any]:
    """Lines, sums and the words of the yes, for the options that are chosen or were accepted."""
    quote, revision = offer.quote, offer.revision
    lines = list(revision.lines.all())
    acceptance = Acceptance.objects.filter(revision=revision).first()
    asked = request.POST if request.method == "POST" else request.GET
    if acceptance is not None:
        options = options_of(lines, acceptance.selected)
    elif asked.get("chosen"):
        options = options_of(lines, asked.getlist("option"))
    else:
        options = frozenset(line.pk for line in lines if line.optional and line.selected)
    totals = revision.totals(lines, options)
    return {
        "lines": _rows(lines, totals),
        "totals": totals,
        "taxes": [tax for tax in totals.tax_lines if tax.tax],
        "has_options": any(line.optional for line in lines),
        "acceptance": acceptance,
        "options": sorted(str(pk) for pk in options),
        "agreement": agreement(quote, revision, totals, offer.locale),
        "name": request.POST.get("name", ""),
    }


def _rows(lines: list[QuoteLine], totals: Totals) -> list[dict[str, Any]]:
    heading = ""
    rows = []
    for line, row in zip(lines, totals.lines, strict=True):
        rows.append({"line": line, "net": row.net, "counts": row.counts, "discount": row.discount})
        rows[-1]["group"] = line.group if line.group != heading else ""
        heading = line.group
    return rows


def _see_other(offer: Offer) -> HttpResponse:
    response = redirect("public_quote", offer.token)
    response.status_code = 303
    return response


def _whole(text: str) -> int:
    """Cents as the form carries them; anything else equals no total."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else -1
