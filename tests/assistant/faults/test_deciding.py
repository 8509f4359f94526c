"""The web server, killed just before and just after a decision's commit, and two people at once over HTTP.

Rows 4, 5, 6, 9 and 12 of the fault matrix.
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx2 as httpx
import pytest
from django_q.models import OrmQ

from assistant.models import Attempt, Decision, PendingAction, Status
from ledger.models import Access, AuditEvent, Due, Membership, User
from tests.assistant.faults.ground import Ground, assert_all_holds, until, wait_for
from tests.assistant.gate.conftest import Office
from tests.support.signing_in import signed_in

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]


def click(ground: Ground, member: Membership, action: PendingAction, word: str = "confirm", **fields: str):
    """The answer to a click on a card's button, as htmx sends it."""
    cookies, headers = signed_in(member)
    address = f"{ground.running('web').url}/c/{action.conversation_id}/actions/{action.pk}/{word}"
    with httpx.Client(cookies=cookies, headers=headers | {"HX-Request": "true"}, timeout=30) as http:
        return http.post(address, data={"hash": action.digest} | fields)


def killed_at(ground: Ground, office: Office, action: PendingAction, point: str) -> None:
    """A click that gets no answer: the person sees an error of the network."""
    ground.running("web")
    ground.kills.once(point, action.pk)
    with pytest.raises(httpx.TransportError):
        click(ground, office.dana, action)
    wait_for(lambda: ground.kills.deaths(point) == 1 and not ground.now["web"].alive(), ground=ground)


def decided(office: Office, action: PendingAction) -> list[str]:
    kinds = ("action.confirmed", "action.confirm_not_taken")
    with office.scope():
        events = AuditEvent.objects.filter(subject_id=action.pk, kind__in=kinds)
        return sorted(events.values_list("kind", flat=True))


def test_a_web_killed_before_the_decisions_commit_has_decided_nothing_and_the_next_click_works(
    ground: Ground, office: Office
):
    action = office.propose("rename_client", name="Joe")
    killed_at(ground, office, action, "confirm-")
    assert (office.fresh(action).status, decided(office, action)) == (Status.PENDING, [])
    assert not Due.objects.filter(kind="execute_action", object_id=action.pk).exists()
    assert_all_holds(office, ground.provider)
    assert click(ground, office.dana, action).status_code == 200
    ground.running("worker")
    assert until(office, action) == [Status.EXECUTED]
    assert decided(office, action) == ["action.confirmed"]
    assert_all_holds(office, ground.provider)


def test_a_web_killed_after_the_decisions_commit_gives_the_same_answer_to_the_next_click(
    ground: Ground, office: Office
):
    """Row 6 as well: the wake-up is in the decision's transaction, and without it the sweep finds the promise."""
    ground.stop("worker")
    action = office.propose("rename_client", name="Joe")
    killed_at(ground, office, action, "confirm+")
    assert (office.fresh(action).status, decided(office, action)) == (Status.SCHEDULED, ["action.confirmed"])
    wake_ups = [row for row in OrmQ.objects.all() if str(action.pk) in row.task.get("args", ())]
    assert (len(wake_ups), Due.objects.filter(kind="execute_action", object_id=action.pk).count()) == (1, 1)
    wake_ups[0].delete()
    answer = click(ground, office.dana, action)
    assert (answer.status_code, str(action.pk) in answer.text) == (200, True)
    ground.running("worker")
    assert until(office, action, seconds=10) == [Status.EXECUTED]
    assert click(ground, office.dana, action).status_code == 200
    assert decided(office, action) == [*["action.confirm_not_taken"] * 2, "action.confirmed"]
    with office.scope():
        office.client.refresh_from_db()
        assert (Attempt.objects.count(), office.client.version) == (1, 2)
    assert_all_holds(office, ground.provider)


def test_of_two_second_approvers_at_once_one_decides_and_the_other_reads_who(ground: Ground, office: Office):
    kim = third_approver(office)
    strong = {"held": "1", "reason": "agreed"}
    action = office.propose("pay_out", amount_cents=60_000)
    ground.running("web")
    assert click(ground, office.dana, action, **strong).status_code == 200
    barrier = Barrier(2)

    def second(member: Membership) -> tuple[str, int, str]:
        barrier.wait()
        answer = click(ground, member, action, **strong)
        return member.name, answer.status_code, answer.text

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(second, (office.sam, kim)), key=lambda answer: answer[1])
    assert [status for _name, status, _text in answers] == [200, 409]
    assert answers[0][0] in answers[1][2], "the loser reads the winner's name"
    with office.scope():
        assert [d.slot for d in Decision.objects.order_by("slot")] == [1, 2]
    assert office.fresh(action).status in (Status.SCHEDULED, *until(office, action, statuses=tuple(Status)))
    assert_all_holds(office, ground.provider)


@pytest.mark.parametrize("word", ["confirm", "reject"])
def test_who_comes_second_reads_who_decided_first(ground: Ground, office: Office, word: str):
    """Sam answers a card for two people that Kim has rejected."""
    kim, strong = third_approver(office), {"held": "1", "reason": "agreed"}
    action = office.propose("pay_out", amount_cents=60_000)
    click(ground, office.dana, action, **strong)
    assert click(ground, kim, action, "reject", reason="no budget").status_code == 200
    answer = click(ground, office.sam, action, word, **strong)
    assert (answer.status_code, "Kim" in answer.text) == (409, True)
    assert office.fresh(action).status == Status.REJECTED
    assert_all_holds(office, ground.provider)


def third_approver(office: Office) -> Membership:
    with office.scope():
        user = User.objects.create(email=f"kim@{office.company.slug}.example")
        Access.objects.create(user=user, tenant=office.company)
        return Membership.objects.create(user=user, ref="U-09", name="Kim", role="admin", approve_l3=True)
