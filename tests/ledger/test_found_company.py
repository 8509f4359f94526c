"""The first company of an installation, and the way in to it."""

import io
import secrets
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client as Browser

from ledger import tenancy
from ledger.models import Access, Company, Membership, User

PASSWORD = "a-house-of-our-own"


def found(monkeypatch: pytest.MonkeyPatch, slug: str, *, password: str = PASSWORD, **given: str) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    options: dict[str, Any] = {
        "country": "BR",
        "timezone": "America/Sao_Paulo",
        "owner_email": f"ana@{slug}.example",
        "owner_name": "Ana",
    }
    out = io.StringIO()
    call_command("found_company", slug, "Casa Nova Ltda", stdout=out, **options | given)
    return out.getvalue()


@pytest.fixture
def slug() -> str:
    return f"casa-{secrets.token_hex(4)}"


def test_the_owner_signs_in_with_the_password_that_was_given(monkeypatch: pytest.MonkeyPatch, slug: str) -> None:
    assert "Casa Nova Ltda" in found(monkeypatch, slug)
    user = User.objects.get(email=f"ana@{slug}.example")
    with tenancy.tenant(Access.objects.get(user=user).tenant_id):
        company, member = Company.objects.get(), Membership.objects.get()
        assert (company.slug, company.locale, company.currency) == (slug, "pt-BR", "BRL")
        assert (member.role, member.user, user.language) == ("owner", user, "pt-br")
    browser = Browser()
    answer = browser.post("/login/", {"username": user.email, "password": PASSWORD})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/c/")


def test_a_person_who_has_a_password_keeps_it(monkeypatch: pytest.MonkeyPatch, slug: str) -> None:
    found(monkeypatch, slug)
    found(monkeypatch, f"{slug}-2", password="", owner_email=f"ana@{slug}.example")
    user = User.objects.get(email=f"ana@{slug}.example")
    assert user.check_password(PASSWORD)
    assert Access.objects.filter(user=user).count() == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"password": "short"}, "too short"),
        ({"timezone": "Mars/Olympus"}, "time zone"),
        ({"owner_email": "nobody"}, "e-mail"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, slug: str, given: dict[str, str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        found(monkeypatch, slug, **given)
    assert not Access.objects.filter(user__email=f"ana@{slug}.example").exists()


def test_a_short_name_is_taken_once(monkeypatch: pytest.MonkeyPatch, slug: str) -> None:
    found(monkeypatch, slug)
    with pytest.raises(CommandError, match="taken"):
        found(monkeypatch, slug, owner_email=f"rui@{slug}.example")
