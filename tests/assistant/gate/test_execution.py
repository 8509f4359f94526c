"""Execution: once, under a claim, of what was shown, and truthful about how it ended."""

import pathlib
import re
import threading
import time
import uuid

import pytest
from django.db import connection

from assistant.gate import execution, reconciliation
from assistant.models import Alert, Attempt, Message, PendingAction, Status
from assistant.tools import claims, registry
from assistant.tools.claims import Claim, Unclaimed
from ledger import audit
from ledger.errors import DomainError
from ledger.models import AuditEvent, Client, Due, Membership
from tests.support.provider import FileProvider


def letter(office, text="Hi"):
    action = office.propose("post_letter", text=text)
    office.confirm(action)
    return action


def test_an_external_action_is_sent_once_and_recorded(office, provider):
    action = letter(office)
    done = office.execute(action)
    office.execute(action)
    assert (done.status, done.receipt["provider_ref"][:2]) == (Status.EXECUTED, "R-")
    assert provider.sends(str(action.pk)) == 1
    with office.scope():
        assert Client.objects.get(pk=office.client.pk).tags == ["letter"]
        assert not Due.objects.filter(object_id=action.pk).exclude(kind="execute_action").exists()


def test_T02_twenty_workers_make_one_attempt_and_one_effect(office, provider):
    action = letter(office)
    barrier = threading.Barrier(20)

    def work():
        try:
            barrier.wait()
            execution.execute(office.company.pk, action.pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert provider.sends(str(action.pk)) == 1
    with office.scope():
        assert Attempt.objects.filter(action=action).count() == 1
    assert office.fresh(action).status == Status.EXECUTED


def test_a_clear_refusal_is_a_failure_and_nothing_is_in_doubt(office, provider):
    provider.set_mode("refuse")
    done = office.execute(letter(office))
    assert (done.status, done.failure["code"]) == (Status.FAILED, "REFUSED")
    with office.scope():
        assert not Alert.objects.exists()


@pytest.mark.parametrize("mode", ["timeout_after", "garbage", "slow"])
def test_H60_an_uncertain_outcome_is_in_doubt_and_the_providers_record_settles_it(office, provider, mode):
    provider.set_mode(mode)
    action = letter(office)
    assert office.execute(action).status == Status.IN_DOUBT
    for _ in range(3):
        office.execute(action)
    with office.scope():
        assert [alert.kind for alert in Alert.objects.filter(handled_at=None)] == ["in_doubt"]
    if mode == "slow":
        provider_done(provider, action)
    office.run_due("reconcile_action", action)
    done = office.fresh(action)
    assert done.status == Status.EXECUTED
    assert provider.sends(str(action.pk)) == 1
    with office.scope():
        assert [m.code for m in Message.objects.filter(role="record").order_by("position")] == ["in_doubt", "executed"]
        assert AuditEvent.objects.filter(kind="action.executed", body__contains='"how":"reconciled"').exists()
        assert not Alert.objects.filter(handled_at=None).exists()
        assert audit.verify().whole


def provider_done(provider, action):
    deadline = time.monotonic() + 5
    while provider.find(str(action.pk)) is None and time.monotonic() < deadline:
        time.sleep(0.05)


def test_what_the_provider_does_not_know_stays_in_doubt_until_a_person_settles_it(office, provider):
    provider.set_mode("timeout_before")
    action = letter(office)
    office.execute(action)
    office.run_due("reconcile_action", action)
    assert office.fresh(action).status == Status.IN_DOUBT
    with office.scope():
        with pytest.raises(DomainError):
            reconciliation.settle(action.pk, by=office.dana, done=False, note=" ")
        with pytest.raises(DomainError):
            reconciliation.settle(action.pk, by=office.alex, done=False, note="I asked them")
        reconciliation.settle(action.pk, by=office.dana, done=False, note="I asked them")
    assert (office.fresh(action).status, provider.sends(str(action.pk))) == (Status.FAILED, 1)


def test_an_error_inside_an_internal_tool_leaves_nothing_behind(office):
    action = office.propose("rename_client", name="explode")
    office.confirm(action)
    done = office.execute(action)
    assert (done.status, done.failure["code"]) == (Status.FAILED, "ERROR")
    with office.scope():
        assert Client.objects.get(pk=office.client.pk).version == 1
        assert [m.code for m in Message.objects.filter(role="record")] == ["failed"]


def test_T25_a_right_that_was_taken_away_after_the_click_refuses_the_run(office, provider):
    action = office.propose("post_letter", by=office.alex, text="Hi")
    office.confirm(action, by=office.alex)
    with office.scope():
        Membership.objects.filter(pk=office.alex.pk).update(role="viewer")
    done = office.execute(action)
    assert (done.status, done.failure["code"], provider.sends(str(action.pk))) == (Status.FAILED, "FORBIDDEN", 0)


def test_a_record_that_changed_after_the_click_refuses_the_run(office, provider):
    action = letter(office)
    with office.scope():
        Client.objects.filter(pk=office.client.pk).update(version=7)
    done = office.execute(action)
    assert (done.status, done.failure["code"], provider.sends(str(action.pk))) == (Status.FAILED, "CHANGED", 0)


def test_a_tool_that_changed_after_the_click_refuses_the_run(office, provider, monkeypatch):
    action = letter(office)
    monkeypatch.setattr(registry.Tool, "version", property(lambda tool: "another"))
    done = office.execute(action)
    assert (done.status, done.failure["code"], provider.sends(str(action.pk))) == (Status.FAILED, "TOOL_CHANGED", 0)


def test_a_worker_that_slept_before_the_call_may_no_longer_make_it(office, provider, settings):
    """Fault row 13: past its lease the claim opens nothing, so nothing is sent."""
    settings.AVAL_LEASE_SECONDS = -10
    action = letter(office)
    with office.scope():
        running = execution._claim(office.company.pk, action.pk)
    office.run_due("watch_action", action)
    execution._call(running)
    assert (office.fresh(action).status, provider.sends(str(action.pk))) == (Status.IN_DOUBT, 0)
    assert "action.late_answer" in audit_kinds(office, action)


def test_a_worker_that_slept_during_the_call_is_fenced_and_the_lookup_settles_it(
    office, provider, settings, monkeypatch
):
    settings.AVAL_LEASE_SECONDS = -10
    action = letter(office)
    with office.scope():
        running = execution._claim(office.company.pk, action.pk)
    send = FileProvider.send

    def sleep_through_the_lease(self, key, what):
        result = send(self, key, what)
        office.run_due("watch_action", action)
        return result

    monkeypatch.setattr(FileProvider, "send", sleep_through_the_lease)
    execution._call(running)
    assert office.fresh(action).status == Status.IN_DOUBT
    assert "action.late_answer" in audit_kinds(office, action)
    office.run_due("reconcile_action", action)
    assert (office.fresh(action).status, provider.sends(str(action.pk))) == (Status.EXECUTED, 1)


def audit_kinds(office, action):
    with office.scope():
        return list(AuditEvent.objects.filter(subject_id=action.pk).values_list("kind", flat=True))


@pytest.mark.parametrize("tool", ["rename_client", "post_letter", "pay_out"])
def test_T35_no_tools_effect_can_be_reached_without_a_claimed_attempt(office, provider, tool):
    """A pending and a merely confirmed action, with and without a made-up claim: nothing opens the effect."""
    made = registry.TOOLS[tool]
    fields = {"rename_client": {"name": "Joe"}, "post_letter": {"text": "Hi"}, "pay_out": {"amount_cents": 1}}[tool]
    action = office.propose(tool, **fields)
    part = made.execute or made.call
    arguments = (office.context(), action.payload, action.pk) if made.execute else (action.payload, {}, action.pk)
    for confirmed in (False, True):
        if confirmed:
            office.confirm(action, fresh_login=True, held=True, reason="ok")
        with office.scope(), pytest.raises(Unclaimed):
            part(*arguments)
        forged = Claim(office.company.pk, action.pk, uuid.uuid4())
        with office.scope(), claims.holding(forged), pytest.raises(Unclaimed):
            part(*arguments)
    with office.scope():
        assert Client.objects.get(pk=office.client.pk).name == "John Smith"
    assert provider.all_sends() == {}


def test_a_claim_opens_its_own_payload_only(office, provider):
    action = letter(office)
    with office.scope():
        running = execution._claim(office.company.pk, action.pk)
    swapped = running.payload | {"text": "another"}
    with claims.holding(running.claim), pytest.raises(Unclaimed):
        running.made.call(swapped, running.reserved, action.pk)
    assert provider.all_sends() == {}


def test_only_the_claim_moves_an_action_to_executing():
    """T08: in the source, one place writes `executing`, and it is the conditional UPDATE."""
    places = [
        (path.name, line.strip())
        for path in pathlib.Path("assistant").rglob("*.py")
        if "migrations" not in path.parts
        for line in path.read_text().splitlines()
        if re.search(r"status=Status\.EXECUTING\)|status\s*=\s*[\"']executing", line)
        and not re.search(r"filter\(|^\s*case ", line)
    ]
    assert places == [("execution.py", ").update(status=Status.EXECUTING)")]


def test_T10_three_redeliveries_use_one_key_and_have_one_effect(office, provider):
    action = letter(office)
    for _ in range(3):
        office.run_due("execute_action", action)
    assert provider.all_sends() == {str(action.pk): 1}
    with office.scope():
        assert PendingAction.objects.get(pk=action.pk).status == Status.EXECUTED


def test_a_payload_that_was_changed_behind_the_triggers_does_not_run(office, provider):
    """R2: the table's owner switches the trigger off and swaps the payload; the hash is checked before executing."""
    action = letter(office)
    with office.scope(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE assistant_pendingaction DISABLE TRIGGER USER")
        changed = audit.canonical(action.payload | {"text": "another"})
        cursor.execute(
            "UPDATE assistant_pendingaction SET payload_text = %s, payload = %s WHERE id = %s",
            [changed, changed, action.pk],
        )
        cursor.execute("ALTER TABLE assistant_pendingaction ENABLE TRIGGER USER")
    done = office.execute(action)
    assert (done.status, done.failure["code"], provider.all_sends()) == (Status.FAILED, "DIGEST", {})
