"""Lines of a quote or an invoice out of a sentence: "3 bundles of shingles and 2 hours of labor"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from assistant.agent.rehearsal.memory import Entity, items_of, ref_of
from assistant.agent.rehearsal.situation import Situation
from assistant.agent.rehearsal.steps import Call, call
from assistant.agent.rehearsal.words import decimal_text, plain

UNITS: Final = (
    r"(?:bundles?|squares?|sqs?|sq ?ft|hours?|hrs?|feet|foot|ft|lf|linear feet|pieces?|pcs|units?|rolls?|boxes|sheets?|"
    r"days?|sets?|kits?|m²|m2|metros quadrados|metros?|horas?|h|un|unidades?|pe[cç]as?|caixas?|sacos?|rolos?|"
    r"dias?|di[aá]rias?|"
    r"vb|m)"
)
ONE: Final = re.compile(r"^(?:a|an|one|the|um|uma|a|o)\s+", re.IGNORECASE)
ITEM: Final = re.compile(
    rf"^(?:(?P<qty>\d[\d.,]*)\s*(?:x\s+)?(?:{UNITS}\b\.?\s*(?:of|de|do|da)?\s*)?)?(?P<name>[^\d].*?)"
    r"(?:\s+(?:at|@|for|por|a|cada)\s*(?:R\$|\$)\s*(?P<price>\d[\d.,]*\d|\d).*)?$",
    re.IGNORECASE,
)
SPLIT: Final = re.compile(r"\s*(?:;|\n|\+|,(?!\d)|\band\b|\be\b|\bplus\b|\bmais\b|\bcom\b)\s*", re.IGNORECASE)
DISCOUNT: Final = re.compile(
    r",?\s*(?:\b(?:with|and|com|e|minus|less|menos)\s+)?(?:a\s+|um\s+)?"
    r"(\d{1,2}(?:[.,]\d{1,2})?)\s*%\s*(?:off|discount|de desconto|desconto)",
    re.IGNORECASE,
)
THEN_SEND: Final = re.compile(
    r"[,;.]?\s*\b(?:and|then|e|depois|em seguida)?\s*(?:then\s+)?"
    r"\b(?:send|e-?mail|mand[ae]r?|envi[ae]r?)\b[^\d:]{0,30}$",
    re.IGNORECASE,
)
START: Final = re.compile(r"\s*(?::|\bwith\b|\bcom\b|\bfor\b(?=\s*\d)|(?=\b\d))\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """One wished line; `price` is decimal text where the person named one."""

    name: str
    qty: str
    price: str = ""

    @property
    def query(self) -> str:
        """The name in the singular: it finds the plural too."""
        words = self.name.split()
        return " ".join(
            word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in words
        )


@dataclass(frozen=True, slots=True)
class Order:
    """A sentence taken apart: whom it is for, what, at which discount, and whether it shall go out at once."""

    head: str
    items: tuple[Item, ...]
    discount: str
    then_send: bool


def read_order(text: str, language: str) -> Order:
    cut = THEN_SEND.search(text)
    then_send = cut is not None and cut.start() > 0
    text = text[: cut.start()] if cut and then_send else text
    found = DISCOUNT.search(text)
    discount = decimal_text(found[1], language, places=2).removesuffix(".00") if found else ""
    text = DISCOUNT.sub("", text)
    start = START.search(text)
    head, tail = (text[: start.start()], text[start.end() :]) if start else (text, "")
    return Order(head, tuple(items_in(tail, language)), discount, then_send)


def items_in(text: str, language: str) -> list[Item]:
    items = []
    for part in SPLIT.split(text):
        match = ITEM.match(part.strip(" .!?"))
        name = ONE.sub("", match["name"]).strip(" .!?") if match else ""
        if match and re.search(r"[^\W\d]{2}", name):
            qty = decimal_text(match["qty"] or "1", language, places=3)
            items.append(Item(name, qty or "1", decimal_text(match["price"], language) if match["price"] else ""))
    return items


def price_calls(s: Situation, items: tuple[Item, ...]) -> tuple[Call, ...]:
    """A look into the price book for each item that has not been looked up in this turn."""
    if not s.offers("search_price_book"):
        return ()
    missing = [item for item in items if s.result("search_price_book", query=item.query) is None]
    return tuple(call(s, "search_price_book", query=item.query) for item in missing)


def priced(s: Situation, items: tuple[Item, ...]) -> tuple[list[dict[str, Any]], list[str]]:
    """The lines as the tools take them, and the names for which there is no price."""
    lines: list[dict[str, Any]] = []
    unknown = []
    for item in items:
        found = best_match(s, item)
        if found:
            lines.append(
                {"price_item_ref": found.ref, "qty": item.qty} | ({"unit_price": item.price} if item.price else {})
            )
        elif item.price:
            lines.append({"description": item.name, "qty": item.qty, "unit_price": item.price})
        else:
            unknown.append(item.name)
    return lines, unknown


def best_match(s: Situation, item: Item) -> Entity | None:
    """The price book's entry that has most of the item's words; the book's own order decides between equals."""
    done = s.result("search_price_book", query=item.query)
    if done is None or done.error:
        return None
    wanted = set(plain(item.query).split())
    found = [Entity(ref_of(one), one) for one in items_of(done.result) if isinstance(one, dict) and ref_of(one)]
    return max(found, key=lambda one: sum(word in plain(one.name) for word in wanted), default=None)
