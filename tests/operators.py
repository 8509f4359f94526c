"""The operator's staff in tests: people of no company, and a browser that has entered one."""

import secrets

from django.test import Client
from django.urls import reverse

from ledger.models import Company, User
from tests.cast import PASSWORD


def staff(**given: object) -> User:
    """One of the staff; `is_superuser=True` for one who manages the others."""
    user: User = User.objects.create_user(
        f"ops-{secrets.token_hex(4)}@operator.example", PASSWORD, is_staff=True, **given
    )
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
