"""Invoices and payments."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final

from assistant.agent.rehearsal.describing import described, money
from assistant.agent.rehearsal.finding import find_documents, find_party
from assistant.agent.rehearsal.intents import Intent
from assistant.agent.rehearsal.memory import Entity
from assistant.agent.rehearsal.ordering import price_calls, priced, read_order
from assistant.agent.rehearsal.situation import Situation
from assistant.agent.rehearsal.steps import Step, Want, after, do, phrase, say
from assistant.agent.rehearsal.stories.quotes import channel_in
from assistant.agent.rehearsal.words import amounts_in, decimal_text, plain, refs_in

METHODS: Final = (
    ("check", r"\b(check|cheque)\b"),
    ("cash", r"\b(cash|dinheiro|especie)\b"),
    ("transfer", r"\b(transfer|wire|ach|zelle|bank|pix|transferencia|ted|deposito)\b"),
)
REASONS: Final = (
    ("duplicate", r"\b(duplicate|twice|double|duplicad[oa]|duas vezes|em dobro)\b"),
    ("service_issue", r"\b(leak\w*|broken|defect\w*|damage\w*|fault\w*|vaz\w*|gote\w*|quebr\w*|defeito|estrag\w*)\b"),
    ("cancelled", r"\b(cancel\w*|called off|desist\w*)\b"),
    ("overcharge", r"\b(overcharg\w*|too much|a mais|cobrad[oa] errado)\b"),
    ("goodwill", r"\b(goodwill|courtesy|cortesia|gentileza)\b"),
)
REFERENCE: Final = re.compile(r"(?:\bnumber|\bno\.|#|\bn[uú]mero|\bcheck|\bcheque)\s*#?(\d{2,12})\b", re.IGNORECASE)
IN_FULL: Final = re.compile(r"\b(full|all of it|everything|whole|tudo|total|inteir[oa]|integral)\b")
PERCENT: Final = re.compile(r"(\d{1,3})\s*%")


def create_invoice(s: Situation, want: Want) -> Step:
    """From a quote, or from lines."""
    if not s.offers("create_invoice"):
        return say(s, "cannot_yet")
    if made := s.result("create_invoice"):
        one = s.memory.get(s.memory.latest("invoice"))
        return say(s, "did_not_work", why=made.error) if made.error else say(s, "invoice_made", one=described(s, one))
    order = read_order(want.text, s.language)
    if refs_in(want.words, ("Q", "ORC")) or not order.items:
        return _invoice_of_quote(s, want)
    party = find_party(s, want, order.head, ("client",))
    calls = (party.calls if isinstance(party, Step) else ()) + price_calls(s, order.items)
    if isinstance(party, Step) and not party.calls:
        return party
    if calls:
        return Step("", calls)
    lines, unknown = priced(s, order.items)
    if unknown or isinstance(party, Step):
        return say(s, "not_in_price_book", names=", ".join(unknown))
    return do(s, "create_invoice", client_ref=party.ref, lines=lines)


def _invoice_of_quote(s: Situation, want: Want) -> Step:
    found = find_documents(s, want, want.text, "quote")
    if isinstance(found, Step):
        return found
    quote = found[0]
    if not quote.party_ref and s.offers("get_quote") and s.result("get_quote", quote_ref=quote.ref) is None:
        return do(s, "get_quote", quote_ref=quote.ref)
    percent = PERCENT.search(want.words)
    return do(
        s,
        "create_invoice",
        client_ref=quote.party_ref,
        quote_ref=quote.ref,
        percent_of_quote=percent[1] if percent else None,
    )


def remind(s: Situation, want: Want) -> Step:
    if not s.offers("send_payment_reminder"):
        return say(s, "cannot_yet")
    if step := after(s, "send_payment_reminder"):
        return step
    found = find_documents(s, want, want.text, "invoice")
    if isinstance(found, Step):
        return found
    channel, text = channel_in(want.words), phrase(s, "card_invoice", one=described(s, found[0]))
    return do(s, "send_payment_reminder", text, invoice_ref=found[0].ref, channel=channel, tone="friendly")


def record_payment(s: Situation, want: Want) -> Step:
    if not s.offers("record_payment"):
        return say(s, "cannot_yet")
    if step := after(s, "record_payment"):
        return step
    amounts = amounts_in(REFERENCE.sub(" ", want.words), s.language)
    party = find_party(s, want, want.text, ("client",))
    if isinstance(party, Step):
        return party
    if not amounts:
        return say(s, "ask_amount")
    return do(
        s,
        "record_payment",
        phrase(s, "card_payment", amount=money(s, amounts[0]), name=party.name or party.ref),
        client_ref=party.ref,
        amount=amounts[0],
        method=_word(want.words, METHODS, "other"),
        received_on=_received(s, want.words),
        allocations=_allocations(want.words, amounts[0]),
        reference=_reference(want.words),
    )


def refund_payment(s: Situation, want: Want) -> Step:
    """The payment by its ref, or the one payment of the client who is named."""
    if not s.offers("refund_payment"):
        return say(s, "cannot_yet")
    if step := after(s, "refund_payment"):
        return step
    found = find_documents(s, want, want.text, "payment")
    if isinstance(found, Step):
        return found
    payment = found[0]
    amount = _refunded(s, want, payment)
    if not amount:
        return say(s, "ask_amount")
    return do(
        s,
        "refund_payment",
        phrase(s, "card_refund", amount=money(s, amount), ref=described(s, payment)),
        payment_ref=payment.ref,
        amount=amount,
        reason=_word(want.words, REASONS, "other"),
        note=want.text[:500],
    )


def _refunded(s: Situation, want: Want, payment: Entity) -> str:
    amounts = amounts_in(want.words, s.language)
    if amounts:
        return amounts[-1]
    if IN_FULL.search(plain(want.words)):
        digits = re.search(r"\d[\d.,]*", payment.total)
        return decimal_text(digits[0], s.language) if digits else ""
    return ""


def _word(text: str, codes: tuple[tuple[str, str], ...], otherwise: str) -> str:
    words = plain(text)
    return next((code for code, pattern in codes if re.search(pattern, words)), otherwise)


def _received(s: Situation, text: str) -> str:
    yesterday = re.search(r"\b(yesterday|ontem)\b", plain(text)) is not None
    return (s.today - timedelta(days=int(yesterday))).isoformat()


def _allocations(text: str, amount: str) -> list[dict[str, Any]]:
    refs = refs_in(text, ("INV", "FAT"))
    return [{"invoice_ref": refs[0], "amount": amount}] if len(refs) == 1 else []


def _reference(text: str) -> str:
    found = REFERENCE.search(text)
    return found[1] if found else ""


STORIES: Final = {
    Intent.CREATE_INVOICE: create_invoice,
    Intent.REMIND: remind,
    Intent.RECORD_PAYMENT: record_payment,
    Intent.REFUND: refund_payment,
}
