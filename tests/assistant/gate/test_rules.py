"""Rules over every tool and every way in: nothing opens the gate by accident."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2 as httpx
import pytest
from django.db import connection
from django_q.models import OrmQ

from assistant.gate import approvals, catalogue, execution, renewing
from assistant.models import Attempt, PendingAction, Status
from assistant.tools import registry
from assistant.tools.effects import Effect, Level
from assistant.tools.registry import Tool, ToolArguments
from ledger import jobs
from ledger.errors import NotAllowed
from ledger.models import Due, Membership
from tests.processes import Processes
from tests.support.signing_in import signed_in
from tests.web import post


class Nothing(ToolArguments):
    """No arguments."""


def declared(**parts) -> Tool:
    own = {
        "name": "half_done",
        "label": "Half done",
        "description": "Does something.",
        "namespace": "tests",
        "permission": "update_client",
        "arguments": Nothing,
        "effects": frozenset({Effect.DOCUMENT}),
    }
    return Tool(**own | parts)


@pytest.mark.parametrize(
    ("parts", "lack"),
    [
        ({}, "prepare"),
        ({"effects": None, "run": lambda ctx, arguments: {}}, "no `run`"),
        ({"prepare": print, "execute": print}, "compensation"),
        ({"prepare": print, "call": print, "irreversible": True}, "reconcile"),
        ({"prepare": print, "execute": print, "irreversible": True, "label": " "}, "a label in en"),
        ({"prepare": print, "execute": print, "irreversible": True, "permission": "fly"}, "a known permission"),
    ],
)
def test_T21_a_gated_tool_that_is_incomplete_is_named(parts, lack):
    assert any(lack in problem for problem in catalogue.problems(declared(**parts)))


def test_the_product_does_not_start_with_an_incomplete_tool(monkeypatch):
    monkeypatch.setitem(registry.TOOLS, "half_done", declared())
    assert [line.split(":")[0] for line in catalogue.load()] == ["half_done"] * len(catalogue.load())


def test_every_tool_of_the_product_is_complete():
    assert catalogue.load() == []


def test_R1_a_tool_whose_effects_are_not_declared_is_gated_at_the_highest_level():
    assert declared(effects=None).level == Level.STRONG


@pytest.mark.parametrize("name", sorted(registry.TOOLS))
def test_T67_R5_R8_no_tool_decides_and_none_takes_an_identity(name):
    """`confirm`, `approve` and whose order it is are nobody's arguments."""
    words = {word for argument in registry.TOOLS[name].schema["properties"] for word in argument.split("_")}
    assert not words & {"confirm", "confirmed", "approve", "approved", "tenant", "user", "role", "actor", "by"} - (
        {"role"} if name == "change_member_role" else set()
    )
    assert not name.startswith(("confirm", "approve", "decide", "reject", "settle"))


def test_T71_what_nobody_may_approve_is_not_put_forward(office):
    with office.scope():
        Membership.objects.update(approve_l3=False)
        office.dana.refresh_from_db()
    with pytest.raises(NotAllowed):
        office.propose("pay_out", amount_cents=1)
    with office.scope():
        assert not PendingAction.objects.exists()


def test_T19_what_the_model_asks_for_later_is_a_new_card_and_the_confirmed_one_runs_as_frozen(office, provider):
    first = office.propose("post_letter", text="one")
    office.confirm(first)
    second = office.propose("post_letter", text="two")
    assert office.execute(first).status == Status.EXECUTED
    assert office.fresh(second).status == Status.PENDING
    sent = (provider.folder / f"{first.pk}.sends").read_text()
    assert json.loads(sent)["text"] == "one"


def test_T29_what_was_proposed_edited_and_executed_are_three_records(office, provider):
    old = office.propose("post_letter", text="ten")
    with office.scope():
        new = renewing.edit(
            old, registry.TOOLS["post_letter"], by=office.dana, fields={"text": "fifteen"}, shown_hash=old.digest
        )
    office.confirm(new)
    done = office.execute(new)
    with office.scope():
        attempt = Attempt.objects.get()
    assert json.loads(office.fresh(old).arguments)["text"] == "ten"
    assert (done.edited_from_id, done.payload["text"], attempt.action_id) == (old.pk, "fifteen", new.pk)


def test_T01_worker_and_sweep_at_once_make_one_call(office, provider):
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    start = threading.Barrier(2)

    def run(work) -> None:
        try:
            start.wait()
            work()
        finally:
            connection.close()

    works = [
        lambda: execution.execute(office.company.pk, action.pk),
        lambda: jobs.run("execute_action", action.pk, office.company.pk),
    ]
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert provider.all_sends() == {str(action.pk): 1}
    assert office.fresh(action).status == Status.EXECUTED


def test_T07_T81_a_lost_wake_up_is_found_by_the_sweep(office, provider, settings):
    """Fault rows 6 and 21: the queue lost the message after the decision had been committed."""
    settings.AVAL_LEASE_SECONDS = 0
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    OrmQ.objects.all().delete()
    assert office.fresh(action).status == Status.SCHEDULED
    assert Due.objects.filter(kind="execute_action", object_id=action.pk).exists()
    assert jobs.dispatch_due(limit=10_000) >= 1
    tasks = [row.task["args"] for row in OrmQ.objects.all()]
    assert ("execute_action", str(action.pk), str(office.company.pk)) in tasks
    jobs.run("execute_action", action.pk, office.company.pk)
    assert office.fresh(action).status == Status.EXECUTED
    assert not Due.objects.filter(kind="execute_action", object_id=action.pk).exists()


@pytest.mark.parametrize("tool", ["rename_client", "post_letter", "pay_out"])
def test_T34_a_pages_form_for_a_gated_tool_makes_a_card_and_no_effect(office, provider, product, tool):
    fields = {
        "rename_client": {"name": "Joe"},
        "post_letter": {"text": "Hi"},
        "pay_out": {"amount_cents": "100"},
    }[tool]
    answers = [
        post(
            product.url,
            office.dana,
            f"/c/desk/propose/{tool}/",
            key=office.conversation.pk,
            **fields | {"client_ref": "C-0001"},
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [303, 303]
    with office.scope():
        [action] = PendingAction.objects.all()
        assert (action.status, action.tool) == (Status.PENDING, tool)
        office.client.refresh_from_db()
        assert office.client.name == "John Smith"
    assert {answer.headers["location"] for answer in answers} == {f"/c/{action.conversation_id}/actions/{action.pk}/"}
    assert provider.all_sends() == {}


def test_T53_another_web_server_takes_the_decision_on_what_the_first_one_showed(office, processes: Processes):
    action = office.propose("rename_client", name="Joe")
    servers = [processes.web(), processes.web()]
    cookies = signed_in(office.dana)
    path = f"/c/{action.conversation_id}/actions/{action.pk}/"
    with httpx.Client(cookies=cookies[0], headers=cookies[1]) as http:
        assert http.get(servers[0].url + path).status_code == 200
        assert http.post(servers[1].url + path + "confirm", data={"hash": action.digest}).status_code == 303
    assert office.fresh(action).status == Status.SCHEDULED


def test_H52_a_worker_that_polls_before_the_commit_finds_nothing_and_after_it_the_deed(office):
    """The job is a row of the click's own transaction: whoever reads it reads the decision too."""
    action = office.propose("rename_client", name="Joe")

    def poll() -> list[str]:
        """Another connection: what is due, and what a worker would do about it."""
        try:
            found = Due.objects.filter(kind="execute_action", object_id=action.pk).exists()
            queued = [row for row in OrmQ.objects.all() if str(action.pk) in row.task["args"]]
            jobs.run("execute_action", action.pk, office.company.pk)
            return [str(found), str(len(queued)), office.fresh(action).status]
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=1) as worker:
        with office.scope():
            approvals.confirm(office.click(action))
            assert worker.submit(poll).result(20) == ["False", "0", Status.PENDING]
        assert worker.submit(poll).result(20) == ["True", "1", Status.EXECUTED]
