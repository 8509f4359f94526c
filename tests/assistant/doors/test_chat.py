"""The chat page: what it shows after a reload, what a post does, with and without scripts."""

import re

import pytest
from django.test import Client as Browser

from assistant.doors import sidebar
from assistant.models import Conversation, Message, Turn
from tests.assistant.doors.conftest import Desk, key, make_desk
from tests.cast import PASSWORD, lone_ridge, strangers


def slips(html: str) -> list[tuple[str, str]]:
    """Each card of a page: its action's id and its status."""
    return re.findall(r'<section class="slip[^"]*" id="action-([0-9a-f-]+)"[^>]*data-state="([a-z_]+)"', html)


def test_h47_t50_a_reload_shows_the_one_waiting_card_with_working_forms(desk: Desk):
    """Reload, another device, scripts off: the same card from the rows; the form of the page decides."""
    turn = desk.turn("waiting")
    desk.say("post a letter", turn=turn)
    action = desk.propose(turn=turn)
    for browser in (desk.browser(), desk.browser(user_agent="a phone")):
        html = browser.get(desk.url).content.decode()
        assert slips(html) == [(str(action.pk), "pending")]
        form = re.search(r'<form class="decide" method="post" action="([^"]+)"', html)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)
        shown = re.search(r'name="hash" value="([0-9a-f]{64})"', html)
        assert form and token and shown
        assert (form[1], shown[1]) == (desk.url_of(action, "confirm"), action.digest)
    strict = Browser(enforce_csrf_checks=True)
    strict.force_login(desk.cast.dana.user)
    html = strict.get(desk.url).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)[1]
    answer = strict.post(form[1], {"hash": shown[1], "csrfmiddlewaretoken": token})
    assert answer.status_code == 303
    assert slips(strict.get(desk.url).content.decode()) == [(str(action.pk), "scheduled")]


def test_t56_after_a_decision_no_surface_has_its_buttons(desk: Desk):
    action, browser = desk.propose(), desk.browser()
    browser.post(desk.url_of(action, "cancel"), {"hash": action.digest})
    for url in (desk.url, desk.url_of(action)):
        html = browser.get(url).content.decode()
        assert slips(html) == [(str(action.pk), "cancelled")]
        assert f"{desk.url_of(action)}confirm" not in html


def test_a_card_page_asks_for_news_and_gets_the_card_only_when_it_changed(desk: Desk):
    action, browser = desk.propose(), desk.browser()
    html = browser.get(desk.url_of(action)).content.decode()
    poll = re.search(r'hx-get="([^"]+\?status=pending)" hx-trigger="every 3s"', html)
    assert poll
    assert browser.get(poll[1], HTTP_HX_REQUEST="true").status_code == 204
    browser.post(desk.url_of(action, "cancel"), {"hash": action.digest})
    news = browser.get(poll[1], HTTP_HX_REQUEST="true")
    assert slips(news.content.decode()) == [(str(action.pk), "cancelled")]
    assert "autofocus" not in news.content.decode()


def test_the_thread_stands_in_the_order_of_what_happened(desk: Desk):
    turn = desk.turn("waiting")
    desk.say("Send it", turn=turn)
    looked = desk.say("", turn=turn, role="assistant")
    desk.call(looked, "look_at_client", touched=["C-0001"])
    said = desk.say("It is on a card.", turn=turn, role="assistant")
    action = desk.propose(turn=turn)
    desk.call(said, "post_letter", status="proposed", action=action)
    html = desk.browser().get(desk.url).content.decode()
    places = [html.index(f'id="{part}') for part in ("who-", "work-", f"message-{said.pk}", f"action-{action.pk}")]
    assert places == sorted(places)
    assert "Look at a client" in html
    assert "Stopped before this: Post a letter" in html


def test_answers_are_rendered_and_questions_are_not(desk: Desk):
    turn = desk.turn("done")
    desk.say("**bold?** <b>x</b>", turn=turn)
    desk.say("**bold** <b>x</b>", turn=turn, role="assistant")
    html = desk.browser().get(desk.url).content.decode()
    assert "<p>**bold?** &lt;b&gt;x&lt;/b&gt;</p>" in html
    assert "<p><strong>bold</strong> &lt;b&gt;x&lt;/b&gt;</p>" in html


def test_prose_is_out_of_reach_for_htmx(desk: Desk):
    turn = desk.turn("done")
    desk.say("<hx-partial hx-target=body> `<hx-get>`", turn=turn, role="assistant")
    html = desk.browser().get(desk.url).content.decode()
    assert "<hx-" not in html
    assert re.findall(r'<div class="prose"[^>]*>', html) == [
        m for m in re.findall(r'<div class="prose"[^>]*>', html) if " hx-ignore" in m
    ]


def test_a_record_for_the_model_is_not_shown_to_people(desk: Desk):
    """T45 from the other side."""
    turn = desk.turn("done")
    desk.say("record of an action", turn=turn, role="record")
    assert "record of an action" not in desk.browser().get(desk.url).content.decode()


def test_a_post_from_htmx_answers_with_the_bubble_and_a_fresh_key(desk: Desk):
    given = {"text": "Hello there", "key": key()}
    answer = desk.browser().post(f"{desk.url}messages", given, HTTP_HX_REQUEST="true")
    html = answer.content.decode()
    assert answer.status_code == 200
    assert "<p>Hello there</p>" in html
    assert re.search(r'id="message-key" name="key" value="([^"]+)"', html)[1] != given["key"]
    assert "&lt;hx-partial" not in html


def test_a_plain_post_is_redirected_to_the_page(desk: Desk):
    browser = desk.browser()
    answer = browser.post(f"{desk.url}messages", {"text": "Hello there", "key": key()})
    assert (answer.status_code, answer["Location"]) == (303, desk.url)
    html = browser.get(desk.url).content.decode()
    assert "<p>Hello there</p>" in html
    assert '<meta http-equiv="refresh"' in html


def test_h22_the_same_form_posted_five_times_is_one_message(desk: Desk):
    browser, given = desk.browser(), {"text": "Hello there", "key": key()}
    answers = [browser.post(f"{desk.url}messages", given).status_code for _ in range(5)]
    assert answers == [303] * 5
    with desk.cast.scope():
        assert Message.objects.filter(conversation=desk.conversation).count() == 1


def test_h22_a_conversation_begins_once_for_each_form(desk: Desk):
    browser, given = desk.browser(), {"text": "Hello there", "key": key()}
    places = {browser.post("/c/", given)["Location"] for _ in range(3)}
    assert len(places) == 1
    with desk.cast.scope():
        assert Conversation.objects.filter(pk=given["key"]).count() == 1
        assert Turn.objects.filter(conversation=given["key"]).count() == 1
    other = browser.post("/c/", {"text": "Hello there", "key": key()})["Location"]
    assert other not in places


def test_a_key_that_is_anothers_conversation_begins_nothing(desk: Desk):
    answer = desk.browser("alex").post("/c/", {"text": "Hi", "key": str(desk.conversation.pk)})
    assert answer.status_code == 400
    foreign = make_desk(strangers()).browser("mallory")
    assert foreign.post("/c/", {"text": "Hi", "key": str(desk.conversation.pk)}).status_code == 400
    with desk.cast.scope():
        assert Message.objects.count() == 0


@pytest.mark.parametrize(
    "given",
    [{}, {"text": "", "key": "x"}, {"text": "hi"}, {"text": "hi", "key": "not a uuid"}, {"text": " \n\t", "key": None}],
)
def test_what_cannot_be_taken_gets_a_sentence_and_changes_nothing(desk: Desk, given: dict[str, str | None]):
    data = {name: key() if value is None else value for name, value in given.items()}
    browser = desk.browser()
    for url in (f"{desk.url}messages", "/c/"):
        answer = browser.post(url, data)
        assert answer.status_code == 422
        assert 'class="note wrong" role="alert"' in answer.content.decode()
    htmx = browser.post(f"{desk.url}messages", data, HTTP_HX_REQUEST="true")
    assert htmx.status_code == 422
    assert 'hx-target="#composer-note"' in htmx.content.decode()
    with desk.cast.scope():
        assert Message.objects.count() == 0
        assert Conversation.objects.count() == 1


def test_a_message_that_is_too_long_keeps_what_was_typed(desk: Desk):
    answer = desk.browser().post(f"{desk.url}messages", {"text": "word " * 3000, "key": key()})
    assert answer.status_code == 422
    assert "word word" in answer.content.decode()


def test_t75_a_bare_yes_points_to_the_card_and_decides_nothing(desk: Desk):
    turn = desk.turn("waiting")
    action = desk.propose(turn=turn)
    answer = desk.browser().post(f"{desk.url}messages", {"text": "ok", "key": key()}, HTTP_HX_REQUEST="true")
    assert answer.status_code == 200
    assert "only its buttons decide" in answer.content.decode()
    assert desk.fresh(action).status == "pending"


def test_r4_a_conversation_is_its_starters(desk: Desk):
    mallory = make_desk(strangers()).browser("mallory")
    for browser in (mallory, desk.browser("alex")):
        for method, url in (
            ("get", desk.url),
            ("post", f"{desk.url}messages"),
            ("post", f"{desk.url}stop"),
            ("post", f"{desk.url}retry"),
            ("get", f"/c/{key()}/"),
        ):
            answer = getattr(browser, method)(url, {"text": "hi", "key": key()})
            assert answer.status_code == 404, url


def test_an_owner_may_read_along_and_that_is_on_record_but_not_speak(desk: Desk):
    """Settled question 17."""
    alexs = make_desk(desk.cast)
    with desk.cast.scope():
        Conversation.objects.filter(pk=alexs.conversation.pk).update(starter=desk.cast.alex)
    dana = desk.browser()
    html = dana.get(alexs.url).content.decode()
    assert 'id="thread"' in html
    assert 'id="composer"' not in html
    assert dana.post(f"{alexs.url}messages", {"text": "hi", "key": key()}).status_code == 404


def test_the_number_of_queries_does_not_grow_with_the_conversation(desk: Desk, django_assert_max_num_queries):
    browser = desk.browser()

    def grow(turns: int) -> None:
        for _ in range(turns):
            turn = desk.turn("done")
            desk.say("hi", turn=turn)
            said = desk.say("hello", turn=turn, role="assistant")
            desk.call(said, "look_at_client")
            desk.propose("rename_client", turn=turn, name=key())

    grow(1)
    counted = []
    for more in (0, 12):
        grow(more)
        with django_assert_max_num_queries(45) as queries:
            browser.get(desk.url)
        counted.append(len(queries))
    assert counted[1] == counted[0]


def test_the_page_says_that_no_model_is_connected(desk: Desk):
    browser = desk.browser()
    for url in ("/c/", desk.url):
        assert "<b>Rehearsal.</b> No model is connected" in browser.get(url).content.decode()


def test_the_page_does_not_say_so_with_a_model(desk: Desk, settings):
    settings.OPENAI_API_KEY = "sk-test"
    assert "Rehearsal." not in desk.browser().get(desk.url).content.decode()


def test_the_list_marks_where_a_card_waits(desk: Desk):
    other = make_desk(desk.cast)
    desk.propose()
    html = desk.browser().get(other.url).content.decode()
    waits = {
        match[0]: "dot" in match[1]
        for match in re.findall(r'<li id="conversation-([0-9a-f-]+)">(.*?)</li>', html, flags=re.DOTALL)
    }
    assert waits == {str(desk.conversation.pk): True, str(other.conversation.pk): False}


def test_the_badge_counts_what_this_person_may_decide(desk: Desk):
    desk.propose()
    desk.propose("rename_client", name="Jon")
    with desk.cast.scope():
        assert sidebar.waiting_count(desk.cast.dana) == 2
        assert sidebar.waiting_count(desk.cast.alex) == 0


def test_strangers_are_sent_to_sign_in_and_come_back(desk: Desk):
    browser = Browser()
    answer = browser.get(desk.url)
    assert (answer.status_code, answer["Location"]) == (302, f"/login/?next={desk.url}")
    page = browser.get(answer["Location"]).content.decode()
    assert f'name="next" value="{desk.url}"' in page
    user = desk.cast.dana.user
    signed_in = browser.post("/login/", {"username": user.email, "password": "correct horse battery", "next": desk.url})
    assert (signed_in.status_code, signed_in["Location"]) == (302, desk.url)


def test_a_wrong_password_gets_a_sentence(desk: Desk):
    answer = Browser().post("/login/", {"username": desk.cast.dana.user.email, "password": "no"})
    assert "do not belong together" in answer.content.decode()


def test_a_person_in_two_companies_chooses_one():
    first, second = lone_ridge(), strangers()
    with second.scope():
        from_first = first.dana.user
        type(second.mallory).objects.create(user=from_first, ref="U-77", name="Dana", role="sales")
    first.dana.user.accesses.create(tenant_id=second.tenant_id)
    browser = Browser()
    browser.force_login(first.dana.user)
    assert "Switch company" in browser.get("/c/").content.decode()
    page = browser.get("/companies/").content.decode()
    assert first.company.name in page
    assert second.company.name in page
    assert browser.post("/companies/", {"company": str(second.tenant_id)}).status_code == 302
    assert second.company.name in browser.get("/c/").content.decode()
    assert browser.post("/companies/", {"company": key()}).status_code == 404


def test_pages_and_fragments_are_not_kept(desk: Desk):
    action, browser = desk.propose(), desk.browser()
    for url in (desk.url, "/c/", desk.url_of(action)):
        assert browser.get(url)["Cache-Control"] == "no-store"


def test_a_quiet_policy_of_content_on_every_page(desk: Desk):
    for url in ("/c/", desk.url, "/login/", "/nowhere/"):
        policy = desk.browser().get(url)["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


def test_t16_a_card_thirty_messages_up_changes_in_place_when_another_person_confirms(desk: Desk):
    turn = desk.turn("waiting")
    action = desk.propose("pay_out", turn=turn, amount_cents=90_000)
    given = {"hash": action.digest, "typed": "100.00", "reason": "agreed"}
    dana, sam = Browser(), Browser()
    for browser, name in ((dana, "dana"), (sam, "sam")):
        browser.post("/login/", {"username": desk.cast[name].user.email, "password": PASSWORD})
    assert dana.post(desk.url_of(action, "confirm"), given).status_code == 303
    desk.end(turn)
    for number in range(15):
        later = desk.turn("running")
        desk.say(f"question {number}", turn=later)
        desk.say(f"answer {number}", turn=later, role="assistant")
        desk.end(later)
    assert slips(dana.get(desk.url).content.decode()) == [(str(action.pk), "awaiting_second")]
    assert sam.post(desk.url_of(action, "confirm"), given).status_code == 303
    after = dana.get(desk.url).content.decode()
    assert slips(after) == [(str(action.pk), "scheduled")]
    said = [f"{word} {number}" for number in range(15) for word in ("question", "answer")]
    places = [after.index(f'id="action-{action.pk}"'), *(after.index(text) for text in said)]
    assert places == sorted(places)
