"""What events are about, by name, with the page where it stands: found for all of a page's events at once."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, CharField, ExpressionWrapper, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.urls import reverse

from assistant.models import PendingAction
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
    rows = [
        _rows(model.objects.filter(pk__in=wanted), kind, "ref", gone=Q(deleted_at__isnull=False))
        for kind, (model, _page) in PAGES.items()
    ]
    rows.append(_rows(Membership.objects.filter(pk__in=wanted), "membership", "name", gone=Q(active=False)))
    rows.append(_rows(PendingAction.objects.filter(pk__in=wanted), ACTION, "summary", gone=Q(pk=None)))
    found = rows[0].union(*rows[1:], all=True)
    return {key: _subject(kind, key, text, gone) for key, kind, text, gone in found}


def find(text: str) -> uuid.UUID | None:
    """The id of what a ref or an id names; None where a ref names nothing."""
    text = text.strip()
    try:
        return uuid.UUID(text)
    except ValueError:
        pass
    models = [*(model for model, _page in PAGES.values()), Membership]
    rows = [model.objects.filter(ref=text.upper()[:24]).values_list("pk") for model in models]
    found: tuple[uuid.UUID] | None = rows[0].union(*rows[1:], all=True).first()
    return found[0] if found else None


def _rows(found: "QuerySet[Any]", kind: str, name: str, *, gone: Q) -> "QuerySet[Any]":
    return found.annotate(
        of_kind=Value(kind, CharField()),
        called=Cast(name, TextField()),
        gone=ExpressionWrapper(gone, BooleanField()),
    ).values_list("pk", "of_kind", "called", "gone")


def _subject(kind: str, key: uuid.UUID, text: str, gone: bool) -> Subject:
    if kind == ACTION:
        return Subject(text, reverse("audit_action", args=[key]))
    page = PAGES[kind][1] if kind in PAGES else ""
    return Subject(text, reverse(page, args=[text]) if page and not gone else "")
