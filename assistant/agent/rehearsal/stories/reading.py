"""Lists and single records."""

from __future__ import annotations

from typing import Any, Final

from assistant.agent.rehearsal.describing import described, money
from assistant.agent.rehearsal.finding import find_documents, find_party, first_property
from assistant.agent.rehearsal.intents import Intent
from assistant.agent.rehearsal.memory import Entity, items_of, kind_of, ref_of
from assistant.agent.rehearsal.situation import Situation
from assistant.agent.rehearsal.steps import Step, Want, do, say
from assistant.agent.rehearsal.subjects import subject
from assistant.agent.rehearsal.words import plain, refs_in

MOST_LINES: Final = 15
GETTERS: Final = {
    "client": ("get_client", "client_ref"),
    "lead": ("get_lead", "lead_ref"),
    "quote": ("get_quote", "quote_ref"),
    "invoice": ("get_invoice", "invoice_ref"),
    "payment": ("get_payment", "payment_ref"),
}
STAGES: Final = {
    "new": ("new", "novo", "nova", "novos", "novas"),
    "contacted": ("contacted", "contatado", "contatada", "contatados"),
    "inspection_scheduled": ("inspection", "vistoria", "inspecao"),
    "estimating": ("estimating", "orcando"),
    "quoted": ("quoted", "orcado", "orcada"),
    "won": ("won", "ganho", "ganhos"),
    "lost": ("lost", "perdido", "perdida", "perdidos", "perdemos"),
    "junk": ("junk", "spam", "lixo"),
}
QUOTE_STATUSES: Final = {
    "draft": ("draft", "drafts", "rascunho", "rascunhos"),
    "sent": ("sent", "wait", "waiting", "unanswered", "enviado", "enviados", "aguardam", "aguardando", "esperam"),
    "viewed": ("viewed", "visto", "vistos"),
    "accepted": ("accepted", "aceito", "aceitos", "aprovado", "aprovados"),
    "declined": ("declined", "recusado", "recusados"),
    "expired": ("expired", "vencido", "vencidos"),
    "paid": ("paid", "paga", "pagas"),
    "overdue": ("overdue", "vencida", "vencidas", "atrasada", "atrasadas"),
}


def list_leads(s: Situation, want: Want) -> Step:
    return _listed(s, "list_leads", stage=word_code(want.text, STAGES))


def list_clients(s: Situation, want: Want) -> Step:
    return _listed(s, "list_clients")


def list_quotes(s: Situation, want: Want) -> Step:
    return _listed_for(s, want, "list_quotes", status=word_code(want.text, QUOTE_STATUSES))


def list_invoices(s: Situation, want: Want) -> Step:
    return _listed_for(s, want, "list_invoices", status=word_code(want.text, QUOTE_STATUSES))


def list_payments(s: Situation, want: Want) -> Step:
    return _listed_for(s, want, "list_payments")


def overdue(s: Situation, want: Want) -> Step:
    return _listed(s, "list_overdue_invoices")


def price(s: Situation, want: Want) -> Step:
    name = subject(want.words)
    if not s.offers("search_price_book"):
        return say(s, "cannot_yet")
    done = s.result("search_price_book", query=name) if name else s.result("search_price_book")
    if done is None:
        return do(s, "search_price_book", query=name)
    items = [Entity(ref_of(item), item) for item in items_of(done.result) if isinstance(item, dict)]
    if not items:
        return say(s, "no_price", name=name)
    return say(s, "price", lines="\n".join(f"- {described(s, item)}" for item in items[:MOST_LINES]))


def show(s: Situation, want: Want) -> Step:
    """One record by its ref or name: any kind."""
    refs = [ref for ref in refs_in(want.words) if kind_of(ref) in GETTERS]
    if refs:
        return _got(s, refs[0])
    if not subject(want.words):
        return say(s, "whom")
    party = find_party(s, want, want.text)
    return party if isinstance(party, Step) else _got(s, party.ref)


def get_quote(s: Situation, want: Want) -> Step:
    return _document(s, want, "quote")


def get_invoice(s: Situation, want: Want) -> Step:
    return _document(s, want, "invoice")


def total(s: Situation, want: Want) -> Step:
    """ "Wait, what is the total?": of what was spoken of last."""
    refs = refs_in(want.words, ("Q", "ORC", "INV", "FAT")) or [s.memory.latest("quote", "invoice")]
    if not refs[0]:
        return _document(s, want, "quote")
    getter, argument = GETTERS[kind_of(refs[0])]
    if s.offers(getter) and s.result(getter, **{argument: refs[0]}) is None:
        return do(s, getter, **{argument: refs[0]})
    amount = s.memory.get(refs[0]).total
    return say(s, "total_is", ref=refs[0], total=money(s, amount)) if amount else say(s, "no_total", ref=refs[0])


def word_code(text: str, codes: dict[str, tuple[str, ...]]) -> str:
    """The code whose word stands in the text, or ""."""
    words = plain(text).replace("?", " ").replace(".", " ").replace(",", " ").split()
    return next((code for code, names in codes.items() if set(names) & set(words)), "")


def _document(s: Situation, want: Want, kind: str) -> Step:
    found = find_documents(s, want, want.text, kind)
    return found if isinstance(found, Step) else _got(s, found[0].ref)


def _got(s: Situation, ref: str) -> Step:
    getter, argument = GETTERS[kind_of(ref)]
    if not s.offers(getter):
        return say(s, "cannot_yet")
    done = s.result(getter, **{argument: ref})
    if done is None:
        return do(s, getter, **{argument: ref})
    if done.error:
        return say(s, "did_not_work", why=done.error)
    one = s.memory.get(ref)
    lines = [_line(s, item) for item in done.result.get("lines") or () if isinstance(item, dict)]
    contact = [one.fact(key) for key in ("email", "phone", "address") if one.fact(key)]
    listed = "\n".join(f"- {line}" for line in [*contact, *lines][:MOST_LINES])
    return (
        say(s, "record_more", one=described(s, one), lines=listed)
        if listed
        else say(s, "record", one=described(s, one))
    )


def _line(s: Situation, item: dict[str, Any]) -> str:
    one = Entity("", item)
    amount = money(s, one.fact("total", "amount", "net", "unit_price"))
    return " ".join(part for part in (one.fact("qty", "quantity"), one.fact("unit"), one.name, amount) if part)


def _listed(s: Situation, tool: str, **arguments: Any) -> Step:
    if not s.offers(tool):
        return say(s, "cannot_yet")
    done = s.result(tool)
    if done is None:
        return do(s, tool, **arguments)
    if done.error:
        return say(s, "did_not_work", why=done.error)
    items = [Entity(ref_of(item), item) for item in items_of(done.result) if isinstance(item, dict)]
    if not items:
        return say(s, "empty_list")
    known = [s.memory.get(item.ref) if item.ref else item for item in items]
    lines = "\n".join(f"- {described(s, item)}" for item in known[:MOST_LINES])
    whole = Entity("", dict(done.result)).fact("total", "total_balance", "sum")
    count = done.result.get("count") if isinstance(done.result.get("count"), int) else len(items)
    return (
        say(s, "list_total", count=count, total=money(s, whole), lines=lines)
        if whole
        else say(s, "list", count=count, lines=lines)
    )


def _listed_for(s: Situation, want: Want, tool: str, **arguments: Any) -> Step:
    """A list, of one client if one is named."""
    name = subject(want.text)
    key = first_property(s, tool, ("client_ref", "party_ref")) if s.offers(tool) else ""
    status_words = {word for words in (*QUOTE_STATUSES.values(), *STAGES.values()) for word in words}
    if name[:1].isupper() and key and plain(name) not in status_words:
        party = find_party(s, want, want.text)
        if isinstance(party, Step):
            return party
        arguments[key] = party.ref
    return _listed(s, tool, **arguments)


STORIES: Final = {
    Intent.LIST_LEADS: list_leads,
    Intent.LIST_CLIENTS: list_clients,
    Intent.LIST_QUOTES: list_quotes,
    Intent.LIST_INVOICES: list_invoices,
    Intent.LIST_PAYMENTS: list_payments,
    Intent.OVERDUE: overdue,
    Intent.PRICE: price,
    Intent.SHOW: show,
    Intent.GET_QUOTE: get_quote,
    Intent.GET_INVOICE: get_invoice,
    Intent.TOTAL: total,
}
