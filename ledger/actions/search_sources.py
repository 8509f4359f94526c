"""Where a search looks: one function for each kind of record, one query in each."""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.search import TrigramWordSimilarity
from django.db.models import Case, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When

from ledger.actions.search_query import Query, Strength
from ledger.models import Client, Invoice, Lead, Quote, QuoteRevision, Site
from ledger.money import amount_text

SIMILAR_ENOUGH = 0.5
CLOSED_QUOTES = (
    Quote.Status.DECLINED,
    Quote.Status.EXPIRED,
    Quote.Status.WITHDRAWN,
    Quote.Status.CONVERTED,
)
PartyKey = tuple[str, uuid.UUID]


@dataclass(frozen=True)
class Found:
    """A row that answers, and the party it belongs to."""

    kind: str
    ref: str
    name: str
    strength: Strength
    party_key: PartyKey
    party_ref: str
    details: dict[str, Any]


def find_clients(query: Query, limit: int) -> list[Found]:
    rows = _named(Client.objects.filter(deleted_at=None), query).prefetch_related("contacts")
    return [_client(row, query) for row in rows[:limit]]


def find_leads(query: Query, limit: int) -> list[Found]:
    rows = _named(Lead.objects.filter(deleted_at=None), query).select_related("converted_client")
    return [_lead(row, query) for row in rows[:limit]]


def find_sites(query: Query, limit: int) -> list[Found]:
    rows = _asked(Site.objects.filter(deleted_at=None), query).select_related("client", "lead")
    return [_site(row, query) for row in rows.order_by("ref")[:limit]]


def find_quotes(query: Query, limit: int) -> list[Found]:
    """Quotes by their own ref, title and amount, and by the name of whom they are for."""
    rows = with_totals(Quote.objects.filter(deleted_at=None))
    more = Q(total_cents__in=query.cents) | query.contained("client__search") | query.contained("lead__search")
    rows = _asked(rows, query, more).select_related("client", "lead").order_by("-created_at", "-id")
    return [_quote(row, query) for row in rows[:limit]]


def find_invoices(query: Query, limit: int) -> list[Found]:
    """Invoices by their number, title, total or balance, and by the name of whom they are for."""
    amount = Q(total_cents__in=query.cents) | Q(balance_cents__in=query.cents)
    rows = _asked(Invoice.objects.filter(deleted_at=None), query, amount | query.contained("client__search"))
    rows = rows.select_related("client").order_by("-created_at", "-id")
    return [_invoice(row, query) for row in rows[:limit]]


NAMED: tuple[str, ...] = ("client", "lead")
SOURCES: dict[str, Callable[[Query, int], list[Found]]] = {
    "client": find_clients,
    "lead": find_leads,
    "site": find_sites,
    "quote": find_quotes,
    "invoice": find_invoices,
}


def open_documents(parties: Iterable[PartyKey], each: int) -> dict[PartyKey, list[dict[str, Any]]]:
    """What is open with these parties, newest first, at most `each` quotes and invoices of one: a query for both."""
    wanted = list(parties)
    clients, leads = ([key for kind, key in wanted if kind == name] for name in ("client", "lead"))
    found: dict[PartyKey, list[dict[str, Any]]] = {}
    if wanted:
        quotes = with_totals(Quote.objects.filter(Q(client__in=clients) | Q(lead__in=leads), deleted_at=None))
        rows = quotes.exclude(status__in=CLOSED_QUOTES).order_by("-created_at", "-id")
        _keep(found, rows[: each * len(wanted) * 2], each, _told_quote)
    if clients:
        open_ones = Q(status__in=Invoice.PAYABLE, balance_cents__gt=0) | Q(status=Invoice.Status.DRAFT)
        invoices = Invoice.objects.filter(open_ones, client__in=clients, deleted_at=None).order_by("-created_at", "-id")
        bills: dict[PartyKey, list[dict[str, Any]]] = {}
        _keep(bills, invoices[: each * len(wanted) * 2], each, _told_invoice)
        for key, told in bills.items():
            found.setdefault(key, []).extend(told)
    return found


def _keep(
    found: dict[PartyKey, list[dict[str, Any]]], rows: Iterable[Any], each: int, told: Callable[[Any], dict[str, Any]]
) -> None:
    for row in rows:
        of_party = found.setdefault(_party_of(row), [])
        if len(of_party) < each:
            of_party.append({"kind": row._meta.model_name, "ref": row.ref, "title": row.title, **told(row)})


def with_totals(quotes: QuerySet[Quote]) -> QuerySet[Any]:
    """The quotes with `total_cents` of their newest revision."""
    newest = QuoteRevision.objects.filter(quote=OuterRef("pk"), n=OuterRef("revision"))
    counted: QuerySet[Any] = quotes.annotate(total_cents=Subquery(newest.values("total_cents")[:1]))
    return counted


def _asked(rows: QuerySet[Any], query: Query, more: Q | None = None) -> QuerySet[Any]:
    """The rows that answer. A trigram index would not serve here: LIKE may not run before row-level security has
    chosen the rows (it is not leakproof), so the company's rows are read, 20 ms for 50,000 of them.
    """
    condition = query.contained() | more if more is not None else query.contained()
    if query.ref:
        condition |= Q(ref=query.ref)
    found: QuerySet[Any] = rows.filter(condition)
    return found


def _named(rows: QuerySet[Any], query: Query) -> QuerySet[Any]:
    return _nearly(rows, query) if query.fuzzy else _best_first(_asked(rows, query), query)


def _nearly(rows: QuerySet[Any], query: Query) -> QuerySet[Any]:
    """The rows whose name is spelt nearly so, closest first."""
    close = rows.annotate(closeness=TrigramWordSimilarity(query.key, F("name_key")))
    found: QuerySet[Any] = close.filter(closeness__gte=SIMILAR_ENOUGH).order_by("-closeness", "ref")
    return found


def _best_first(rows: QuerySet[Any], query: Query) -> QuerySet[Any]:
    """Whole names before parts of one, so that a limit cuts the weaker ones."""
    rank = Case(
        When(ref=query.ref, then=Value(0)),
        When(name_key=" ".join(query.words), then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    return rows.order_by(rank, "ref")


def _client(row: Client, query: Query) -> Found:
    contact = row.main_contact
    details = {
        "city": row.city,
        "email": contact.email if contact else "",
        "phone": contact.phone if contact else "",
        "contact": contact.name if contact else "",
        "archived": row.archived_at is not None,
    }
    strength = query.strength(ref=row.ref, name_key=row.name_key, search=row.search)
    return Found("client", row.ref, row.name, strength, ("client", row.pk), row.ref, details)


def _lead(row: Lead, query: Query) -> Found:
    """A converted lead belongs to its client, so that the two are not taken for two people."""
    client = row.converted_client
    party: PartyKey = ("client", client.pk) if client else ("lead", row.pk)
    details = {"city": row.city, "email": row.email, "phone": row.phone, "stage": row.stage, "source": row.source}
    strength = query.strength(ref=row.ref, name_key=row.name_key, search=row.search)
    return Found("lead", row.ref, row.name, strength, party, client.ref if client else row.ref, details)


def _site(row: Site, query: Query) -> Found:
    party: Client | Lead = row.client or row.lead  # type: ignore[assignment]  # one of the two, by a constraint
    strength = query.strength(ref=row.ref, name_key="", search=row.search)
    details = {"address": row.address, "label": row.label, "party_name": party.name}
    return Found("site", row.ref, row.label or row.line1, strength, _party_of(row), party.ref, details)


def _quote(row: Any, query: Query) -> Found:
    party: Client | Lead = row.party
    strength = query.strength(ref=row.ref, name_key=party.name_key, search=f"{row.search} {party.search}")
    if row.total_cents in query.cents and strength is not Strength.REF:
        strength = Strength.AMOUNT
    details = {"party_name": party.name, **_told_quote(row)}
    return Found("quote", row.ref, row.title, strength, _party_of(row), party.ref, details)


def _invoice(row: Invoice, query: Query) -> Found:
    client = row.client
    strength = query.strength(ref=row.ref, name_key=client.name_key, search=f"{row.search} {client.search}")
    if {row.total_cents, row.balance_cents} & set(query.cents) and strength is not Strength.REF:
        strength = Strength.AMOUNT
    details = {"party_name": client.name, **_told_invoice(row)}
    return Found("invoice", row.ref, row.title, strength, _party_of(row), client.ref, details)


def _party_of(row: Any) -> PartyKey:
    """Of a site or a document: its client, or its lead."""
    return ("client", row.client_id) if row.client_id else ("lead", row.lead_id)


def _told_quote(row: Any) -> dict[str, Any]:
    return {"status": row.status, "total": amount_text(row.total_cents or 0), "currency": row.currency}


def _told_invoice(row: Invoice) -> dict[str, Any]:
    return {
        "status": row.status,
        "total": amount_text(row.total_cents),
        "balance": amount_text(row.balance_cents),
        "currency": row.currency,
        "due_on": row.due_on.isoformat() if row.due_on else "",
    }
