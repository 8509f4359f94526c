"""What the one scripted model of all fault tests plays, told by what a person says; and conversations that share it."""

from typing import Any

from assistant import turns
from assistant.agent import inbox
from tests import cast as casts
from tests.assistant.agent.talk import Stage, Talk, call, say, step
from tests.cast import Cast

PROPOSE, TAG, LONG, LETTER = "rename him Joe", "tag him", "look, tag, rename", "look, tag, write"


def _long(words: str, tool: str, **arguments: str) -> tuple[dict[str, Any], ...]:
    """Read, write, put up a card, and say how it came out; slowly enough to be killed in the middle of anything."""

    def on(number: int) -> dict[str, Any]:
        return {"user": f"^{words}", "call": number}

    return (
        step(say("Let me look. "), {"delay": 0.1}, call("look_at_client", client_ref="C-0001"), when=on(0)),
        step({"delay": 0.1}, call("tag_client", client_ref="C-0001", tag="seen"), when=on(1)),
        step(
            say("On the card. "),
            {"delay": 0.1},
            say("Check it."),
            call(tool, client_ref="C-0001", **arguments),
            when=on(2),
        ),
        step(say("That is "), {"delay": 0.1}, say("all."), when=on(3)),
        step(say("That is all, again."), when={"user": f"^{words}"}),
    )


STORIES = (
    step(
        say("On the card."),
        call("rename_client", client_ref="C-0001", name="Joe"),
        when={"user": f"^{PROPOSE}", "call": 0},
    ),
    step(say("I could not put it up."), when={"user": f"^{PROPOSE}"}),
    step(
        say("One moment. "),
        {"delay": 2.0},
        call("tag_client", client_ref="C-0001", tag="seen"),
        when={"user": f"^{TAG}", "call": 0},
    ),
    step(say("Done."), when={"user": f"^{TAG}"}),
    *_long(LONG, "rename_client", name="Joe"),
    *_long(LETTER, "post_letter", text="Hi"),
)


def begin(cast: Cast, stage: Stage) -> Talk:
    """A conversation of the company's owner; nothing is said yet."""
    with cast.scope():
        client = casts.john_smith(cast)
        return Talk(cast, inbox.new_conversation(by=cast.owner), client, stage)


def rests(talk: Talk) -> bool:
    return talk.turn().status not in turns.BUSY
