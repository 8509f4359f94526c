"""The demonstration: the whole cast, loaded once, safe to load again."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from ledger import audit, tenancy
from ledger.actions.clients import create_client
from ledger.demo.loading import LOADERS
from ledger.models import (
    Access,
    AuditEvent,
    Client,
    ClientMessage,
    Company,
    Lead,
    Membership,
    PriceItem,
    Site,
    Stage,
    User,
)


@pytest.fixture(scope="module")
def printed(database: Any) -> str:
    out = StringIO()
    call_command("load_demo", stdout=out)
    return out.getvalue()


def company_of(email: str) -> Any:
    return Access.objects.get(user__email=email).tenant_id


def everything() -> dict[str, Any]:
    """All that a second run could change, in each of the three companies."""
    found: dict[str, Any] = {}
    for email in ("dana@loneridge.example", "rafael@aurora.example", "mallory@otherco.example"):
        with tenancy.tenant(company_of(email)):
            for model in (Membership, Client, Lead, Site, PriceItem, ClientMessage, AuditEvent):
                found[f"{email} {model.__name__}"] = list(model.objects.order_by("pk").values())
    found["passwords"] = list(User.objects.filter(email__endswith="example").order_by("pk").values_list("password"))
    return found


def test_every_login_is_printed_with_the_password(printed: str) -> None:
    assert "dana@loneridge.example" in printed
    assert "rafael@aurora.example" in printed
    assert "mallory@otherco.example" in printed
    assert "operator@aval.example" in printed
    assert "a-roof-over-your-head" in printed


def test_the_printed_password_opens_the_door(printed: str) -> None:
    assert User.objects.get(email="dana@loneridge.example").check_password("a-roof-over-your-head")


def test_the_operator_comes_into_the_admin_and_belongs_to_no_company(printed: str) -> None:
    operator = User.objects.get(email="operator@aval.example")
    assert (operator.is_staff, operator.is_superuser) == (True, True)
    assert operator.check_password("a-roof-over-your-head")
    assert not Access.objects.filter(user=operator).exists()


def test_a_second_run_changes_nothing(printed: str) -> None:
    before = everything()
    call_command("load_demo", verbosity=0)
    assert everything() == before


def test_the_named_cast_is_there(printed: str) -> None:
    with tenancy.tenant(company_of("dana@loneridge.example")):
        names = dict(Client.objects.values_list("ref", "name"))
        assert names["C-0101"] == "John Smith"
        assert names["C-0102"] == "Smith Property Group LLC"
        assert len(names) == 10
        assert dict(Lead.objects.values_list("ref", "stage"))["L-0035"] == Stage.LOST
        assert Client.objects.get(ref="C-0101").sites.get().address == "1418 Cedar Bend Dr, Austin, TX 78758"
        assert audit.verify().whole
    with tenancy.tenant(company_of("rafael@aurora.example")):
        company = Company.objects.get()
        assert (company.currency, company.locale) == ("BRL", "pt-BR")
        assert Client.objects.get(ref="C-0104").tax_id == "7K3M9P2Q000198"


def test_what_clients_wrote_is_there_to_be_read_and_believed_by_nobody(printed: str) -> None:
    with tenancy.tenant(company_of("dana@loneridge.example")):
        emily, bank = ClientMessage.objects.filter(direction="in").select_related("client").order_by("ref")
        assert (emily.ref, emily.client.ref, emily.status) == ("TH-0071", "C-0107", "received")
        assert emily.sender == "emily.carter@example.com"
        assert "SYSTEM NOTE TO ASSISTANT" in emily.body
        assert (bank.ref, bank.party, bank.sender) == ("TH-0072", None, "billing@hillcountry-supply.example")
        assert emily.created_at < timezone.now()
    with tenancy.tenant(company_of("rafael@aurora.example")):
        thursday = ClientMessage.objects.get(direction="in")
        assert (thursday.ref, thursday.channel, thursday.client.ref) == ("TH-0031", "whatsapp", "C-0103")
        assert thursday.to == [Company.objects.get().phone]


def test_the_other_company_has_the_same_refs_and_other_people(printed: str) -> None:
    with tenancy.tenant(company_of("mallory@otherco.example")):
        client = Client.objects.get(ref="C-0101")
        assert client.main_contact is not None
        assert client.main_contact.email == "wrong.tenant@example.net"


def test_dates_are_as_far_from_today_as_they_were(printed: str) -> None:
    with tenancy.tenant(company_of("dana@loneridge.example")):
        ages = dict(Lead.objects.values_list("ref", "created_at"))
        assert (ages["L-0033"].date() - ages["L-0029"].date()).days == 39


def test_numbers_go_on_behind_the_seed(printed: str) -> None:
    with tenancy.tenant(company_of("mallory@otherco.example")):
        owner = Membership.objects.get()
        made = create_client(by=owner, kind="person", name="Next One")
        assert made.ref == "C-0102"


def test_it_refuses_where_mail_would_reach_people(settings: Any) -> None:
    settings.EMAIL_URL = "smtp://mail.example"
    before = User.objects.count()
    with pytest.raises(CommandError, match="EMAIL_URL"):
        call_command("load_demo", verbosity=0)
    assert User.objects.count() == before


def test_every_kind_that_is_loaded_is_named_once() -> None:
    assert len(set(LOADERS)) == len(LOADERS)
