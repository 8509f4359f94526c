"""Records in a few words, from the facts that tool results gave; nothing is computed."""

from __future__ import annotations

import re
from typing import Final

from assistant.agent.rehearsal.memory import Entity
from assistant.agent.rehearsal.situation import Situation
from assistant.agent.rehearsal.words import plain

STATUS: Final = {
    "draft": "rascunho",
    "sent": "enviado",
    "viewed": "visto",
    "accepted": "aceito",
    "declined": "recusado",
    "expired": "expirado",
    "changes_requested": "alteração pedida",
    "withdrawn": "retirado",
    "converted": "convertido",
    "issued": "emitida",
    "overdue": "vencida",
    "paid": "paga",
    "partially_paid": "paga em parte",
    "void": "anulada",
    "new": "novo",
    "contacted": "contatado",
    "inspection_scheduled": "vistoria marcada",
    "estimating": "orçando",
    "quoted": "orçado",
    "won": "ganho",
    "lost": "perdido",
    "junk": "descartado",
    "pending": "aguardando decisão",
    "awaiting_second": "aguardando a segunda aprovação",
    "scheduled": "confirmado, na fila",
    "executing": "em execução",
    "executed": "executado",
    "failed": "falhou",
    "rejected": "recusado",
    "cancelled": "cancelado",
    "superseded": "substituído",
    "in_doubt": "em dúvida",
    "succeeded": "recebido",
    "refunded": "reembolsado",
    "partially_refunded": "reembolsado em parte",
}


def status_word(s: Situation, code: str) -> str:
    if s.language == "pt":
        return STATUS.get(code, code.replace("_", " "))
    return code.replace("_", " ")


def money(s: Situation, amount: str) -> str:
    """Decimal text with the currency's sign, written as in its country; what is written out already stays."""
    if not re.fullmatch(r"-?\d+(\.\d+)?", amount):
        return amount
    currency = s.memory.currency or s.currency
    sign, digits = ("-", amount[1:]) if amount.startswith("-") else ("", amount)
    whole, _, part = digits.partition(".")
    text = f"{int(whole):,}.{part.ljust(2, '0')}"
    if currency == "BRL":
        return f"{sign}R$ {text.translate(str.maketrans(',.', '.,'))}"
    return f"{sign}${text}" if currency == "USD" else f"{sign}{currency} {text}".replace(" ", "", not currency)


def described(s: Situation, one: Entity) -> str:
    """One line: ref, whose it is, what it is, amount, state."""
    owner = one.party_name or s.memory.get(one.party_ref).name if one.party_ref or one.party_name else ""
    is_party = one.kind in ("client", "lead")
    name = one.name if is_party or not owner else owner
    place = one.fact("city", "address", "site") if is_party else _place_of_namesake(s, one)
    title = one.fact("title") if name != one.fact("title") else ""
    amount = one.fact("balance") or one.total or one.fact("unit_price", "price", "value")
    amount = "" if is_party and not amount.strip("0.") else money(s, amount)
    unit = one.fact("unit")
    state = status_word(s, one.fact("status", "stage")) if one.fact("status", "stage") else ""
    days = one.fact("days_late", "days_overdue")
    late = (f"{days} dias de atraso" if s.language == "pt" else f"{days} days late") if days else ""
    details = [part for part in (title, place, f"{amount}/{unit}" if amount and unit else amount, state, late) if part]
    head = " ".join(part for part in (f"**{one.ref}**" if one.ref else "", name) if part)
    return f"{head} ({', '.join(details)})" if details else head


def _place_of_namesake(s: Situation, one: Entity) -> str:
    """Where a document's owner is, if another party of the same name has been seen (H30)."""
    owner = s.memory.get(one.party_ref)
    same = (plain(other.name) for other in s.memory.entities.values() if other.kind in ("client", "lead"))
    return owner.fact("city", "email") if owner.name and list(same).count(plain(owner.name)) > 1 else ""
