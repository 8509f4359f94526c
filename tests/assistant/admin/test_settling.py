"""Settling what is in doubt from the operator's site, with a note; and never a second word on it (R10, R11)."""

import json
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client as Browser

from assistant.gate import reconciliation
from assistant.insight.invariants import violations
from assistant.models import Alert, Message, PendingAction, Status
from ledger import tenancy
from ledger.errors import DomainError, NotAllowed
from ledger.models import AuditEvent, Client, ClientMessage, Quote, QuoteRevision
from ledger.providers import sandbox
from tests import operators
from tests.assistant.gate.conftest import Office
from tests.cast import Cast
from tests.desks import Desk, desk_of
from tests.offers import cedar_bend
from tests.operators import text
from tests.support.provider import FileProvider


def in_doubt(office: Office, provider: FileProvider) -> PendingAction:
    provider.set_mode("timeout_before")
    action = office.propose("post_letter", text="Dear John")
    office.confirm(action)
    assert office.execute(action).status == Status.IN_DOUBT
    return action


def settle(browser: Browser, action: PendingAction, **posted: Any) -> HttpResponse:
    return browser.post(f"/admin/assistant/pendingaction/{action.pk}/settle/", posted)


def test_the_form_stands_on_what_is_in_doubt(office: Office, provider: FileProvider) -> None:
    action = in_doubt(office, provider)
    page = text(operators.inside(office.company).get(f"/admin/assistant/pendingaction/{action.pk}/change/"))
    assert "Settle with a note" in page
    assert f'action="/admin/assistant/pendingaction/{action.pk}/settle/"' in page
    assert "One attempt is on record; there is no receipt to compare." in page


@pytest.mark.parametrize(("outcome", "status"), [("executed", Status.EXECUTED), ("failed", Status.FAILED)])
def test_a_person_of_the_staff_settles_it_and_the_record_names_them(
    office: Office, provider: FileProvider, outcome: str, status: str
) -> None:
    action, user = in_doubt(office, provider), operators.staff()
    browser = operators.inside(office.company, user)
    response = settle(browser, action, outcome=outcome, note=" I asked them. ", reference="R-77")
    assert (response.status_code, response["Location"]) == (302, f"/admin/assistant/pendingaction/{action.pk}/change/")
    settled = office.fresh(action)
    assert (settled.status, settled.closed_by) == (status, "person")
    if status == Status.EXECUTED:
        wanted = {"text": "I asked them.", "facts": {}, "provider_ref": "R-77", "digest": action.digest}
        assert settled.receipt == wanted
    else:
        assert settled.failure == {"code": "SETTLED", "sentence": "I asked them."}
    with office.scope():
        alert = Alert.objects.get()
        assert (alert.handled_at is not None, alert.handled_by, alert.note) == (True, None, "I asked them.")
        told = Message.objects.filter(role="record").order_by("position").last()
        assert (told.code, told.params["by"], told.params["how"]) == (outcome, "operator", "person")
        assert violations() == []
    (event,) = [json.loads(body) for body in bodies(office, "action.settled")]
    assert event["detail"]["operator"] == {"id": str(user.pk), "email": user.email}
    assert (event["actor"], event["door"], event["detail"]["note"]) == (None, "admin", "I asked them.")
    assert provider.sends(str(action.pk)) == 1, "nothing is ever sent again"
    page = text(browser.get(f"/admin/assistant/pendingaction/{action.pk}/change/"))
    assert user.email in page
    assert "Settle with a note" not in page


def bodies(office: Office, kind: str) -> list[str]:
    with office.scope():
        return list(AuditEvent.objects.filter(kind=kind).values_list("body", flat=True))


def test_what_was_done_is_recorded_in_the_business_too(office: Office, provider: FileProvider) -> None:
    action = in_doubt(office, provider)
    settle(operators.inside(office.company), action, outcome="executed", note="It is in their list.")
    with office.scope():
        assert Client.objects.get(pk=office.client.pk).tags == ["letter"]


def test_the_second_word_finds_nothing_in_doubt(office: Office, provider: FileProvider) -> None:
    action = in_doubt(office, provider)
    browser = operators.inside(office.company)
    settle(browser, action, outcome="failed", note="Nothing there.")
    response = settle(browser, action, outcome="executed", note="Or was it?")
    assert response.status_code == 409
    assert "This action is not in doubt." in text(response)
    assert office.fresh(action).status == Status.FAILED
    assert len(bodies(office, "action.settled")) == 1


@pytest.mark.parametrize("status", ["pending", "executed"])
def test_only_what_is_in_doubt_is_settled(office: Office, status: str) -> None:
    action = office.propose("rename_client", name="Johnny")
    if status == "executed":
        office.confirm(action)
        office.execute(action)
    assert settle(operators.inside(office.company), action, outcome="failed", note="No").status_code == 409
    assert office.fresh(action).status == status


@pytest.mark.parametrize(
    "posted",
    [
        {},
        {"outcome": "executed"},
        {"note": "I asked them"},
        {"outcome": "executed", "note": "   "},
        {"outcome": "maybe", "note": "I asked them"},
        {"outcome": "failed", "note": "x" * 2001},
        {"outcome": "failed", "note": "a\x00b"},
        {"outcome": "executed", "note": "I asked them", "reference": "r" * 81},
    ],
)
def test_a_form_that_is_not_whole_settles_nothing(
    office: Office, provider: FileProvider, posted: dict[str, str]
) -> None:
    action = in_doubt(office, provider)
    response = settle(operators.inside(office.company), action, **posted)
    assert response.status_code == 422
    assert "errorlist" in text(response)
    assert office.fresh(action).status == Status.IN_DOUBT


def test_a_look_at_the_address_settles_nothing(office: Office, provider: FileProvider) -> None:
    action = in_doubt(office, provider)
    browser = operators.inside(office.company)
    address = f"/admin/assistant/pendingaction/{action.pk}/settle/"
    assert browser.get(address, {"outcome": "failed", "note": "x"}).status_code == 405
    assert browser.get("/admin/assistant/pendingaction/zzz/settle/", follow=True).status_code == 404
    assert office.fresh(action).status == Status.IN_DOUBT


def test_members_do_not_settle_through_the_operators_door(office: Office, provider: FileProvider) -> None:
    action = in_doubt(office, provider)
    response = settle(operators.browser(office.dana.user), action, outcome="failed", note="I asked")
    assert response.status_code == 404
    assert office.fresh(action).status == Status.IN_DOUBT


def test_only_one_of_the_staff_settles_as_the_operator(office: Office, provider: FileProvider) -> None:
    action = in_doubt(office, provider)
    with office.scope():
        for by in (None, office.dana):
            with pytest.raises(NotAllowed):
                reconciliation.settle(action.pk, by=by, operator=office.dana.user, done=False, note="I asked")
        with pytest.raises(ValueError, match="somebody"):
            reconciliation.settle(action.pk, by=None, done=False, note="I asked")
    assert office.fresh(action).status == Status.IN_DOUBT


# With a real tool: the quote knows what became of its message


@pytest.fixture
def doubtful_quote(lone_ridge: Cast) -> tuple[Desk, PendingAction]:
    desk = desk_of(lone_ridge)
    with lone_ridge.scope():
        cedar_bend(lone_ridge)
    sandbox.set_knob(lone_ridge.tenant_id, "mail", sandbox.Mode.TIMEOUT_BEFORE)
    action = desk.run(desk.propose("send_quote", quote_ref="Q-0001", channel="email"))
    assert action.status == Status.IN_DOUBT
    return desk, action


def test_a_quote_that_was_sent_after_all_is_sent(doubtful_quote: tuple[Desk, PendingAction]) -> None:
    desk, action = doubtful_quote
    settle(operators.inside(desk.cast.company), action, outcome="executed", note="They have it.", reference="m-1")
    with desk.cast.scope():
        assert Quote.objects.get().status == "sent"
        message = ClientMessage.objects.get()
        assert (message.status, message.provider_id) == ("sent", "m-1")
        receipt = PendingAction.objects.get(pk=action.pk).receipt
        assert (receipt["text"], receipt["facts"]["message"]) == ("They have it.", message.ref)
        assert violations() == []


def test_a_quote_that_was_not_sent_is_free_to_be_sent_again(doubtful_quote: tuple[Desk, PendingAction]) -> None:
    desk, action = doubtful_quote
    settle(operators.inside(desk.cast.company), action, outcome="failed", note="They have nothing of it.")
    with desk.cast.scope():
        assert Quote.objects.get().status == "draft"
        assert ClientMessage.objects.get().status == "failed"
        assert not QuoteRevision.objects.get().is_frozen
    sandbox.set_knob(desk.cast.tenant_id, "mail", sandbox.Mode.OK)
    again = desk.run(desk.propose("send_quote", quote_ref="Q-0001", channel="email"))
    assert again.status == Status.EXECUTED


def test_what_the_business_refuses_settles_nothing(
    office: Office, provider: FileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = in_doubt(office, provider)

    def refuse(*_args: Any, **_more: Any) -> dict[str, Any]:
        raise DomainError("NO", "The books are closed.")

    monkeypatch.setattr(reconciliation, "_follow", refuse)
    response = settle(operators.inside(office.company), action, outcome="executed", note="It is there.")
    assert response.status_code == 409
    assert "The books are closed." in text(response)
    assert office.fresh(action).status == Status.IN_DOUBT
    assert not tenancy.has_tenant()
