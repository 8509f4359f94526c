"""Small talk, and what the model says of itself."""

from __future__ import annotations

from assistant.agent.rehearsal.phrases import CAPABILITIES
from assistant.agent.rehearsal.situation import Situation
from assistant.agent.rehearsal.steps import Step, Want, phrase, say


def greeting(s: Situation, want: Want) -> Step:
    return say(s, "hello")


def thanks(s: Situation, want: Want) -> Step:
    return say(s, "you_are_welcome")


def farewell(s: Situation, want: Want) -> Step:
    return say(s, "goodbye")


def who_are_you(s: Situation, want: Want) -> Step:
    return say(s, "who_am_i")


def never_mind(s: Situation, want: Want) -> Step:
    return say(s, "never_mind")


def capabilities(s: Situation, want: Want) -> Step:
    return say(s, "capabilities", listed=listed_capabilities(s))


def not_understood(s: Situation, want: Want) -> Step:
    return say(s, "not_understood", listed=listed_capabilities(s))


def decide(s: Situation, want: Want) -> Step:
    """A yes in words: it decides nothing (R5)."""
    is_open = any(proposal.outcome in ("", "edited") for proposal in s.proposals)
    return say(s, "cannot_decide" if is_open else "nothing_to_decide")


def listed_capabilities(s: Situation) -> str:
    """Only what the offered tools allow."""
    known = CAPABILITIES[s.language]
    lines = [f"- {sentence}" for tool, sentence in known.items() if tool in s.tools]
    return "\n".join(lines) or phrase(s, "cannot_yet")
