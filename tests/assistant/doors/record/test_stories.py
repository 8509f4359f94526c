"""The one page that answers "I did not ask for this", and who may read it (R12, settled question 17)."""

import html
import io
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client as Browser
from pypdf import PdfReader

from assistant.gate import approvals, execution
from assistant.models import Decision, Message, PendingAction
from ledger import audit
from ledger.actions import erasing
from ledger.actions.members import add_member
from ledger.models import AuditEvent, Role
from tests.assistant.doors.conftest import Desk, make_desk
from tests.cast import Cast, aurora
from tests.queries import counted
from tests.support.provider import FileProvider


def browser(cast: Cast, name: str) -> Browser:
    made = Browser()
    made.force_login(cast[name].user)
    return made


def page(desk: Desk, action: PendingAction, name: str = "dana") -> str:
    response = browser(desk.cast, name).get(f"/audit/actions/{action.pk}/")
    assert response.status_code == 200, response.status_code
    return html.unescape(response.content.decode())


def paper(desk: Desk, action: PendingAction, name: str = "dana") -> str:
    response = browser(desk.cast, name).get(f"/audit/actions/{action.pk}/story.pdf")
    assert (response.status_code, response["Content-Type"]) == (200, "application/pdf")
    return printed(response.content)


def printed(content: bytes) -> str:
    """All the text as one line, without the zero-width spaces that let long words break."""
    pages = PdfReader(io.BytesIO(content)).pages
    return " ".join("\n".join(one.extract_text() for one in pages).replace("\u200b", "").split())


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def reads(desk: Desk) -> list[tuple[str, Any]]:
    with desk.cast.scope():
        found = AuditEvent.objects.filter(kind="action.story_read").order_by("at")
        return list(found.values_list("actor__name", "subject_id"))


@pytest.fixture
def done(provider: FileProvider) -> tuple[Desk, PendingAction]:
    """Dana asked, alex clicked in vain, dana confirmed after a while, the letter went out; all of it in one turn."""
    desk = make_desk()
    turn = desk.turn("waiting")
    desk.say("Please write to the Smiths", turn=turn)
    desk.say("I have put a letter before you.", turn=turn, role="assistant")
    desk.say("A word of another turn", turn=desk.turn("done"))
    action = desk.propose("post_letter", turn=turn, text="Dear John, <b>hello</b>")
    with desk.cast.scope(), audit.entering("web", "192.0.2.7"):
        own = approvals.Click(action.pk, desk.conversation.pk, desk.cast.dana, action.digest)
        approvals.seen(own)
        approvals.confirm(approvals.Click(action.pk, desk.conversation.pk, desk.cast.dana, "0" * 64))
    with desk.cast.scope(), audit.entering("web", "192.0.2.8"):
        approvals.confirm(own)
    return desk, execute(desk, action)


def execute(desk: Desk, action: PendingAction) -> PendingAction:
    with desk.cast.scope():
        PendingAction.objects.filter(pk=action.pk, status="scheduled").update(execute_after=action.created_at)
    execution.execute(desk.cast.tenant_id, action.pk)
    return desk.fresh(action)


def test_everything_that_answers_the_question_is_on_the_page_and_on_paper(done: tuple[Desk, PendingAction]) -> None:
    desk, action = done
    assert action.status == "executed"
    with desk.cast.scope():
        seconds = Decision.objects.get(action=action).seconds_shown
    for text in (page(desk, action), paper(desk, action)):
        flat = squeezed(text)
        for words in (
            "What was shown and what ran are the same",
            "Please write to the Smiths",
            "I have put a letter before you.",
            "Do it to John Smith?",
            "Dana decided on exactly this.",
            "192.0.2.8",
            "Confirming came to nothing",
            "192.0.2.7",
            "Dear John, <b>hello</b>",
            "The letter was posted.",
            action.digest,
            f"R-{str(action.pk)[-6:]}",
            "Card put up",
            f"Seconds on the screen {seconds}",
        ):
            assert squeezed(words) in squeezed(re.sub(r"<(?!/?b>)[^>]*>", "", flat)), words
        assert "A word of another turn" not in text
        assert "does NOT" not in text and "differs" not in text
    assert reads(desk) == [], "it is dana's own conversation"


def test_a_payload_that_is_not_what_the_chain_has_is_said_to_differ(done: tuple[Desk, PendingAction]) -> None:
    desk, action = done
    with desk.cast.scope(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE assistant_pendingaction DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE assistant_pendingaction SET payload = jsonb_set(payload, '{text}', '\"Dear Mallory\"')"
            " WHERE id = %s",
            [action.pk],
        )
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE assistant_pendingaction ENABLE TRIGGER USER")
    shown = page(desk, action)
    assert "What was shown and what ran are NOT the same" in shown
    row = shown[shown.index('<tr class="differs">') :]
    assert "hello" in row[: row.index("</tr>")] and "Dear Mallory" in row[: row.index("</tr>")]


def test_a_link_that_does_not_hold_is_said_so(done: tuple[Desk, PendingAction]) -> None:
    desk, action = done
    assert "does NOT hold" not in page(desk, action)
    with desk.cast.scope(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE ledger_auditevent DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE ledger_auditevent SET body = replace(body, 'won', 'lost') WHERE kind = 'action.confirmed'"
            " AND subject_id = %s",
            [action.pk],
        )
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE ledger_auditevent ENABLE TRIGGER USER")
    assert page(desk, action).count("does NOT hold") == 1
    assert paper(desk, action).count(" NO") == 1


def test_others_find_nothing_and_each_reading_by_another_is_on_record(
    done: tuple[Desk, PendingAction], strangers: Cast
) -> None:
    desk, action = done
    with desk.cast.scope():
        email = f"ann@{desk.cast.company.slug}.example"
        desk.cast.people["ann"] = add_member(by=desk.cast.owner, email=email, name="Ann", role=Role.ACCOUNTANT)
    pages = [f"/audit/actions/{action.pk}/{tail}" for tail in ("", "story.pdf", "document.pdf", "page.png")]
    for cast, name in ((desk.cast, "alex"), (strangers, "mallory")):
        assert {browser(cast, name).get(one).status_code for one in pages} == {404}
    assert Browser().get(pages[0]).status_code == 302
    assert reads(desk) == []
    page(desk, action, "ann")
    paper(desk, action, "sam")
    page(desk, action, "dana")
    assert reads(desk) == [("Ann", action.pk), ("Sam", action.pk)]
    assert "Ann" in page(desk, action), "who read it is part of the story"


def test_whoever_asked_reads_their_own_story_without_the_right_to_the_record(provider: FileProvider) -> None:
    desk = make_desk()
    with desk.cast.scope():
        desk.conversation.starter = desk.cast.alex
        desk.conversation.save(update_fields=["starter"])
    action = desk.propose("post_letter", by=desk.cast.alex)
    shown = page(desk, action, "alex")
    assert "Nobody has decided." in shown and "Nothing ran." in shown and "What would have run" in shown
    assert 'href="/audit/?' not in shown
    assert reads(desk) == []


def test_a_story_costs_the_same_however_long_it_is(done: tuple[Desk, PendingAction]) -> None:
    desk, action = done
    own = browser(desk.cast, "dana")
    own.get(f"/audit/actions/{action.pk}/")
    with counted() as few:
        own.get(f"/audit/actions/{action.pk}/")
    with desk.cast.scope():
        for _ in range(10):
            approvals.confirm(approvals.Click(action.pk, desk.conversation.pk, desk.cast.dana, action.digest))
            Message.objects.create(conversation=desk.conversation, turn=action.turn, role="user", text="More")
    with counted() as many:
        own.get(f"/audit/actions/{action.pk}/")
    assert len(many) == len(few)


def test_an_erased_story_still_tells_who_did_what_when(done: tuple[Desk, PendingAction]) -> None:
    desk, action = done
    with desk.cast.scope():
        erasing.erase_person(erasing.person_of("C-0001"), by=desk.cast.dana, reason="Asked.")
    shown = page(desk, action)
    assert "does NOT hold" not in shown and shown.count('<span class="faint">erased</span>') >= 4
    assert paper(desk, action)


def test_the_story_is_portuguese_for_those_who_read_it(provider: FileProvider) -> None:
    desk = make_desk(aurora(undo_seconds={"post_letter": 0}), phone="+5519991230102", address=None)
    action = desk.propose("post_letter", by=desk.cast.bia)
    assert "As palavras que levaram a isto" in page(desk, action, "bia")
    assert "A história de uma ação" in paper(desk, action, "bia")


def test_the_receipt_and_the_inbox_lead_to_it_for_those_who_may(done: tuple[Desk, PendingAction]) -> None:
    desk, action = done
    story = f'href="/audit/actions/{action.pk}/"'
    for path in (desk.url_of(action), desk.url, "/inbox/history/"):
        assert story in browser(desk.cast, "dana").get(path).content.decode(), path
    everyones = browser(desk.cast, "sam").get("/inbox/history/?all=1").content.decode()
    assert story in everyones, "an admin reads the record"
    assert (
        f'href="/audit/actions/{action.pk}/"' not in browser(desk.cast, "alex").get("/inbox/history/").content.decode()
    )
