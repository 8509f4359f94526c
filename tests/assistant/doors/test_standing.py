"""The pages of standing approvals: written, tried on the past, turned on, revoked; strangers see none of it."""

import re
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from assistant.gate import approvals, execution
from assistant.gate.approvals import Click
from assistant.models import StandingApproval, Status
from tests.assistant.doors.conftest import Desk, make_desk
from tests.cast import strangers

SOON = (timezone.localdate() + timedelta(days=30)).isoformat()


def fields(desk: Desk, **more: str) -> dict[str, str]:
    own = {"tool": "post_letter", "party": desk.client.ref, "times": "5", "valid_until": SOON, "key": str(uuid.uuid4())}
    return own | more


def written(desk: Desk, name: str = "dana", **more: str) -> str:
    """The address of a rule that was just written."""
    answer = desk.browser(name).post("/standing/new/", fields(desk, **more))
    assert answer.status_code == 303, answer.content.decode()
    return str(answer["Location"])


def test_a_rule_is_written_looked_at_turned_on_and_revoked(desk: Desk):
    web = desk.browser("dana")
    address = written(desk, most="1,500.00", note="Weekly letter")
    page = web.get(address).content.decode()
    assert "$1,500.00" in page
    assert "It would have saved 0 clicks." in page
    assert desk.propose("post_letter", text="one").status == Status.PENDING
    assert web.post(f"{address}on").status_code == 303
    action = desk.propose("post_letter", text="two")
    assert action.status == Status.SCHEDULED
    card = web.get(f"/c/{action.conversation_id}/actions/{action.pk}/").content.decode()
    assert "Ran by the standing approval of Dana" in card
    assert action.summary in web.get(address).content.decode()
    assert "In force" in web.get("/standing/").content.decode()
    assert web.post(f"{address}revoke").status_code == 303
    assert "Revoked" in web.get("/standing/").content.decode()
    assert desk.propose("post_letter", text="three").status == Status.PENDING


def test_the_same_form_twice_is_one_rule(desk: Desk):
    form = fields(desk)
    answers = [desk.browser("dana").post("/standing/new/", form) for _ in range(2)]
    assert len({answer["Location"] for answer in answers}) == 1
    with desk.cast.scope():
        assert StandingApproval.objects.count() == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"party": "C-9999"}, "There is no client or lead of this number."),
        ({"party": ""}, "Say for which client."),
        ({"times": ""}, "Say how much, or how often, in one month."),
        ({"valid_until": "2020-01-01"}, "Choose a day that is to come, within a year."),
        ({"most": "many"}, ""),
        ({"tool": "list_clients"}, ""),
        ({"tool": "pay_out", "most": "10", "month": "10"}, "Money that leaves needs your express consent."),
    ],
)
def test_what_cannot_be_is_said_at_its_field_and_what_was_typed_stays(desk: Desk, wrong, says):
    answer = desk.browser("dana").post("/standing/new/", fields(desk, note="Keep me", **wrong))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert 'class="err"' in page
    assert says in page.replace("&#x27;", "'")
    assert 'value="Keep me"' in page
    with desk.cast.scope():
        assert not StandingApproval.objects.exists()


def test_only_the_writer_turns_it_on_and_strangers_find_nothing(desk: Desk):
    address = written(desk)
    sam = desk.browser("sam")
    assert "Turn it on" not in sam.get(address).content.decode()
    assert sam.post(f"{address}on").status_code == 303
    with desk.cast.scope():
        assert StandingApproval.objects.get().on_at is None
    assert make_desk(strangers()).browser("mallory").get(address).status_code == 404
    assert desk.browser("dana").get(f"/standing/{uuid.uuid4()}/").status_code == 404
    assert desk.browser("dana").get(f"{address}on").status_code == 405


def test_amounts_are_read_as_they_are_written_here(desk: Desk):
    with desk.cast.scope():
        desk.cast.dana.user.language = "pt-br"
        desk.cast.dana.user.save(update_fields=["language"])
    written(desk, most="1.500,50")
    with desk.cast.scope():
        assert StandingApproval.objects.get().most_cents == 150_050


def test_what_was_always_confirmed_is_offered(desk: Desk):
    for number in range(5):
        action = desk.propose("rename_client", name=f"John {number}")
        with desk.cast.scope():
            click = Click(action.pk, action.conversation_id, desk.cast.dana, action.digest)
            approvals.confirm(click)
        execution.execute(desk.cast.company.pk, action.pk)
    page = desk.browser("dana").get("/standing/").content.decode()
    assert "confirmed 5 times and never changed" in page
    [link] = re.findall(r'/standing/new/\?tool=rename_client&amp;party=([\w-]+)"', page)
    assert link == desk.client.ref
