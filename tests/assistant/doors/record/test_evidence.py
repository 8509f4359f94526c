"""The comparison of what was shown and what ran says so when they differ. Rows are changed in memory only."""

import copy

import pytest

from assistant.doors.record import evidence
from assistant.models import Attempt, Decision, PendingAction
from tests.assistant.gate.conftest import Office
from tests.support.provider import FileProvider

Parts = tuple[PendingAction, list[Decision], Attempt]


@pytest.fixture
def done(office: Office, provider: FileProvider) -> Parts:
    action = office.propose("post_letter", text="Dear John")
    office.confirm(action)
    action = office.execute(action)
    with office.scope():
        decisions = list(Decision.objects.filter(action=action).select_related("member"))
        return action, decisions, Attempt.objects.get(action=action)


def test_when_all_is_well_every_comparison_holds(done: Parts) -> None:
    found = evidence.checks(*done)
    assert [check.holds for check in found] == [True, True, True]


@pytest.mark.parametrize("column", ["payload_text", "preview_text", "summary", "tool", "tool_version"])
def test_a_row_that_is_not_what_was_shown_is_told(done: Parts, column: str) -> None:
    action, decisions, attempt = done
    forged = copy.copy(action)
    setattr(forged, column, getattr(action, column) + " ")
    found = evidence.checks(forged, decisions, attempt)
    assert [check.holds for check in found] == [False, True, True]
    assert "NOT" in found[0].text


def test_a_payload_that_differs_from_its_text_is_told(done: Parts) -> None:
    action, decisions, attempt = done
    forged = copy.copy(action)
    forged.payload = action.payload | {"text": "Dear Mallory"}
    assert not evidence.checks(forged, decisions, attempt)[0].holds


def test_a_decision_on_something_else_is_told(done: Parts) -> None:
    action, decisions, attempt = done
    forged = copy.copy(decisions[0])
    forged.shown_hash = "0" * 64
    found = evidence.checks(action, [forged], attempt)
    assert [check.holds for check in found] == [True, False, True]
    assert "ELSE" in found[1].text


def test_a_receipt_of_something_else_is_told(done: Parts) -> None:
    action, decisions, attempt = done
    forged = copy.copy(action)
    forged.receipt = action.receipt | {"digest": "0" * 64}
    assert [check.holds for check in evidence.checks(forged, decisions, attempt)] == [True, True, False]


def test_a_run_without_an_attempt_is_told(done: Parts) -> None:
    action, decisions, _attempt = done
    assert not evidence.checks(action, decisions, None)[-1].holds


def test_an_attempt_that_the_status_does_not_allow_is_told(done: Parts) -> None:
    action, decisions, attempt = done
    forged = copy.copy(action)
    forged.status = "rejected"
    assert not evidence.checks(forged, decisions, attempt)[-1].holds
