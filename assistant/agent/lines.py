"""The system's own words in a conversation. Rows keep a code and its parameters; doors render the sentence.

A line is for people: the model never reads it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext_lazy as _


class Line(StrEnum):
    """Why a line stands there. The value is what `Message.code` holds."""

    POINT_TO_CARD = "point_to_card"
    INTERRUPTED = "interrupted"
    PROCESS_STOPPED = "process_stopped"
    UNAVAILABLE = "model_unavailable"
    RATE_LIMITED = "model_rate_limited"
    NO_QUOTA = "model_no_quota"
    CREDENTIALS = "model_credentials"
    REFUSED = "model_refused"
    REJECTED = "model_rejected"
    TOO_LONG = "model_too_long"
    EMPTY = "model_empty"
    REPLY_CUT = "reply_cut"
    CALL_LIMIT = "call_limit"
    DAILY_BUDGET = "daily_budget"
    UNKNOWN_TOOLS = "unknown_tools"
    AGENT_PAUSED = "agent_paused"
    NOT_ALLOWED = "not_allowed"
    UNFOUNDED = "unfounded_claim"
    STOPPED = "stopped"
    STOPPED_CARDS = "stopped_cards"
    TOO_LATE_TO_STOP = "too_late_to_stop"
    STILL_UNDOABLE = "still_undoable"


TEXTS: dict[str, Any] = {
    Line.POINT_TO_CARD: _("Answer on the card itself, please: only its buttons decide. It waits for: %(cards)s"),
    Line.INTERRUPTED: _("The answer was cut off. Nothing of the part that is missing was done."),
    Line.PROCESS_STOPPED: _("The assistant was stopped several times while it worked on this, so it gave up."),
    Line.UNAVAILABLE: _("The model could not be reached. Nothing was done."),
    Line.RATE_LIMITED: _("The model is busy and refused the request. Nothing was done."),
    Line.NO_QUOTA: _("The model's provider says that the account's quota is used up. Nothing was done."),
    Line.CREDENTIALS: _("The model's provider does not accept this installation's key. Nothing was done."),
    Line.REFUSED: _("The model declined to answer this."),
    Line.REJECTED: _("The model's provider did not accept the request. Nothing was done."),
    Line.TOO_LONG: _("This conversation is too long for the model. Start a new one to go on."),
    Line.EMPTY: _("The model gave no answer."),
    Line.REPLY_CUT: _("The answer ends here because it reached the length limit."),
    Line.CALL_LIMIT: _("The assistant used all its steps for one message. Go on to let it continue."),
    Line.DAILY_BUDGET: _(
        "Today's budget for the assistant is used up. It goes on tomorrow, or when the limit is raised."
    ),
    Line.UNKNOWN_TOOLS: _("The assistant asked three times for a tool that is not there, so it was stopped."),
    Line.AGENT_PAUSED: _("The assistant is paused in this company; an owner or admin can turn it on."),
    Line.NOT_ALLOWED: _("You may not use the assistant in this company."),
    Line.UNFOUNDED: _("The record does not bear out what the assistant says here: %(cards)s was not done."),
    Line.STOPPED: _("Stopped."),
    Line.STOPPED_CARDS: _("Cancelled: %(cards)s"),
    Line.TOO_LATE_TO_STOP: _("Too late to stop, it already runs: %(cards)s"),
    Line.STILL_UNDOABLE: _("You had confirmed it, so it still runs; use Undo on its card to take it back: %(cards)s"),
}

RETRY = frozenset(
    {
        Line.INTERRUPTED,
        Line.PROCESS_STOPPED,
        Line.UNAVAILABLE,
        Line.RATE_LIMITED,
        Line.NO_QUOTA,
        Line.CREDENTIALS,
        Line.REJECTED,
        Line.EMPTY,
        Line.CALL_LIMIT,
        Line.DAILY_BUDGET,
        Line.UNKNOWN_TOOLS,
        Line.AGENT_PAUSED,
    }
)
"""Lines beside which "Try again" makes sense, while their turn is the newest."""


def sentence(code: str, params: Mapping[str, Any]) -> str:
    """The line in the reader's language, with one full stop. `cards`, a list of summaries, becomes one text."""
    named = {key: _listed(value) if isinstance(value, list) else value for key, value in params.items()}
    text = str(TEXTS[code]) % named
    return text if text.endswith(".") else f"{text}."


def _listed(summaries: list[str]) -> str:
    return "; ".join(summary.removesuffix(".") for summary in summaries)
