"""Questions about a waiting card: answered by the records, kept on it for everybody who sees it, deciding nothing."""

import re
from typing import Any

import pytest

from assistant.gate import asking
from assistant.models import OPEN, Conversation, Decision, PendingAction, Question
from ledger.actions.receiving import receive_message
from ledger.models import AuditEvent, Channel, Client
from tests import offers
from tests.assistant.doors.conftest import Desk, make_desk
from tests.assistant.doors.test_deciding import executed
from tests.bills import issued
from tests.cast import aurora, strangers
from tests.queries import counted


def ask(
    desk: Desk, action: PendingAction, question: str, *, name: str = "dana", shown: str = "", **headers: str
) -> Any:
    fields = {"hash": shown or action.digest, "question": question}
    return desk.browser(name).post(desk.url_of(action, "ask"), fields, **headers)


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.replace("\xa0", " ")))


def answer(desk: Desk, action: PendingAction, question: str, name: str = "dana") -> str:
    """What stands under the question on the card after it was asked."""
    given = ask(desk, action, question, name=name, HTTP_HX_REQUEST="true")
    assert given.status_code == 200, given.content
    html = given.content.decode()
    return words(html[html.rindex('<section id="question-') :].partition("</section>")[0])


@pytest.fixture
def busy(desk: Desk) -> Desk:
    """John has a quote that is out, an invoice to pay, and has written."""
    with desk.cast.scope():
        offers.send(desk.cast, offers.cedar_bend(desk.cast, desk.client))
        issued(desk.cast, "350.00", client=desk.client)
        receive_message(
            desk.client, by=None, channel=Channel.EMAIL, sender="john.smith@example.com", subject="Gutters?", body="Hi"
        )
    return desk


def test_the_records_answer_and_the_card_stays_as_it_was(busy: Desk):
    turn = busy.turn("waiting")
    busy.say("Write to John, please", turn=turn)
    executed(busy, "rename_client", name="John Smith")
    action = busy.propose("rename_client", name="Joe Smith", turn=turn)
    before = {"status": action.status, "digest": action.digest, "expires_at": action.expires_at}
    who = answer(busy, action, "who")
    assert "Who is this? Dana," in who
    for fact in ("John Smith", "C-0001", "Austin", "john.smith@example.com", "On record since"):
        assert fact in who, fact
    assert "Blocked" not in who
    written = answer(busy, action, "last_messages")
    assert written.index("Gutters? Status Received") < written.index("Status Sent")
    opened = answer(busy, action, "open_with")
    assert re.search(r"Quote Q-\d+ .* Total \$10,157\.64 Status Sent", opened)
    assert re.search(r"Invoice INV-\d+ Left to pay \$350\.00 Due date", opened)
    assert "What was done Rename" in answer(busy, action, "done_before")
    assert "Who Dana When" in (told := answer(busy, action, "origin"))
    assert "Write to John, please" in told
    after = busy.fresh(action)
    assert {name: getattr(after, name) for name in before} == before
    assert after.seq > action.seq
    with busy.cast.scope():
        assert not Decision.objects.filter(action=action).exists()
        events = AuditEvent.objects.filter(kind="action.asked", subject_id=action.pk).order_by("at")
        assert [event.told["detail"]["code"] if "detail" in event.told else event.told["code"] for event in events] == [
            "who",
            "last_messages",
            "open_with",
            "done_before",
            "origin",
        ]
    assert busy.browser().post(busy.url_of(action, "confirm"), {"hash": action.digest}).status_code == 303
    page = busy.browser().get(busy.url_of(action)).content.decode()
    assert page.count('<section id="question-') == 5, "evidence stays on what the card became"
    assert 'name="question"' not in page
    story = busy.browser().get(f"/audit/actions/{action.pk}/").content.decode()
    assert (story.count("Who is this?"), 'name="question"' in story) == (1, False)


def test_every_place_that_shows_the_card_shows_the_answers_to_whoever_may_see_it(busy: Desk):
    """Sam, who may decide it too, reads what Dana asked; the queries do not grow with the questions."""
    action = busy.propose("pay_out", amount_cents=60_001)
    with counted() as few:
        busy.browser().get(busy.url)
    for code in asking.offered(action):
        answer(busy, action, code)
    with counted() as many:
        busy.browser().get(busy.url)
    assert len(many) <= len(few)
    for name, url in (("dana", busy.url), ("dana", busy.url_of(action)), ("sam", busy.url_of(action))):
        html = busy.browser(name).get(url).content.decode()
        assert html.count('<section id="question-') == len(asking.offered(action)), url
    body = busy.browser().get(f"/api/v1/actions/{action.pk}/").json()
    assert [one["question"] for one in body["questions"]] == list(asking.offered(action))


def test_nothing_on_record_is_said_so(desk: Desk):
    action = desk.propose()
    for code in ("last_messages", "open_with", "done_before"):
        assert "Nothing on record." in answer(desk, action, code)


def test_a_card_offers_what_it_can_answer(desk: Desk):
    """Put up by a page, nothing was said; nobody's words are those of another turn."""
    action = desk.propose()
    assert asking.offered(action) == ("who", "last_messages", "open_with", "done_before")
    for code in ("origin", "", "confirm", "who; drop"):
        assert ask(desk, action, code).status_code == 422, code
    with desk.cast.scope():
        assert not Question.objects.exists()


def test_it_is_asked_of_the_card_that_was_shown_and_waits(desk: Desk):
    action, other = desk.propose(), make_desk(strangers())
    assert ask(desk, action, "who", shown="0" * 64, HTTP_HX_REQUEST="true").status_code == 409
    assert ask(desk, action, "who", name="alex").status_code == 404
    assert other.browser("mallory").post(desk.url_of(action, "ask"), {"question": "who"}).status_code == 404
    desk.browser().post(desk.url_of(action, "cancel"), {"hash": action.digest})
    assert ask(desk, action, "who", HTTP_HX_REQUEST="true").status_code == 409
    with desk.cast.scope():
        assert not Question.objects.exists()


def test_two_presses_are_one_question_and_there_are_twenty_at_most(desk: Desk):
    action = desk.propose()
    for _ in range(2):
        answer(desk, action, "who")
    with desk.cast.scope():
        assert Question.objects.filter(action=action).count() == 1
        for _ in range(asking.MOST - 1):
            Question.objects.create(action=action, member=desk.cast.sam, code="who", answer=[])
    full = ask(desk, action, "open_with", HTTP_HX_REQUEST="true")
    assert (full.status_code, 'name="question"' in full.content.decode()) == (422, False)
    assert "enough questions" in full.content.decode()


def test_a_program_and_a_page_without_scripts_ask_as_well(desk: Desk):
    action, browser = desk.propose(), desk.browser()
    told = browser.post(
        desk.url_of(action, "ask"),
        {"hash": action.digest, "question": "who"},
        content_type="application/json",
        headers={"accept": "application/json"},
    ).json()
    assert (told["outcome"], told["action"]["status"]) == ("asked", "pending")
    assert told["action"]["questions"][0]["by"] == "Dana"
    plain = ask(desk, action, "open_with")
    assert (plain.status_code, plain["Location"]) == (303, desk.url_of(action))
    assert browser.get(plain["Location"]).content.decode().count("<section id=") == 2


def test_the_answer_reads_in_the_language_of_its_reader():
    """What is stored are codes: a Portuguese reader gets Portuguese days, amounts and states."""
    office = aurora()
    with office.scope():
        client = Client.objects.create(ref="C-0001", kind="person", name="João", name_key="joao", language="pt-BR")
        desk = Desk(office, Conversation.objects.create(starter=office.owner), client)
        issued(office, "1350.00", client=client)
    action = desk.propose(by=office.bia)
    text = answer(desk, action, "open_with", name="bia")
    assert "O que está em aberto com eles?" in text
    assert "R$ 1.350,00" in text
    assert "Emitida" in text
    assert action.status in OPEN
