"""Conversations, actions and tools as JSON for programs: the shapes that stay, and 404 for what is not theirs."""

from django.test import Client as Browser

from assistant.tools import registry
from tests.assistant.doors.conftest import Desk, make_desk
from tests.cast import strangers


def test_the_tools_that_a_member_may_use(desk: Desk):
    answer = desk.browser().get("/api/v1/tools/")
    tools = {made["name"]: made for made in answer.json()["tools"]}
    assert set(tools) == set(registry.TOOLS)
    letter = tools["post_letter"]
    assert (letter["level"], letter["gated"], letter["operation"], letter["may_decide"]) == (2, True, "external", True)
    assert letter["arguments"]["required"] == ["client_ref", "text"]
    assert tools["look_at_client"]["gated"] is False
    alex = {made["name"] for made in desk.browser("alex").get("/api/v1/tools/").json()["tools"]}
    assert "pay_out" not in alex


def test_the_messages_of_a_conversation(desk: Desk):
    turn = desk.turn("waiting")
    desk.say("Hello", turn=turn)
    said = desk.say("I look.", turn=turn, role="assistant")
    desk.call(said, "look_at_client")
    data = desk.browser().get(f"/api/v1/conversations/{desk.conversation.pk}/messages/").json()
    assert (data["conversation"], data["seq"], data["more"]) == (str(desk.conversation.pk), 4, False)
    assert [(m["role"], m["text"], m["state"]) for m in data["messages"]] == [
        ("user", "Hello", "final"),
        ("assistant", "I look.", "final"),
    ]
    assert [call["name"] for call in data["messages"][1]["tool_calls"]] == ["look_at_client"]
    earlier = f"/api/v1/conversations/{desk.conversation.pk}/messages/?before={data['messages'][1]['position']}"
    assert [m["text"] for m in desk.browser().get(earlier).json()["messages"]] == ["Hello"]


def test_an_action(desk: Desk):
    action = desk.propose()
    data = desk.browser().get(f"/api/v1/actions/{action.pk}/").json()
    assert (data["id"], data["status"], data["tool"], data["hash"]) == (
        str(action.pk),
        "pending",
        "post_letter",
        action.digest,
    )
    assert data["preview"] == action.preview
    assert data["payload"] == action.payload
    assert data["decisions"] == []


def test_r4_strangers_and_colleagues_get_404_and_the_unknown_403(desk: Desk):
    action = desk.propose()
    urls = (f"/api/v1/conversations/{desk.conversation.pk}/messages/", f"/api/v1/actions/{action.pk}/")
    mallory = make_desk(strangers()).browser("mallory")
    for url in urls:
        assert desk.browser().get(url).status_code == 200
        assert mallory.get(url).status_code == 404
        assert desk.browser("alex").get(url).status_code == 404
        assert Browser().get(url).status_code == 403
        assert desk.browser().post(url).status_code == 405
    assert Browser().get("/api/v1/tools/").status_code == 403
