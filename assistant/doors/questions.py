"""What may be asked about a card and what the records answered, in the reader's language and time."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy

from assistant.doors import wording
from assistant.doors.wording import Shown
from assistant.gate import asking, sight
from assistant.models import OPEN, PendingAction, Question
from ledger.compiled import Compiled, some_ids
from ledger.models import Membership

WORDS: dict[str, Promise] = {
    "who": lazy("Who is this?"),
    "last_messages": lazy("What did we last write or receive?"),
    "open_with": lazy("What is open with them?"),
    "done_before": lazy("Was this done before?"),
    "origin": lazy("Where does it come from?"),
}


@dataclass(frozen=True)
class Answered:
    """One question and its answer: a group of (label, value) for each record that it speaks of."""

    id: uuid.UUID
    question: str
    by: str
    at: str
    groups: tuple[tuple[tuple[str, Shown], ...], ...]


ASKED = Compiled(
    lambda: Question.objects.filter(action=some_ids("actions")).select_related("member").order_by("at", "pk")
)


def of_all(actions: Collection[uuid.UUID]) -> dict[uuid.UUID, list[Question]]:
    """What was asked about these cards, oldest first, in one query; none where there are no cards."""
    found: dict[uuid.UUID, list[Question]] = defaultdict(list)
    for question in ASKED.all(actions=list(actions)) if actions else ():
        found[question.action_id].append(question)
    return found


def words(code: str) -> str:
    return str(WORDS.get(code, code))


def offered(action: PendingAction, reader: Membership, asked: Sequence[Question]) -> tuple[tuple[str, str], ...]:
    """The questions that this reader may ask now: code and words."""
    if action.status not in OPEN or len(asked) >= asking.MOST or not sight.visible(action, reader):
        return ()
    return tuple((code, words(code)) for code in asking.offered(action))


def answered(asked: Iterable[Question]) -> tuple[Answered, ...]:
    """What was asked and answered, as a page shows it."""
    return tuple(
        Answered(
            id=one.pk,
            question=words(one.code),
            by=one.member.name,
            at=wording.moment(one.at),
            groups=tuple(
                tuple((wording.label(fact["name"]), wording.value(fact["kind"], fact["value"])) for fact in group)
                for group in one.answer
            ),
        )
        for one in asked
    )
