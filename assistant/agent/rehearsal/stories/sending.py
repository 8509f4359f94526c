""" "Send it": whatever was spoken of last."""

from __future__ import annotations

from typing import Final

from assistant.agent.rehearsal.intents import Intent
from assistant.agent.rehearsal.situation import Situation
from assistant.agent.rehearsal.steps import Step, Want
from assistant.agent.rehearsal.stories.messages import email
from assistant.agent.rehearsal.stories.quotes import send_invoice, send_quote

LOOKING: Final = frozenset({"search_records", "search_price_book", "list_pending_actions", "get_action"})


def send_it(s: Situation, want: Want) -> Step:
    """The draft message, the invoice or the quote: the latest of them."""
    earlier = [call for call in s.calls if call.name not in LOOKING and call not in s.done]
    if earlier and earlier[-1].name == "draft_message" and not want.answers:
        return email(s, want)
    latest = s.memory.latest("quote", "invoice")
    return send_invoice(s, want) if latest and latest == s.memory.latest("invoice") else send_quote(s, want)


STORIES: Final = {Intent.SEND_IT: send_it}
