"""Whole conversations from data: what a person says and does, what the model asks for, what cards and rows then say.

Each is played in an office of its own, loaded from the demonstration's cast, through the inbox, the loop against a
model over HTTP, the gate and the worker's own function.
"""

import copy
import json
import secrets
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Any

from django.apps import apps

from assistant.agent import inbox
from assistant.gate import approvals, execution
from assistant.gate.approvals import Click
from assistant.models import PendingAction, ToolCall
from assistant.tools import registry
from ledger import audit, dates, tenancy
from ledger.actions.invoice_issuing import issue_invoice
from ledger.demo.loading import LOADERS, SEED
from ledger.demo.people import ensure_company
from ledger.models import Client, Via
from tests.assistant.agent.talk import Stage, Talk, say, step
from tests.bills import draft
from tests.cast import PASSWORD, Cast
from tests.server import ROOT

Story = dict[str, Any]
STORIES: list[Story] = json.loads((ROOT / "tests" / "data" / "conversations.json").read_text())


TODAY = "{today}"


@cache
def _seed() -> dict[str, Any]:
    return json.loads(SEED.read_text())


def office(slug: str) -> Cast:
    """A fresh company with the demonstration's people and books. People are known by their refs."""
    entry = copy.deepcopy(next(one for one in _seed()["tenants"] if one["slug"] == slug))
    mark = secrets.token_hex(4)
    entry["slug"] += f"-{mark}"
    for member in entry["members"]:
        member["email"] = f"{mark}-{member['email']}"
    with audit.entering(Via.IMPORT):
        world, _logins = ensure_company(entry, date.fromisoformat(_seed()["frozen_today"]), PASSWORD)
        with tenancy.tenant(world.company.pk):
            for load_kind in LOADERS:
                load_kind(world, entry)
    return Cast(world.company, {"U-01": world.owner} | world.members)


def script(story: Story, today: str) -> list[dict[str, Any]]:
    """What the scripted model answers, one step for each of its calls."""
    played = []
    for one in story["steps"]:
        calls = [
            {
                "call": {
                    "name": call["tool"],
                    "arguments": json.loads(json.dumps(call["args"]).replace("{today}", today)),
                }
            }
            for call in one.get("calls", ())
        ]
        rests = len(calls) - _puts_up_a_card(one)
        played += [step(call) for call in calls[:rests]]
        if "say" in one:
            played.append(step(say(one["say"]), *calls[rests:]))
        if "resume" in one:
            played.append(step(say(one["resume"])))
    return played


def _puts_up_a_card(one: dict[str, Any]) -> bool:
    """Whether the turn rests at its last call: what is said stands in the same reply, and nothing comes after it."""
    last = (one.get("calls") or [None])[-1]
    return last is not None and "error" not in last and registry.TOOLS[last["tool"]].gated


@dataclass
class Play:
    """One telling: by the script, or with the rehearsal model in the model's place."""

    story: Story
    rehearsed: bool = False
    said: str = ""
    talk: Talk = field(init=False)

    def play(self) -> None:
        cast = office(self.story["office"])
        today = dates.today(cast.company.timezone).isoformat()
        with cast.scope():
            conversation = inbox.new_conversation(by=cast.owner)
            anybody = Client.objects.order_by("ref").first()
        steps = [] if self.rehearsed else script(self.story, today)
        stage = Stage(*steps, developer_role=True, after="rehearse" if self.rehearsed else "fail")
        try:
            self.talk = Talk(cast, conversation, anybody, stage)
            for number, one in enumerate(self.story["steps"]):
                self._act(one, f"{self.story['id']}, step {number + 1}")
            self._rows(self.story["rows"], self.story["id"])
            self.talk.history()
        finally:
            stage.close()
        if not self.rehearsed:
            assert len(self.talk.endpoint.requests) == len(steps), self.story["id"]

    def _act(self, one: dict[str, Any], where: str) -> None:
        match next(iter(one)):
            case "user":
                before = len(self.talk.calls())
                self.talk.say(one["user"])
                self._called(one, self.talk.calls()[before:], where)
                self._spoken(one, where)
            case "resume":
                self.talk.run()
                self._spoken(one, where)
            case "card":
                self._card(one, where)
            case "confirm":
                self._click(approvals.confirm, one["confirm"], one, where)
            case "edit":
                self._click(approvals.edit, one["edit"], one, where, fields=one["fields"])
            case "execute":
                self._execute(self._cards()[one["execute"] - 1])
            case "issue_another":
                with self.talk.scope():
                    other = draft(self.talk.cast, "100.00", client=self.talk.client)
                    assert issue_invoice(other, by=self.talk.cast["U-02"]).ref == one["issue_another"], where
            case "outcome":
                self._outcome(one, where)
            case "rows":
                self._rows(one["rows"], where)
            case unknown:
                raise AssertionError(f"{where}: {unknown}")

    def _called(self, one: dict[str, Any], made: list[ToolCall], where: str) -> None:
        if self.rehearsed:  # which looks once more where a scripted model need not
            made = made[len(made) - len(one["calls"]) :]
        assert [call.name for call in made] == [call["tool"] for call in one["calls"]], (where, made)
        for call, wanted in zip(made, one["calls"], strict=True):
            result = json.loads(call.result)
            assert result.get("error") == wanted.get("error"), (where, result)
            for path, value in wanted.get("gives", {}).items():
                found: Any = result
                for name in path.split("."):
                    found = found[name]
                assert found == value, (where, path, found)
            assert [text for text in wanted.get("shows", ()) if text not in call.result] == [], (where, call.result)

    def _spoken(self, one: dict[str, Any], where: str) -> None:
        said = " ".join(self.talk.replies()[-1].replace("\xa0", " ").split())
        assert [text for text in one.get("mention", ()) if text not in said] == [], (where, said)
        assert [text for text in one.get("never", ()) if text in said.lower()] == [], (where, said)
        assert self.talk.lines() == [], where

    def _cards(self) -> list[PendingAction]:
        return self.talk.cards()

    def _card(self, one: dict[str, Any], where: str) -> None:
        cards = self._cards()
        assert len(cards) == one["card"], where
        card = cards[-1]
        assert (card.tool, card.level, card.status) == (one["tool"], one["level"], "pending"), where
        found: dict[str, list[Any]] = {}
        for fact in card.preview["facts"]:
            found.setdefault(fact["name"], []).append(fact)
        for name, value in one["facts"].items():
            told = [plain_of(fact["value"]) for fact in found[name]]
            assert told == (value if name in ("recipient", "cc") else [value]), (where, name, told)
        for name, mark in one.get("marks", {}).items():
            assert [mark in fact["marks"] for fact in found[name]] == [True], (where, found[name])
        codes = {phrase["code"] for phrase in card.preview["consequences"]}
        assert set(one.get("consequences", ())) <= codes, (where, codes)
        shown = json.dumps(card.preview) + card.summary
        assert [text for text in one.get("shows", ()) if text not in shown] == [], (where, shown)

    def _click(self, verb: Any, number: int, one: dict[str, Any], where: str, **fields: Any) -> None:
        card = self._cards()[number - 1]
        by = self.talk.cast[one.get("by", "U-01")]
        own = Click(card.pk, card.conversation_id, by, card.digest, **one.get("with", {}))
        with self.talk.scope():
            answer = verb(own, **fields)
        assert str(answer.kind) == one["answer"], (where, answer)

    def _execute(self, card: PendingAction) -> None:
        """As the worker does, with the undo window over."""
        with self.talk.scope():
            PendingAction.objects.filter(pk=card.pk, status="scheduled").update(execute_after=card.created_at)
        execution.execute(self.talk.cast.tenant_id, card.pk)

    def _outcome(self, one: dict[str, Any], where: str) -> None:
        card = self._cards()[one["outcome"] - 1]
        assert card.status == one["status"], (where, card.status, card.failure)
        if "closed_by" in one:
            assert card.closed_by == one["closed_by"], where
        told = str((card.receipt or {}).get("text", "")).replace("\xa0", " ")
        assert [text for text in one.get("receipt", ()) if text not in told] == [], (where, told)

    def _rows(self, rows: list[Any], where: str) -> None:
        with self.talk.scope():
            for name, filters, count in rows:
                label = "assistant" if name == "PendingAction" else "ledger"
                found = apps.get_model(label, name).objects.filter(**filters).count()
                assert found == count, (where, name, filters, found)


def plain_of(value: Any) -> Any:
    """A fact's value without what the page adds: cents, or [name, before, after] of a change."""
    if isinstance(value, dict) and "cents" in value:
        return value["cents"]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [[one["name"], one["before"]["cents"], one["after"]["cents"]] for one in value]
    return value
