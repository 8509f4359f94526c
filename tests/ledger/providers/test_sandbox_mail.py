"""The sandbox mail provider: a state machine that fails as told, and whose record settles what is in doubt."""

import threading
import uuid

import pytest

from ledger import tenancy
from ledger.models import SandboxDelivery, SandboxKnob
from ledger.providers import sandbox
from ledger.providers.mail import MailMessage
from ledger.providers.outcomes import Refused, Uncertain
from ledger.providers.ports import mail_port
from ledger.providers.sandbox import Mode, Status, set_knob
from ledger.providers.sandbox_mail import SandboxMail


def letter(company_id: uuid.UUID, **changes) -> MailMessage:
    fields = {
        "company_id": company_id,
        "key": uuid.uuid4(),
        "sender": "office@loneridge.example",
        "to": ("john.smith@example.com",),
        "subject": "Orçamento Q-1042",
        "text": "Hello",
    }
    return MailMessage(**(fields | changes))


@pytest.fixture
def company_id(lone_ridge) -> uuid.UUID:
    return lone_ridge.company.pk


def deliveries(company_id: uuid.UUID) -> list[SandboxDelivery]:
    with tenancy.tenant(company_id):
        return list(SandboxDelivery.objects.order_by("pk"))


def test_without_a_mail_server_the_sandbox_stands_behind_the_port():
    assert mail_port().name == "sandbox"


def test_a_company_may_be_held_to_the_sandbox(settings):
    settings.EMAIL_URL = "smtp://127.0.0.1:25"
    assert (mail_port().name, mail_port(sandbox=True).name) == ("smtp", "sandbox")


def test_what_is_accepted_is_on_record_at_once(company_id):
    message = letter(company_id, cc=("b@example.com",))
    accepted = SandboxMail().send(message)
    [delivery] = deliveries(company_id)
    assert (delivery.status, delivery.requests, delivery.key) == (Status.ACCEPTED, 1, message.key)
    assert delivery.payload["to"] == ["john.smith@example.com"]
    assert delivery.payload["cc"] == ["b@example.com"]
    assert f"Message-ID: {message.message_id}" in delivery.raw
    assert SandboxMail().find(message.key, company_id=company_id) == accepted


@pytest.mark.parametrize(
    ("mode", "code"), [(Mode.REFUSE, "MAIL_RECIPIENT_REFUSED"), (Mode.RATE_LIMIT, "MAIL_RATE_LIMITED")]
)
def test_a_refusal_is_certain_and_leaves_nothing_to_find(company_id, mode, code):
    set_knob(company_id, "mail", mode)
    message = letter(company_id)
    with pytest.raises(Refused) as refused:
        SandboxMail().send(message)
    assert refused.value.code == code
    assert [d.status for d in deliveries(company_id)] == [Status.REFUSED]
    assert SandboxMail().find(message.key, company_id=company_id) is None


@pytest.mark.parametrize(
    ("mode", "found"), [(Mode.TIMEOUT_BEFORE, False), (Mode.TIMEOUT_AFTER_ACCEPT, True), (Mode.GARBAGE, True)]
)
def test_no_answer_is_doubt_that_the_record_settles(company_id, mode, found):
    set_knob(company_id, "mail", mode)
    message = letter(company_id)
    with pytest.raises(Uncertain):
        SandboxMail().send(message)
    assert (SandboxMail().find(message.key, company_id=company_id) is not None) is found
    assert len(deliveries(company_id)) == found


def test_a_knob_holds_for_its_calls_and_no_longer(company_id):
    set_knob(company_id, "mail", Mode.REFUSE, remaining=1)
    with pytest.raises(Refused):
        SandboxMail().send(letter(company_id))
    SandboxMail().send(letter(company_id))
    with tenancy.tenant(company_id):
        assert SandboxKnob.objects.get(port="mail").remaining == 0


def test_the_same_key_is_one_message_and_every_request_is_counted(company_id):
    message = letter(company_id)
    first, second = SandboxMail().send(message), SandboxMail().send(message)
    assert first == second
    assert [d.requests for d in deliveries(company_id)] == [2]


def test_a_key_with_another_message_is_refused_and_the_first_stands(company_id):
    message = letter(company_id)
    SandboxMail().send(message)
    with pytest.raises(Refused) as refused:
        SandboxMail().send(letter(company_id, key=message.key, to=("other@example.com",)))
    assert refused.value.code == "MAIL_KEY_REUSED"
    [delivery] = deliveries(company_id)
    assert delivery.payload["to"] == ["john.smith@example.com"]


def test_an_accepted_key_stays_accepted_when_a_later_request_is_refused(company_id):
    message = letter(company_id)
    accepted = SandboxMail().send(message)
    set_knob(company_id, "mail", Mode.REFUSE)
    with pytest.raises(Refused):
        SandboxMail().send(message)
    assert SandboxMail().find(message.key, company_id=company_id) == accepted


def test_eight_requests_at_once_under_one_key_are_one_message(company_id):
    message, answers = letter(company_id), []
    start = threading.Barrier(8)

    def send() -> None:
        start.wait()
        answers.append(SandboxMail().send(message))

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert len({answer.provider_id for answer in answers}) == 1
    assert [d.requests for d in deliveries(company_id)] == [8]


def test_a_delivery_settles_once(company_id):
    message = letter(company_id)
    SandboxMail().send(message)
    assert sandbox.settle(company_id, "mail", message.key, Status.BOUNCED)
    assert not sandbox.settle(company_id, "mail", message.key, Status.DELIVERED)
    found = SandboxMail().find(message.key, company_id=company_id)
    assert found is not None
    assert found.detail == "bounced"


def test_another_company_finds_nothing_under_our_key(company_id, strangers):
    message = letter(company_id)
    SandboxMail().send(message)
    assert SandboxMail().find(message.key, company_id=strangers.company.pk) is None


def test_the_sandbox_is_not_called_inside_a_transaction(company_id):
    with tenancy.tenant(company_id), pytest.raises(RuntimeError, match="transaction"):
        SandboxMail().send(letter(company_id))
    assert deliveries(company_id) == []
