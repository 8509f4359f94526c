"""A person's question about a waiting card. The answer is read from the records and kept; it decides nothing.

The questions are a closed list, each asked only where the card can have an answer: about the client or lead that it is
for, or about the turn that it came from. No model is asked. An answer is groups of facts, one for each record that it
speaks of, as a card has them (tools/facts.py), so that everybody reads it in their own language; none: nothing is on
record. The card's status, hash and time stay as they are.
"""

import hashlib
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assistant.events import announce
from assistant.gate import answers, reading
from assistant.gate.answers import Facts, Party
from assistant.gate.clicks import Click, find
from assistant.models import OPEN, PendingAction, Question
from assistant.tools.facts import plain
from ledger import audit
from ledger.errors import DomainError, NotFound

MOST = 20
"""Questions that are kept of one card."""
TWICE = timedelta(seconds=10)
"""The same question of the same person, with the same answer, within this time is one press."""

OF_THE_PARTY: dict[str, Callable[[PendingAction, Party], list[Facts]]] = {
    "who": answers.who,
    "last_messages": answers.last_messages,
    "open_with": answers.open_with,
    "done_before": answers.done_before,
}
ORIGIN = "origin"
CODES = (*OF_THE_PARTY, ORIGIN)


def offered(action: PendingAction) -> tuple[str, ...]:
    """The questions that this card can answer. Reads nothing."""
    of_the_party = OF_THE_PARTY if any(target["kind"] in answers.LEADS_TO for target in action.targets) else ()
    return (*of_the_party, *((ORIGIN,) if action.turn_id else ()))


@transaction.atomic
def ask(click: Click, code: str) -> Question:
    """Answer a question about the card that was shown, and keep both.

    Raises NotFound where the card is not this person's to see; NO_SUCH_QUESTION, CARD_CHANGED where it no longer waits
    or is not what was shown, TOO_MANY_QUESTIONS.
    """
    if find(click) is None:
        raise NotFound(_("There is nothing here."))
    action = reading.HELD.one(pk=click.action_id)
    if code not in offered(action):
        raise DomainError("NO_SUCH_QUESTION", _("This cannot be asked about this card."))
    if action.status not in OPEN or action.digest != click.shown_hash:
        raise DomainError("CARD_CHANGED", _("It changed since you looked."))
    answer = plain(_answer(action, code))
    asked = list(Question.objects.filter(action=action).order_by("-at"))
    for before in asked:
        twice = (before.code, before.member_id, before.answer) == (code, click.by.pk, answer)
        if twice and timezone.now() - before.at < TWICE:
            return before
    if len(asked) >= MOST:
        raise DomainError("TOO_MANY_QUESTIONS", _("That is enough questions about this card: the answers stand on it."))
    question: Question = Question.objects.create(action=action, member=click.by, code=code, answer=answer)
    audit.record(
        "action.asked",
        by=click.by,
        subject=action,
        question=question.pk,
        code=code,
        digest=action.digest,
        answer_sha256=hashlib.sha256(audit.canonical(answer).encode()).hexdigest(),
    )
    announce(action.conversation_id, action)
    return question


def _answer(action: PendingAction, code: str) -> list[Facts]:
    if code == ORIGIN:
        return answers.origin(action)
    party = answers.party_of(action)
    return OF_THE_PARTY[code](action, party) if party else []
