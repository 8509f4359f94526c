"""T84: whoever decides on a request that failed before is told so, and why, and the model is too."""

import re
from typing import Any

import pytest
from django.utils import translation

from assistant.doors import wording
from assistant.gate import renewing
from assistant.models import PendingAction, Status
from assistant.tools import registry
from assistant.tools.failures import FAILURES
from ledger.models import Client
from tests.assistant.agent.desk import a_desk
from tests.server import ROOT


def letter(office: Any, text: str = "Hi") -> PendingAction:
    return office.propose("post_letter", text=text)


def failed(office: Any, action: PendingAction) -> PendingAction:
    """Confirmed, and then a record moved before it ran."""
    office.confirm(action)
    with office.scope():
        client = Client.objects.get(pk=office.client.pk)
        Client.objects.filter(pk=client.pk).update(version=client.version + 1)
    done = office.execute(action)
    assert (done.status, done.failure["code"]) == (Status.FAILED, "CHANGED")
    return done


def again(office: Any, action: PendingAction) -> PendingAction:
    with office.scope():
        return renewing.ask_again(action, registry.TOOLS[action.tool])


def told(action: PendingAction, language: str = "en") -> list[str]:
    """What the card says of earlier attempts, as a reader of this language has it."""
    with translation.override(language):
        return [wording.sentence(one) for one in action.preview["warnings"] if one["code"] == "failed_before"]


def test_T84_a_card_that_is_asked_for_again_says_which_attempt_it_is_and_why_the_one_before_failed(office, provider):
    first = failed(office, letter(office))
    second = again(office, first)
    assert (told(first), second.status) == ([], Status.PENDING)
    assert told(second) == [
        "Attempt 2; the one before failed: A record changed after you confirmed, so nothing was done."
    ]
    assert told(second, "pt-br") == [
        "Tentativa 2; a anterior falhou: Um registro mudou depois que você confirmou, por isso nada foi feito."
    ]
    assert second.preview["warnings"][0] == {
        "code": "failed_before",
        "params": {"attempt": 2, "why": {"failure": "CHANGED"}},
    }
    third = again(office, failed(office, second))
    assert told(third) == [
        "Attempt 3; the one before failed: A record changed after you confirmed, so nothing was done."
    ]
    provider.set_mode("refuse")
    office.confirm(third)
    fourth = again(office, office.execute(third))
    assert told(fourth) == [
        "Attempt 4; the one before failed: A rule stood against it (REFUSED); the card before says which."
    ]


def test_T84_an_attempt_that_never_ran_does_not_hide_the_one_before(office):
    second = again(office, failed(office, letter(office)))
    office.cancel(second)
    third = again(office, office.fresh(second))
    edited = office.edit(third, text="Hello")
    assert told(third) == told(edited) == told(second) != []
    office.cancel(edited)
    fresh = letter(office, "Good morning")
    office.cancel(fresh)
    assert told(again(office, office.fresh(fresh))) == []


def test_T84_a_retry_that_the_model_makes_by_itself_does_not_look_like_the_first_ask(office, provider):
    failed(office, letter(office))
    retry, other = letter(office), office.propose("rename_client", name="Jon")
    assert (len(told(retry)), told(other)) == (1, [])
    office.confirm(retry)
    assert office.execute(retry).status == Status.EXECUTED
    assert told(letter(office)) == []


def test_T84_what_is_in_doubt_is_not_said_to_have_failed(office, provider):
    retry = again(office, failed(office, letter(office)))
    provider.set_mode("timeout_after")
    office.confirm(retry)
    assert office.execute(retry).status == Status.IN_DOUBT
    assert told(letter(office)) == []


def test_T84_the_model_reads_that_it_was_asked_for_again_and_why_it_failed():
    desk = a_desk()
    card = desk.card("rename_client", name="Joe")
    desk.confirm(card)
    with desk.scope():
        Client.objects.update(version=9)
    desk.execute(card)
    first = desk.fresh(card)
    with desk.scope():
        second = renewing.ask_again(first, registry.TOOLS[first.tool])
    failure, record = desk.records()[-2:]
    assert (failure["event"], failure["code"]) == ("failed", "CHANGED")
    note = record.pop("note")
    assert record == {
        "event": "asked_again",
        "tool": "rename_client",
        "action": str(second.pk),
        "summary": second.summary,
        "executed": False,
        "attempt": 2,
        "failed_before": {"action": str(first.pk), "code": "CHANGED"},
    }
    assert "NOT executed" in note


def test_T84_asking_again_for_what_is_open_already_tells_nothing_twice(office):
    first = failed(office, letter(office))
    second = again(office, first)
    with office.scope():
        before = second.records.count()
    assert again(office, first).pk == second.pk
    with office.scope():
        assert second.records.count() == before == 1


CODES = re.compile(r'(?:Refused\(|return |fail\(action, attempt, |refusal = \()"([A-Z][A-Z_]+)", ?[_s]')


@pytest.mark.parametrize("folder", ["assistant/gate", "assistant/tools", "ledger/providers"])
def test_every_failure_of_the_gate_and_the_providers_has_words_in_each_readers_language(folder: str):
    found = {code for path in (ROOT / folder).rglob("*.py") for code in CODES.findall(path.read_text())}
    assert len(found) > 0
    assert found - set(FAILURES) == set()
