"""What people said no to becomes a case; a model is tried on cases on a desk where nothing lasts."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command

from assistant.insight import checks
from assistant.insight.evals import exporting, judging, running
from assistant.insight.evals.dry import Desk as DryDesk
from assistant.insight.evals.judging import Deed, Done, Tally, Verdict
from assistant.models import PendingAction
from ledger.models import AuditEvent, Due
from ledger.tenancy import TenantModel
from tests.assistant.agent.endpoint import scripted
from tests.assistant.agent.talk import call, say, step
from tests.assistant.doors.conftest import Desk, make_desk
from tests.assistant.doors.test_insight import done, rejected

WISH = "Rename John Smith to Jon"


@pytest.fixture
def desk() -> Desk:
    """A rejected proposal, an edited one and a deed found wrong, after some words."""
    own = make_desk()
    own.say(WISH)
    rejected(own, "no letter, please")
    return own


def cases(desk: Desk) -> list[dict[str, Any]]:
    with desk.cast.scope():
        return list(exporting.export(desk.cast.company))


def test_each_no_is_a_case_with_the_words_the_card_and_the_reason(desk: Desk) -> None:
    wrong = done(desk, "Wrong John")
    with desk.cast.scope():
        checks.report_wrong(wrong, by=desk.cast.dana, note="Another John")
    done(desk, "Fine")
    first, second = cases(desk)
    assert (first["kind"], first["tenant"], first["actor"]) == ("rejected", desk.cast.company.slug, "U-01")
    assert first["words"] == [{"role": "user", "text": WISH}]
    assert first["proposal"]["tool"] == "post_letter"
    assert first["proposal"]["arguments"]["text"] == "no letter, please"
    assert (first["verdict"]["reason"], first["expected"]) == ("no", None)
    with desk.cast.scope():
        action = PendingAction.objects.get(pk=first["id"])
        assert first["shown"] == {
            "summary": action.summary, "preview": action.preview, "level": action.level, "hash": action.digest,
        }  # fmt: skip
        assert AuditEvent.objects.get(kind="audit.evals_exported").told == {"cases": 2}
    assert (second["kind"], second["verdict"]["reason"]) == ("wrong", "Another John")
    assert json.loads(json.dumps(first)) == first


def rename(desk: Desk, name: str) -> dict[str, Any]:
    return call("rename_client", client_ref=desk.client.ref, name=name)


def played(desk: Desk, case: dict[str, Any], *steps: dict[str, Any], times: int = 1) -> tuple[Verdict, ...]:
    async def go() -> Tally:
        async with scripted(*steps) as endpoint:
            own = DryDesk(desk.cast.tenant_id, "U-01", "en")
            return await running.run([case], endpoint.model, lambda _case: own, times=times)

    (tries,) = asyncio.run(go()).tries.values()
    return tries


def told(desk: Desk) -> dict[str, int]:
    with desk.cast.scope():
        tables = [model for model in apps.get_models() if issubclass(model, TenantModel)]
        return {model.__name__: model.objects.count() for model in tables} | {
            "Due": Due.objects.filter(tenant_id=desk.cast.tenant_id).count()
        }


def test_a_model_is_tried_and_nothing_of_it_lasts(desk: Desk) -> None:
    (case,) = cases(desk)
    before = told(desk)
    look = step(call("look_at_client", client_ref=desk.client.ref), call("tag_client", client_ref="C-0001", tag="x"))
    (verdict,) = played(desk, case, look, step(say("Please look at the card."), rename(desk, "Jon")))
    assert verdict == Verdict()
    assert told(desk) == before


def test_the_same_again_is_what_the_person_said_no_to(desk: Desk) -> None:
    (case,) = cases(desk)
    again = call("post_letter", **case["proposal"]["arguments"])
    (verdict,) = played(desk, case, step(say("I have sent it."), again))
    assert (verdict.success, verdict.false_claim) == (False, True)


def edited_case(desk: Desk, name: str = "Jon") -> dict[str, Any]:
    (case,) = cases(desk)
    return case | {"expected": {"tool": "rename_client", "arguments": {"client_ref": desk.client.ref, "name": name}}}


@pytest.mark.parametrize(
    ("text", "made", "wrong"),
    [
        ("On a card.", {"name": "Jon"}, set()),
        ("On a card.", {"name": "Jack"}, {"success"}),
        ("Shall I rename him?", None, {"success", "needless"}),
        ("He was renamed.", {"name": "Jon"}, {"success", "false_claim"}),
    ],
)
def test_an_edit_is_what_should_have_been_proposed(desk: Desk, text: str, made, wrong: set[str]) -> None:
    acts = [say(text)] + ([rename(desk, **made)] if made else [])
    (verdict,) = played(desk, edited_case(desk), step(*acts))
    bad = {"success"} if not verdict.success else set()
    assert bad | {name for name in ("wrong_target", "false_claim", "needless") if getattr(verdict, name)} == wrong


def test_another_target_is_a_wrong_target() -> None:
    made = Done(cards=[Deed("send_quote", {"quote_ref": "Q-0002", "message": "x"})])
    verdict = judging.judge_wanted(made, Deed("send_quote", {"quote_ref": "Q-0001", "message": "y"}), ["message"])
    assert (verdict.success, verdict.wrong_target, verdict.why) == (False, True, "other quote_ref")


def test_a_conversation_is_played_message_by_message_until_it_goes_wrong(desk: Desk) -> None:
    wanted = {"name": "rename_client", "args": {"client_ref": desk.client.ref, "name": "Jon"}}
    case = {
        "id": "en-test", "lang": "en-US", "tenant": "x", "actor": "U-01",
        "steps": [
            {"type": "user", "text": WISH},
            {"type": "assistant", "calls": [wanted], "must_mention": ["card"], "must_not_claim": ["done"]},
            {"type": "outcome", "history_message": "The client is called Jon now."},
            {"type": "user", "text": "is it done?"},
            {"type": "assistant", "must_mention": ["Jon"]},
        ],
    }  # fmt: skip
    assert running.possible(case) and not running.possible({"steps": [{"calls": [{"name": "fly"}]}]})
    card = step(say("It is on a card."), rename(desk, "Jon"))
    good, bad = played(desk, case, card, step(say("Yes, Jon.")), card, step(say("Yes.")), times=2)
    assert good == Verdict()
    assert (bad.success, bad.why) == (False, "does not mention Jon")
    claims = step(say("It is done. The card is there."), rename(desk, "Jon"))
    (verdict,) = played(desk, case, claims)
    assert (verdict.success, verdict.false_claim) == (False, True)


def test_pass_to_the_third_is_the_chance_that_three_tries_succeed() -> None:
    good, bad = Verdict(), Verdict(False, needless=True)
    tally = Tally({"a": (good,) * 3, "b": (good, good, bad), "c": (good,) * 4, "d": (good, good, good, bad)})
    assert tally.passes() == (1 + 0 + 1 + 0.25) / 4
    assert (tally.count("success"), tally.count("needless")) == ((12, 14), (2, 14))
    assert Tally({"a": (good,)}).passes() is None


def test_the_command_writes_cases_and_plays_them(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.jsonl"
    call_command("evals", "export", "--company", desk.cast.company.slug, "--out", str(file))
    assert len(file.read_text().splitlines()) == 1
    call_command("evals", "run", str(file), "--times", "3")
    shown = capsys.readouterr()
    assert "1 cases" in shown.err
    assert "succeeded: " in shown.out and "pass^3: " in shown.out and "of 1 cases" in shown.out
