"""Quotes: write, change, show, send, delete."""

from __future__ import annotations

import re
from typing import Any, Final

from assistant.agent.rehearsal.describing import described
from assistant.agent.rehearsal.finding import find_documents, find_party
from assistant.agent.rehearsal.intents import Intent
from assistant.agent.rehearsal.memory import Entity
from assistant.agent.rehearsal.ordering import Item, items_in, price_calls, priced, read_order
from assistant.agent.rehearsal.situation import Done, Situation
from assistant.agent.rehearsal.steps import Step, Want, after, call, do, phrase, say
from assistant.agent.rehearsal.words import decimal_text, email_in, plain, without_refs

CHANNELS: Final = (
    ("whatsapp", r"\b(whats ?app|whats|zap|wpp)\b"),
    ("sms", r"\b(sms|text message|by text|torpedo)\b"),
)
EDITORS: Final = ("edit_quote_lines", "update_quote_lines")
PREVIEWS: Final = ("preview_quote", "preview_quote_pdf")
ADD: Final = re.compile(
    r"\b(?:add|put|include|adicion\w*|inclu\w*|coloc\w*)\b\s*(?P<items>.+?)\s*\b(?:to|on|in|into|na|no|ao|em)\b[^:]*$",
    re.IGNORECASE,
)
REMOVE: Final = re.compile(
    r"\b(?:remove|drop|take|delete|tir\w*|remov\w*|exclu\w*)\b\s+(?:out |off )?(?:the |o |a |os |as )?(?P<name>.+?)\s*"
    r"\b(?:from|off|out of|on|in|da|do|na|no)\b",
    re.IGNORECASE,
)
CHANGE: Final = re.compile(
    r"\b(?:change|set|update|make|mud\w*|alter\w*|troc\w*)\b\s+(?:the |o |a |os |as )?"
    r"(?:(?:qty|quantity|price|amount|quantidade|pre[cç]o|valor)\s+(?:of|for|d[aeo]s?)\s+)?(?:the |o |a |os |as )?"
    r"(?P<name>.+?)\s+(?:(?:in|on|of|at|na|no|da|do)\s+.*?)?"
    r"\b(?:to|for|para|pra)\b\s*(?P<money>R\$|\$)?\s*(?P<number>\d[\d.,]*)",
    re.IGNORECASE,
)


def send_quote(s: Situation, want: Want) -> Step:
    """Resolve which quotes, then one card for each."""
    return _send(s, want, "quote", "send_quote", "quote_ref")


def send_invoice(s: Situation, want: Want) -> Step:
    return _send(s, want, "invoice", "send_invoice", "invoice_ref")


def _send(s: Situation, want: Want, kind: str, tool: str, argument: str) -> Step:
    if not s.offers(tool):
        return say(s, "cannot_yet")
    if step := after(s, tool):
        return step
    found = find_documents(s, want, want.text, kind)
    if isinstance(found, Step):
        return found
    channel, to = channel_in(want.words), email_in(want.words)
    calls = tuple(call(s, tool, **{argument: one.ref}, channel=channel, to=to) for one in found)
    if len(found) == 1:
        return Step(phrase(s, f"card_{kind}", one=described(s, found[0])), calls)
    return Step(phrase(s, "card_quotes", listed=", ".join(described(s, one) for one in found)), calls)


def create_quote(s: Situation, want: Want) -> Step:
    """Price book and party first, then the draft; then the card, if the sentence asked for it."""
    if not s.offers("create_quote"):
        return say(s, "cannot_yet")
    order = read_order(want.text, s.language)
    items = order.items or tuple(item for answer in want.answers for item in items_in(answer, s.language))
    if made := s.result("create_quote"):
        return _made(s, made, order.then_send)
    party = find_party(s, want, order.head)
    if isinstance(party, Step) and not party.calls:
        return party
    if not items:
        return party if isinstance(party, Step) else say(s, "ask_lines")
    calls = (party.calls if isinstance(party, Step) else ()) + price_calls(s, items)
    if calls:
        return Step("", calls)
    lines, unknown = priced(s, items)
    if unknown or isinstance(party, Step):
        return say(s, "not_in_price_book", names=", ".join(unknown))
    what = ", ".join(item.name for item in items)
    title = phrase(s, "quote_title", what=what)[:160]
    return do(s, "create_quote", party_ref=party.ref, title=title, lines=lines, discount_pct=order.discount)


def _made(s: Situation, made: Done, then_send: bool) -> Step:
    if made.error:
        return say(s, "did_not_work", why=made.error)
    ref = s.memory.latest("quote")
    one = s.memory.get(ref)
    if not then_send or not ref or not s.offers("send_quote"):
        return say(s, "quote_made", one=described(s, one))
    return after(s, "send_quote") or do(
        s, "send_quote", phrase(s, "card_quote", one=described(s, one)), quote_ref=ref, channel="email"
    )


def preview_quote(s: Situation, want: Want) -> Step:
    tool = s.offers(*PREVIEWS)
    if not tool:
        return say(s, "cannot_yet")
    found = find_documents(s, want, want.text, "quote")
    if isinstance(found, Step):
        return found
    done = s.result(tool)
    if done is None:
        return do(s, tool, quote_ref=found[0].ref)
    return say(s, "did_not_work", why=done.error) if done.error else say(s, "preview", one=described(s, found[0]))


def delete_quote(s: Situation, want: Want) -> Step:
    if not s.offers("delete_quote"):
        return say(s, "cannot_yet")
    if step := after(s, "delete_quote"):
        return step
    found = find_documents(s, want, want.text, "quote")
    if isinstance(found, Step):
        return found
    one = found[0]
    hint = want.hint((one.party_name or one.name or one.ref)[:40], one.ref)
    return do(s, "delete_quote", phrase(s, "card_delete", name=described(s, one)), quote_ref=one.ref, subject_hint=hint)


def edit_lines(s: Situation, want: Want) -> Step:
    """Read the quote (for its lines and version), look up prices, then change the lines."""
    tool = s.offers(*EDITORS)
    if not tool or not s.offers("get_quote"):
        return say(s, "cannot_yet")
    found = find_documents(s, want, want.text, "quote")
    if isinstance(found, Step):
        return found
    quote = found[0]
    if done := s.result(tool):
        return (
            say(s, "did_not_work", why=done.error) if done.error else say(s, "lines_changed", one=described(s, quote))
        )
    read = s.result("get_quote", quote_ref=quote.ref)
    if read is None:
        return do(s, "get_quote", quote_ref=quote.ref)
    if read.error:
        return say(s, "did_not_work", why=read.error)
    operations = _operations(s, without_refs(want.text), quote, read)
    if isinstance(operations, Step):
        return operations
    version = read.result.get("version")
    return do(s, tool, quote_ref=quote.ref, expected_version=version, operations=operations)


def _operations(s: Situation, text: str, quote: Entity, read: Done) -> list[dict[str, Any]] | Step:
    if match := REMOVE.search(text):
        line = _line_number(read, match["name"])
        return [{"op": "remove", "line": line}] if line else say(s, "no_such_line", name=match["name"], ref=quote.ref)
    if match := CHANGE.search(text):
        line = _line_number(read, match["name"])
        if not line:
            return say(s, "no_such_line", name=match["name"], ref=quote.ref)
        price = bool(match["money"]) or bool(re.search(r"\b(price|preco)\b", plain(text)))
        number = decimal_text(match["number"], s.language, places=2 if price else 3)
        value = {"qty": _quantity(read, line), "unit_price": number} if price else {"qty": number}
        return [{"op": "update", "line": line, "value": value}]
    if match := ADD.search(text):
        items: tuple[Item, ...] = tuple(items_in(match["items"], s.language))
        if calls := price_calls(s, items):
            return Step("", calls)
        lines, unknown = priced(s, items)
        if unknown:
            return say(s, "not_in_price_book", names=", ".join(unknown))
        return [{"op": "add", "value": line} for line in lines] or say(s, "ask_edit")
    return say(s, "ask_edit")


def _line_number(read: Done, name: str) -> int:
    """The number of the line whose description has most of the words, or 0."""
    lines = [line for line in read.result.get("lines") or () if isinstance(line, dict)]
    wanted = {word.rstrip("s") for word in plain(name).split()}
    scores = [sum(word in plain(Entity("", line).name) for word in wanted) for line in lines]
    if not scores or not max(scores):
        return 0
    place = scores.index(max(scores))
    number = next((lines[place][key] for key in ("line", "number", "position") if key in lines[place]), place + 1)
    return int(number)


def _quantity(read: Done, line: int) -> str:
    lines = [one for one in read.result.get("lines") or () if isinstance(one, dict)]
    known = next((one for one in lines if one.get("line") == line), lines[line - 1] if line <= len(lines) else {})
    return str(known.get("qty") or known.get("quantity") or "1")


def channel_in(text: str) -> str:
    """By which way it shall go out; e-mail unless the text names another."""
    words = plain(text)
    return next((channel for channel, pattern in CHANNELS if re.search(pattern, words)), "email")


STORIES: Final = {
    Intent.SEND_QUOTE: send_quote,
    Intent.SEND_INVOICE: send_invoice,
    Intent.CREATE_QUOTE: create_quote,
    Intent.PREVIEW_QUOTE: preview_quote,
    Intent.DELETE_QUOTE: delete_quote,
    Intent.EDIT_LINES: edit_lines,
}
