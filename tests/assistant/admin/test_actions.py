"""An action's page: what was shown beside what ran, the decisions, the trail; nothing rewrites the past (R2, R12)."""

import hashlib
import html
import json
from typing import Any

from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from assistant.gate import approvals, proposals
from assistant.models import Alert, Conversation, Message, PendingAction, ToolCall, Turn
from assistant.tools import registry
from ledger import audit
from tests import operators
from tests.assistant.gate.conftest import Office
from tests.cast import Cast
from tests.desks import desk_of
from tests.offers import cedar_bend
from tests.operators import text
from tests.support.provider import FileProvider

LIST = "/admin/assistant/pendingaction/"


def page_of(action: PendingAction, browser: Browser) -> str:
    response = browser.get(f"{LIST}{action.pk}/change/")
    assert response.status_code == 200
    return html.unescape(text(response))


def part(page: str, start: str, end: str) -> str:
    return page[page.index(start) : page.index(end, page.index(start))]


def shown(page: str) -> str:
    return part(page, 'id="shown-t"', 'id="ran-t"')


def ran(page: str) -> str:
    return part(page, 'id="ran-t"', 'id="decided-t"')


def test_a_waiting_card_is_shown_as_it_was_without_its_buttons(office: Office) -> None:
    action = office.propose("post_letter", text="Dear John,\u202e hello")
    page = page_of(action, operators.inside(office.company))
    card = part(shown(page), 'class="as-shown"', "Summary, as it was shown")
    for words in ("Do it to John Smith?", "It is done to John Smith.", "⟨U+202E⟩", "As it was shown", action.digest):
        assert words in card, words
    assert "<form" not in card
    assert "<button" not in card
    assert "hx-post" not in card
    assert action.summary.replace("\u202e", "") in shown(page).replace("\u202e", "")
    assert "Nothing." in ran(page)
    assert "What would have run" in ran(page)
    assert "Nothing was run." in page
    assert "Nobody has decided." in page
    assert "On nobody's, as far as is known." in page
    assert "Settle with a note" not in page


def test_what_ran_stands_beside_what_was_shown(office: Office, provider: FileProvider) -> None:
    action = office.propose("post_letter", text="Dear John")
    with office.scope(), audit.entering("web", "192.0.2.9"):
        approvals.seen(office.click(action))
        approvals.confirm(office.click(action, evidence="He rang and said so"))
    done = office.execute(action)
    assert done.status == "executed"
    page = page_of(action, operators.inside(office.company))
    assert "What was shown and what ran are the same" in page
    assert "Dana decided on exactly this." in page
    assert "The receipt is of exactly this: what was confirmed is what ran." in page
    assert "Do it to John Smith?" in shown(page), "the card stays as it was shown, not the receipt it became"
    assert "Dana, Web" in shown(page)
    right = ran(page)
    for words in ("The letter was posted.", f"R-{str(action.pk)[-6:]}", "Dear John", str(office.client.pk)):
        assert words in right, words
    assert right.count(action.digest) == 1
    decided = part(page, 'id="decided-t"', 'id="asked-t"')
    for words in ("Confirmed", "Dana", "Web", "192.0.2.9", "He rang and said so", "Seconds on the screen"):
        assert words in decided, words
    events = part(page, 'id="events-t"', "</section>")
    for kind in ("action.proposed", "action.seen", "action.confirmed", "action.started", "action.executed"):
        assert kind in events, kind


def test_a_rejection_keeps_its_reason(office: Office) -> None:
    action = office.propose("rename_client", name="Jon")
    office.reject(action, reason_code="content", reason="He is called <John>")
    page = page_of(action, operators.inside(office.company))
    assert "Rejected" in page
    assert "He is called <John>" in page
    assert "Nothing was run." in page
    raw = text(operators.inside(office.company).get(f"{LIST}{action.pk}/change/"))
    assert "He is called &lt;John&gt;" in raw


def test_a_failure_says_why(office: Office) -> None:
    action = office.propose("rename_client", name="explode")
    office.confirm(action)
    office.execute(action)
    page = page_of(action, operators.inside(office.company))
    assert "Something went wrong here; nothing was done." in ran(page)
    assert "ERROR" in ran(page)
    assert "RuntimeError" in ran(page)


def test_an_edited_action_leads_to_the_one_that_took_its_place(office: Office) -> None:
    old = office.propose("rename_client", name="Jon")
    with office.scope():
        new = approvals.edit(office.click(old), {"name": "Johnny"}).action
    browser = operators.inside(office.company)
    before, after = page_of(old, browser), page_of(new, browser)
    assert f'Its place was taken by: <a href="{LIST}{new.pk}/change/">' in before
    assert f'It was made from: <a href="{LIST}{old.pk}/change/">' in after
    assert "Jon" in part(shown(after), 'class="as-shown"', "Summary, as it was shown")


def test_a_compensation_leads_both_ways(office: Office) -> None:
    first = office.propose("rename_client", name="Johnny")
    office.confirm(first)
    office.execute(first)
    made = registry.TOOLS["rename_client"]
    arguments = json.dumps({"client_ref": office.client.ref, "name": "John Smith"})
    with office.scope():
        asked = proposals.propose(
            office.context(), made, arguments, conversation_id=office.conversation.pk, compensates=first
        )
    browser = operators.inside(office.company)
    assert f'It reverses: <a href="{LIST}{first.pk}/change/">' in page_of(asked.action, browser)
    assert f'Asked for to reverse it: <a href="{LIST}{asked.action.pk}/change/">' in page_of(first, browser)
    office.confirm(asked.action)
    office.execute(asked.action)
    assert f'It was reversed by: <a href="{LIST}{asked.action.pk}/change/">' in page_of(first, browser)


def test_the_trail_leads_from_the_words_to_the_call(office: Office) -> None:
    with office.scope():
        talk = {"conversation": office.conversation}
        turn = Turn.objects.create(member=office.dana, ordinal=1, status="waiting", **talk)
        other = Turn.objects.create(member=office.dana, ordinal=2, status="done", **talk)
        Message.objects.create(role="user", text="post the letter", author=office.dana, turn=turn, position=1, **talk)
        Message.objects.create(role="user", text="a secret of another turn", turn=other, position=9, **talk)
        reply = Message.objects.create(role="assistant", text="Here is the card.", turn=turn, position=2, **talk)
        made = registry.TOOLS["post_letter"]
        arguments = json.dumps({"client_ref": office.client.ref, "text": "Hi"})
        action = proposals.propose(
            office.context(), made, arguments, turn=turn, call_id="call-7", reason="They asked", **as_id(talk)
        ).action
        ToolCall.objects.create(
            turn=turn, message=reply, index=0, call_id="call-7", name="post_letter", arguments=arguments,
            status="proposed", result="proposed, NOT executed", action=action,
        )  # fmt: skip
    page = page_of(action, operators.inside(office.company))
    trail = part(page, 'id="trail-t"', "</section>")
    for words in (
        str(office.conversation.pk),
        "1, of Dana, Waits for a decision",
        "reply 1 of the turn, call 1 of the reply",
        "call-7",
        "proposed, NOT executed",
        "post the letter",
        "Here is the card.",
    ):
        assert words in trail, words
    assert "a secret of another turn" not in page
    assert "They asked" in part(page, 'id="asked-t"', "</section>")


def as_id(talk: dict[str, Conversation]) -> dict[str, Any]:
    return {"conversation_id": talk["conversation"].pk}


def test_the_file_that_went_out_is_there_byte_for_byte(lone_ridge: Cast, strangers: Cast) -> None:
    desk = desk_of(lone_ridge)
    with lone_ridge.scope():
        cedar_bend(lone_ridge)
    action = desk.propose("send_quote", quote_ref="Q-0001", channel="email")
    browser = operators.inside(lone_ridge.company)
    page = page_of(action, browser)
    assert f'src="{LIST}{action.pk}/page/"' in page
    assert f"/c/{action.conversation_id}" not in page, "staff have no way into the conversation"
    document = browser.get(f"{LIST}{action.pk}/document/")
    assert (document.status_code, document["Content-Type"]) == (200, "application/pdf")
    assert hashlib.sha256(document.content).hexdigest() == action.payload["document_sha256"]
    image = browser.get(f"{LIST}{action.pk}/page/")
    assert (image["Content-Type"], image.content[:4]) == ("image/png", b"\x89PNG")
    elsewhere = operators.inside(strangers.company)
    for name in ("document", "page"):
        assert elsewhere.get(f"{LIST}{action.pk}/{name}/").status_code == 404


def test_an_action_without_a_file_has_none(office: Office) -> None:
    action = office.propose("post_letter", text="Hi")
    browser = operators.inside(office.company)
    for name in ("document", "page"):
        assert browser.get(f"{LIST}{action.pk}/{name}/").status_code == 404


def test_nothing_on_the_page_can_be_posted(office: Office) -> None:
    action = office.propose("post_letter", text="Hi")
    browser = operators.inside(office.company)
    for method in (browser.post, browser.put, browser.delete, browser.patch):
        assert method(f"{LIST}{action.pk}/change/", {"status": "executed"}).status_code == 405
    assert browser.post(f"{LIST}{action.pk}/delete/", {"post": "yes"}).status_code == 403
    assert browser.post(f"{LIST}add/", {"tool": "x"}).status_code == 403
    assert office.fresh(action).status == "pending"


def test_actions_of_another_company_are_not_found(office: Office, stranger: Office) -> None:
    theirs = office.propose("post_letter", text="Hi")
    browser = operators.inside(stranger.company)
    for page in ("change", "history", "delete", "document", "page"):
        assert browser.get(f"{LIST}{theirs.pk}/{page}/").status_code == 404, page
    assert browser.post(f"{LIST}{theirs.pk}/settle/", {"outcome": "failed", "note": "x"}).status_code == 404
    assert str(theirs.pk) not in text(browser.get(LIST))


def test_the_list_is_searched_and_filtered(office: Office, provider: FileProvider) -> None:
    letter = office.propose("post_letter", text="Dear John")
    rename = office.propose("rename_client", name="Johnny")
    office.reject(rename)
    browser = operators.inside(office.company)

    def found(**query: str) -> set[PendingAction]:
        page = text(browser.get(LIST, query))
        return {action for action in (letter, rename) if f"{action.pk}/change/" in page}

    assert found() == {letter, rename}
    assert found(q="Dear") == {letter}
    assert found(q=str(rename.pk)) == {rename}
    assert found(q=str(office.client.pk)) == set()
    assert found(status__exact="rejected") == {rename}
    assert found(tool="post_letter") == {letter}
    assert found(tool="nothing") == set()
    assert found(level="2") == {letter}
    assert found(level="99999999999999999999") == {letter, rename}


def test_the_list_of_actions_and_of_alerts_asks_the_same_for_thirty_as_for_one(office: Office) -> None:
    browser = operators.inside(office.company)
    counted: dict[str, list[int]] = {"pendingaction": [], "alert": [], "turn": []}
    for more in (1, 29):
        with office.scope():
            for number in range(more):
                conversation = Conversation.objects.create(starter=office.dana)
                Turn.objects.create(conversation=conversation, member=office.alex, ordinal=1, status="done")
                made = registry.TOOLS["post_letter"]
                arguments = json.dumps({"client_ref": office.client.ref, "text": f"Letter {number}"})
                one = proposals.propose(office.context(), made, arguments, conversation_id=conversation.pk).action
                Alert.objects.create(action=one, kind="in_doubt", handled_by=office.sam, handled_at=one.created_at)
        for name, counts in counted.items():
            with CaptureQueriesContext(connection) as queries:
                page = text(browser.get(f"/admin/assistant/{name}/"))
            counts.append(len(queries))
    assert "30 alerts" in text(browser.get("/admin/assistant/alert/"))
    assert page.count("/change/") >= 30
    for name, counts in counted.items():
        assert counts[0] == counts[1] < 25, (name, counts)


def test_open_alerts_come_first(office: Office) -> None:
    with office.scope():
        old, new = (office_action(office, number) for number in (1, 2))
        Alert.objects.create(kind="in_doubt", action=new, handled_at=new.created_at)
        Alert.objects.create(kind="in_doubt", action=old)
    browser = operators.inside(office.company)
    page = text(browser.get("/admin/assistant/alert/"))
    assert page.index(old.summary) < page.index(new.summary)
    only_open = text(browser.get("/admin/assistant/alert/", {"handled": "no"}))
    assert (old.summary in only_open, new.summary in only_open) == (True, False)


def office_action(office: Office, number: int) -> PendingAction:
    made = registry.TOOLS["post_letter"]
    arguments = json.dumps({"client_ref": office.client.ref, "text": f"Letter {number}"})
    conversation = Conversation.objects.create(starter=office.dana)
    return proposals.propose(office.context(), made, arguments, conversation_id=conversation.pk).action


def test_the_page_is_in_the_readers_language_and_the_card_in_the_one_it_was_shown_in(office: Office) -> None:
    action = office.propose("post_letter", text="Hi")
    reader = operators.staff(language="pt-br")
    page = text(operators.inside(office.company, reader).get(f"{LIST}{action.pk}/change/"))
    assert '<html lang="pt-br"' in page
    assert '<div class="as-shown" lang="en">' in page


def test_the_page_costs_the_same_however_much_happened(office: Office) -> None:
    action = office.propose("post_letter", text="Hi")
    browser = operators.inside(office.company)
    counts = []
    for _round in (1, 2):
        with CaptureQueriesContext(connection) as queries:
            browser.get(f"{LIST}{action.pk}/change/")
        counts.append(len(queries))
        for _time in range(20):
            with office.scope():
                approvals.reject(office.click(action, shown_hash="0" * 64, reason="no"))
    assert counts[0] == counts[1] < 40, counts
