"""The operator's staff in tests: people of no company, and a browser that has entered one."""

import json
import secrets
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from ledger.actions.messages import draft_message
from ledger.models import AuditEvent, Company, User
from tests import bills
from tests.cast import PASSWORD, Cast, joanne_smith, john_smith
from tests.offers import cedar_bend, send


def staff(**given: object) -> User:
    """One of the staff; `is_superuser=True` for one who manages the others."""
    email = f"ops-{secrets.token_hex(4)}@operator.example"
    user: User = User.objects.create_user(email, PASSWORD, is_staff=True, **given)
    return user


def browser(user: User) -> Client:
    """A browser in which this person has signed in."""
    client = Client()
    client.force_login(user)
    return client


def inside(company: Company, user: User | None = None) -> Client:
    """A browser of the staff that has entered the company through the chooser."""
    client = browser(user or staff())
    response = client.post(reverse("admin:company"), {"company": str(company.pk)})
    assert response.status_code == 302, response.content
    return client


STRANGE = "0190f3a2-0000-7000-8000-000000000000"
"""An id that nothing has."""


def url(model: Any, page: str, *args: Any) -> str:
    """The address of a page of a model: url(Client, "change", id)."""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def text(response: HttpResponse) -> str:
    """What the page says, as HTML."""
    return response.content.decode()


def events(cast: Cast, kind: str) -> list[dict[str, Any]]:
    """The bodies of a company's audit events of one kind, in order."""
    with cast.scope():
        return [json.loads(event.body) for event in AuditEvent.objects.filter(kind=kind).order_by("at")]


def fill(cast: Cast) -> Cast:
    """The cast's company with at least one row for almost each list of the ledger."""
    with cast.scope():
        client = john_smith(cast)
        joanne_smith(cast)
        send(cast, cedar_bend(cast, client))
        draft_message(client, by=cast.owner, channel="email", subject="Hello", body="See you on Monday.")
        invoice = bills.issued(cast, "100.00", client=client)
        bills.charged(cast, 5_000, invoice)
    return cast
