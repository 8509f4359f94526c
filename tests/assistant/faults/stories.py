"""Conversations that share one scripted model: each of its own company, with the client that the script names."""

from assistant.agent import inbox
from tests import cast as casts
from tests.assistant.agent.talk import Stage, Talk
from tests.cast import Cast


def begin(cast: Cast, stage: Stage) -> Talk:
    """A conversation of the company's owner; nothing is said yet."""
    with cast.scope():
        client = casts.john_smith(cast)
        return Talk(cast, inbox.new_conversation(by=cast.owner), client, stage)
