"""What events are about, by name, with the page where it stands: found for all of a page's events at once."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, CharField, ExpressionWrapper, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.urls import reverse

from assistant.models import PendingAction
from ledger.compiled import Compiled, Slot, some_ids
from ledger.models import Client, ClientMessage, Invoice, Lead, Membership, Payment, PriceItem, Quote

ACTION = "pendingaction"
PAGES: dict[str, tuple[Any, str]] = {
    "client": (Client, "client"),
    "lead": (Lead, "lead"),
    "quote": (Quote, "quote"),
    "invoice": (Invoice, "invoice"),
    "payment": (Payment, "payment"),
    "clientmessage": (ClientMessage, "message"),
    "priceitem": (PriceItem, ""),
}
"""The models whose rows have a ref, and the names of their pages."""


@dataclass(frozen=True)
class Subject:
    """A name and, where it still has a page, its address."""

    text: str
    url: str = ""


def named(ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Subject]:
    """The subjects of these ids, in one query. What has no ref of its own is left out."""
    wanted = list(ids)
    if not wanted:
        return {}
    return {key: _subject(kind, key, text, gone) for key, kind, text, gone in NAMED.all(ids=wanted)}


def find(text: str) -> uuid.UUID | None:
    """The id of what a ref or an id names; None where a ref names nothing."""
    text = text.strip()
    try:
        return uuid.UUID(text)
    except ValueError:
        pass
    return OF_REF.first(ref=text.upper()[:24])


def _rows(found: "QuerySet[Any]", kind: str, name: str, *, gone: Q) -> "QuerySet[Any]":
    return found.annotate(
        of_kind=Value(kind, CharField()),
        called=Cast(name, TextField()),
        gone=ExpressionWrapper(gone, BooleanField()),
    ).values_list("pk", "of_kind", "called", "gone")


def _all_named() -> "QuerySet[Any]":
    ids = some_ids("ids")
    rows = [
        _rows(model.objects.filter(pk=ids), kind, "ref", gone=Q(deleted_at__isnull=False))
        for kind, (model, _page) in PAGES.items()
    ]
    rows.append(_rows(Membership.objects.filter(pk=ids), "membership", "name", gone=Q(active=False)))
    rows.append(_rows(PendingAction.objects.filter(pk=ids), ACTION, "summary", gone=Q(pk=None)))
    return rows[0].union(*rows[1:], all=True)


def _of_ref() -> "QuerySet[Any]":
    ref = Slot("ref", CharField())
    models = [*(model for model, _page in PAGES.values()), Membership]
    rows = [model.objects.filter(ref=ref).values_list("pk", flat=True) for model in models]
    return rows[0].union(*rows[1:], all=True)


NAMED: Compiled[Any] = Compiled(_all_named)
OF_REF: Compiled[uuid.UUID] = Compiled(_of_ref)


def _subject(kind: str, key: uuid.UUID, text: str, gone: bool) -> Subject:
    if kind == ACTION:
        return Subject(text, reverse("audit_action", args=[key]))
    page = PAGES[kind][1] if kind in PAGES else ""
    return Subject(text, reverse(page, args=[text]) if page and not gone else "")
