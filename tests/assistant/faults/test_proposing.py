"""The agent, killed just before and just after a card's commit; rows 1 and 2 of the fault matrix."""

from collections.abc import Iterator

import httpx2 as httpx
import pytest

from assistant import turns
from assistant.models import PendingAction, Status, Turn
from tests import cast as casts
from tests.assistant.agent.talk import Stage, Talk, call, say, step
from tests.assistant.faults.ground import Ground, assert_all_holds, prepared, wait_for
from tests.assistant.faults.stories import begin
from tests.support.signing_in import signed_in

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]

STORY = (
    step(say("On the card."), call("rename_client", client_ref="C-0001", name="Joe"), when={"call": 0}),
    step(say("I could not put it up."), when={"call": 1}),
)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    own = Stage(*STORY, idle_seconds=30.0, developer_role=True)
    yield own
    own.close()


@pytest.fixture(scope="module")
def module_ground(stage: Stage, database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    url = stage.endpoint.model.settings.base_url
    folder = tmp_path_factory.mktemp("ground")
    with prepared(database_url, folder, OPENAI_BASE_URL=url, OPENAI_MODEL="scripted") as ground:
        yield ground


@pytest.fixture
def talk(stage: Stage) -> Talk:
    return begin(casts.lone_ridge(), stage)


def cards(talk: Talk) -> list[PendingAction]:
    with talk.scope():
        return list(PendingAction.objects.all())


def rests(talk: Talk) -> bool:
    return talk.turn().status not in turns.BUSY


def killed_at(ground: Ground, talk: Talk, point: str) -> None:
    ground.kills.once(point)
    ground.running("agent")
    talk.post("rename him Joe")
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
    talk.post("rename him Joe")

    def gave_up() -> bool:
        ground.running("agent")
        return rests(talk)

    wait_for(gave_up, ground=ground)
    assert (talk.turn().status, cards(talk)) == (Turn.Status.DONE, [])
    assert ground.kills.deaths("propose-") == 2
    [one] = talk.calls()
    assert (one.status, "not run: the process stopped" in one.result) == ("skipped", True)
    assert_all_holds(talk.cast, ground.provider)
