"""The rehearsal model's mind: one step for each request, from the situation alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from assistant.agent.rehearsal.acts import CallTool, Play, Say
from assistant.agent.rehearsal.intents import Intent, intent_of
from assistant.agent.rehearsal.situation import Situation
from assistant.agent.rehearsal.steps import Step, Want, say
from assistant.agent.rehearsal.stories import messages, money, outcomes, parties, quotes, reading, sending, talk

Story = Callable[[Situation, Want], Step]
MOST_STEPS: Final = 7

STORIES: Final[dict[Intent, Story]] = {
    Intent.GREETING: talk.greeting,
    Intent.THANKS: talk.thanks,
    Intent.FAREWELL: talk.farewell,
    Intent.WHO_ARE_YOU: talk.who_are_you,
    Intent.CAPABILITIES: talk.capabilities,
    Intent.DECIDE: talk.decide,
    Intent.NEVER_MIND: talk.never_mind,
    Intent.PENDING: outcomes.pending,
    Intent.OUTCOME: outcomes.outcome,
    Intent.AGAIN: outcomes.again,
    Intent.AMEND: outcomes.amend,
    **reading.STORIES,
    **quotes.STORIES,
    **parties.STORIES,
    **money.STORIES,
    **messages.STORIES,
    **sending.STORIES,
}
SMALL_TALK: Final = frozenset(
    {Intent.GREETING, Intent.THANKS, Intent.FAREWELL, Intent.WHO_ARE_YOU, Intent.CAPABILITIES, Intent.DECIDE}
)
WEAK: Final = frozenset({Intent.DECIDE, Intent.GET_QUOTE, Intent.GET_INVOICE, Intent.SHOW, Intent.TOTAL})
ANSWERS_ONLY: Final = SMALL_TALK | {Intent.TOTAL}
NEW_TOPIC: Final = frozenset({Intent.NEVER_MIND, Intent.AGAIN})


def play(s: Situation) -> Play:
    """What to say and to call now."""
    step = next_step(s)
    calls = tuple(CallTool(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in step.calls)
    return ((Say(step.text), *calls) if step.text else calls) or (Say(say(s, "no_further").text),)


def next_step(s: Situation) -> Step:
    if s.news:
        return outcomes.news(s)
    if s.calls_in_turn >= MOST_STEPS:
        return say(s, "enough_steps")
    want = wanted(s)
    step = STORIES[want.intent](s, want) if want.intent else talk.not_understood(s, want)
    if any(call.name not in s.tools for call in step.calls):
        return say(s, "cannot_yet")
    if any(s.result(call.name, **call.arguments) for call in step.calls):
        return say(s, "no_further")  # the same call again would bring the same answer
    return step


def wanted(s: Situation) -> Want:
    """The message's own request, or the earlier one that it answers our question about."""
    own = intent_of(s.said)
    if not s.asked or own in NEW_TOPIC:
        return Want(own, s.said)
    answers = [s.said]
    for text in reversed(s.user_texts[:-1]):
        intent = intent_of(text)
        if intent is None or intent in ANSWERS_ONLY:
            answers.insert(0, text)
            continue
        if own is None or own is intent or own in WEAK:
            return Want(intent, text, tuple(answers))
        break
    return Want(own, s.said)
