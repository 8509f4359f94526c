"""The agent, killed just before and just after a card's commit; rows 1 and 2 of the fault matrix."""

import httpx2 as httpx
import pytest

from assistant.models import PendingAction, Status, Turn
from tests import cast as casts
from tests.assistant.agent.talk import Stage, Talk
from tests.assistant.faults.ground import Ground, assert_all_holds, wait_for
from tests.assistant.faults.stories import PROPOSE, begin, rests
from tests.support.signing_in import signed_in

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]


@pytest.fixture
def talk(stage: Stage) -> Talk:
    return begin(casts.lone_ridge(), stage)


def cards(talk: Talk) -> list[PendingAction]:
    with talk.scope():
        return list(PendingAction.objects.all())


def killed_at(ground: Ground, talk: Talk, point: str) -> None:
    ground.kills.once(point)
    ground.running("agent")
    talk.post(PROPOSE)
    wait_for(lambda: ground.kills.deaths(point) == 1, ground=ground)
    wait_for(lambda: not ground.now["agent"].alive())


def test_an_agent_killed_before_the_cards_commit_leaves_none_and_a_history_without_loose_ends(
    ground: Ground, talk: Talk
):
    killed_at(ground, talk, "propose-")
    assert cards(talk) == []
    talk.history()
    assert_all_holds(talk.cast, ground.provider)
    ground.running("agent")
    wait_for(lambda: rests(talk), ground=ground)
    assert (talk.turn().status, [card.status for card in cards(talk)]) == (Turn.Status.WAITING, [Status.PENDING])
    assert_all_holds(talk.cast, ground.provider)


def test_an_agent_killed_after_the_cards_commit_leaves_one_card_that_the_page_fetches(ground: Ground, talk: Talk):
    killed_at(ground, talk, "propose+")
    [card] = cards(talk)
    assert (card.status, [one["content"] for one in talk.history() if one["role"] == "tool"]) == (
        Status.PENDING,
        [one.result for one in talk.calls()],
    )
    web, (cookies, headers) = ground.running("web"), signed_in(talk.cast.owner)
    page = httpx.get(f"{web.url}/c/{talk.conversation.pk}/", cookies=cookies, headers=headers, timeout=30)
    assert (page.status_code, f'id="action-{card.pk}"' in page.text) == (200, True)
    ground.running("agent")
    wait_for(lambda: rests(talk), ground=ground)
    assert (talk.turn().status, [one.pk for one in cards(talk)]) == (Turn.Status.WAITING, [card.pk])
    assert_all_holds(talk.cast, ground.provider)


def test_an_agent_that_dies_of_every_proposal_gives_it_up_and_says_so(ground: Ground, talk: Talk):
    ground.kills.loop("propose-")
    talk.post(PROPOSE)

    def gave_up() -> bool:
        ground.running("agent")
        return rests(talk)

    wait_for(gave_up, ground=ground)
    assert (talk.turn().status, cards(talk)) == (Turn.Status.DONE, [])
    assert ground.kills.deaths("propose-") == 2
    [one] = talk.calls()
    assert (one.status, "not run: the process stopped" in one.result) == ("skipped", True)
    assert_all_holds(talk.cast, ground.provider)
