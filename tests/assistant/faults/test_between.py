"""Who may, and what is open, changes between the click and the claim; row 12 of the fault matrix."""

import pytest

from assistant.models import PendingAction, Status
from ledger.actions.members import change_member_role, deactivate_member
from ledger.models import AuditEvent, Company, Suspension
from tests.assistant.faults.ground import assert_all_holds
from tests.assistant.gate.conftest import Office
from tests.support.provider import FileProvider

STRONG = {"fresh_login": True, "held": True, "reason": "agreed"}


@pytest.fixture
def provider(tmp_path, monkeypatch) -> FileProvider:
    monkeypatch.setenv("AVAL_TEST_PROVIDER", str(tmp_path / "provider"))
    return FileProvider()


def demote_the_requester(office: Office) -> None:
    change_member_role(office.alex, by=office.dana, role="viewer")


def remove_the_requester(office: Office) -> None:
    deactivate_member(office.alex, by=office.dana)


def suspend_the_company(office: Office) -> None:
    Company.objects.filter(pk=office.company.pk).update(active=False)


def pause_the_assistant(office: Office) -> None:
    Suspension.objects.create(started_by=office.dana)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (demote_the_requester, "FORBIDDEN"),
        (remove_the_requester, "FORBIDDEN"),
        (suspend_the_company, "PAUSED"),
        (pause_the_assistant, "PAUSED"),
    ],
)
@pytest.mark.parametrize("tool", [{"tool": "post_letter", "text": "Hi"}, {"tool": "rename_client", "name": "Joe"}])
def test_what_was_confirmed_does_not_run_after(office: Office, provider: FileProvider, tool, change, code: str):
    action = office.propose(by=office.alex, **tool)
    office.confirm(action, by=office.alex)
    assert office.fresh(action).status == Status.SCHEDULED
    with office.scope():
        change(office)
    refused(office, provider, action, code)


@pytest.mark.parametrize("who", ["first", "second"])
@pytest.mark.parametrize("how", ["loses the right", "leaves"])
def test_an_approver_who_no_longer_may_takes_the_approval_with_them(
    office: Office, provider: FileProvider, who: str, how: str
):
    """Money out for two: both keys have to be good at the moment of the run, not only at their click."""
    action = office.propose("pay_out", by=office.sam, amount_cents=60_000)
    office.confirm(action, by=office.sam, **STRONG)
    assert office.confirm(action, by=office.dana, **STRONG).action.status == Status.SCHEDULED
    with office.scope():
        other = {"first": office.sam, "second": office.dana}[who]
        boss = another_owner(office) if who == "second" else office.dana  # the last owner would have to stay
        if how == "leaves":
            deactivate_member(other, by=boss)
        else:
            change_member_role(other, by=boss, role=other.role, approve_l3=False)
    refused(office, provider, action, "FORBIDDEN")


def another_owner(office: Office):
    change_member_role(office.alex, by=office.dana, role="owner")
    office.alex.refresh_from_db()
    return office.alex


def refused(office: Office, provider: FileProvider, action: PendingAction, code: str) -> None:
    """Refused, on record, told; nothing was sent and nothing changed."""
    done = office.execute(action)
    assert (done.status, done.failure["code"], provider.all_sends()) == (Status.FAILED, code, {})
    with office.scope():
        office.client.refresh_from_db()
        assert (office.client.name, office.client.tags) == ("John Smith", [])
        [event] = AuditEvent.objects.filter(subject_id=action.pk, kind="action.failed")
        assert f'"code":"{code}"' in event.body
    assert_all_holds(office, provider)
