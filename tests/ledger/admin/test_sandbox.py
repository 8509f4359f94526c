"""Turning the sandbox's knobs from the operator's site."""

import pytest

from ledger.models import SandboxKnob
from tests import operators
from tests.cast import Cast
from tests.operators import events, text

# The sandbox


def test_a_knob_is_turned_for_this_company_alone(lone_ridge: Cast, strangers: Cast) -> None:
    user = operators.staff()
    browser = operators.inside(lone_ridge.company, user)
    turned = {"port": "mail", "mode": "timeout_after_accept", "remaining": "2", "delay_ms": "50"}
    assert browser.post("/admin/sandbox/", turned)["Location"] == "/admin/sandbox/"
    with lone_ridge.scope():
        knob = SandboxKnob.objects.get()
        assert (knob.port, knob.mode, knob.remaining, knob.delay_ms) == ("mail", "timeout_after_accept", 2, 50)
    with strangers.scope():
        assert not SandboxKnob.objects.exists()
    assert "Times out after accepting" in text(browser.get("/admin/sandbox/"))
    (told,) = events(lone_ridge, "sandbox.set")
    assert told["detail"] == {
        "operator": {"id": str(user.pk), "email": user.email},
        "port": "mail",
        "mode": "timeout_after_accept",
        "remaining": 2,
        "delay_ms": 50,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"port": "bank"},
        {"mode": "explode"},
        {"remaining": "0"},
        {"remaining": "-1"},
        {"remaining": "x"},
        {"remaining": "1" * 30},
        {"delay_ms": "999999"},
        {"mode": "a\x00"},
    ],
)
def test_a_wrong_knob_gives_a_sentence_and_turns_nothing(lone_ridge: Cast, wrong: dict[str, str]) -> None:
    browser = operators.inside(lone_ridge.company)
    right = {"port": "mail", "mode": "refuse"} if wrong else {}
    response = browser.post("/admin/sandbox/", right | wrong)
    assert response.status_code == 422
    assert "errorlist" in text(response)
    with lone_ridge.scope():
        assert not SandboxKnob.objects.exists()
