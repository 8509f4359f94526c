"""The sandbox that sends money back: once for a key, failing as told, its record settles what is in doubt (H60)."""

import uuid
from typing import Any

import pytest

from ledger import tenancy
from ledger.models import SandboxDelivery
from ledger.providers.cards import RefundRequest
from ledger.providers.outcomes import Refused, Uncertain
from ledger.providers.ports import refund_port
from ledger.providers.sandbox import Mode, set_knob
from ledger.providers.sandbox_cards import SandboxCards


@pytest.fixture
def company_id(lone_ridge) -> uuid.UUID:
    return lone_ridge.company.pk


def request_of(company_id: uuid.UUID, **changes: Any) -> RefundRequest:
    fields = {
        "company_id": company_id,
        "key": uuid.uuid4(),
        "payment_id": "pi_1",
        "amount_cents": 25_000,
        "currency": "USD",
    }
    return RefundRequest(**(fields | changes))


def kept(company_id: uuid.UUID) -> list[SandboxDelivery]:
    with tenancy.tenant(company_id):
        return list(SandboxDelivery.objects.order_by("pk"))


def test_what_is_accepted_is_on_record_at_once(company_id):
    request = request_of(company_id)
    accepted = SandboxCards().refund(request)
    [record] = kept(company_id)
    assert (record.port, record.key, record.requests) == ("cards", request.key, 1)
    assert record.payload == {"payment": "pi_1", "amount": 25_000, "currency": "USD"}
    assert SandboxCards().find(request) == accepted


def test_h60_one_key_is_one_refund(company_id):
    request = request_of(company_id)
    assert SandboxCards().refund(request) == SandboxCards().refund(request)
    assert [record.requests for record in kept(company_id)] == [2]


@pytest.mark.parametrize("changes", [{"amount_cents": 26_000}, {"payment_id": "pi_2"}])
def test_h60_the_same_key_with_other_parameters_stops_and_settles_nothing(company_id, changes):
    first = request_of(company_id)
    accepted = SandboxCards().refund(first)
    other = request_of(company_id, key=first.key, **changes)
    with pytest.raises(Uncertain) as told:
        SandboxCards().refund(other)
    assert told.value.code == "REFUND_KEY_REUSED"
    assert SandboxCards().find(other) is None
    assert SandboxCards().find(first) == accepted


@pytest.mark.parametrize(
    ("mode", "found"), [(Mode.TIMEOUT_BEFORE, False), (Mode.TIMEOUT_AFTER_ACCEPT, True), (Mode.GARBAGE, True)]
)
def test_no_answer_is_doubt_that_the_record_settles(company_id, mode, found):
    set_knob(company_id, "cards", mode)
    request = request_of(company_id)
    with pytest.raises(Uncertain):
        SandboxCards().refund(request)
    assert (SandboxCards().find(request) is not None) is found


@pytest.mark.parametrize("mode", [Mode.REFUSE, Mode.RATE_LIMIT])
def test_a_refusal_is_certain(company_id, mode):
    set_knob(company_id, "cards", mode)
    request = request_of(company_id)
    with pytest.raises(Refused):
        SandboxCards().refund(request)
    assert SandboxCards().find(request) is None


def test_cards_and_pix_are_asked_apart(company_id):
    set_knob(company_id, "cards", Mode.REFUSE)
    request = request_of(company_id)
    refund_port("pix").refund(request)
    assert (refund_port("pix").find(request) is None, refund_port("cards").find(request) is None) == (False, True)
    with pytest.raises(ValueError, match="check"):
        refund_port("check")


def test_it_is_not_called_inside_a_transaction(company_id):
    with tenancy.tenant(company_id), pytest.raises(RuntimeError, match="transaction"):
        SandboxCards().refund(request_of(company_id))
    assert kept(company_id) == []


def test_another_company_finds_nothing_under_our_key(company_id, strangers):
    request = request_of(company_id)
    SandboxCards().refund(request)
    assert SandboxCards().find(request_of(strangers.company.pk, key=request.key)) is None


def test_a_request_names_a_payment_and_an_amount(company_id):
    for changes in ({"amount_cents": 0}, {"payment_id": ""}):
        with pytest.raises(ValueError, match="above zero"):
            request_of(company_id, **changes)
