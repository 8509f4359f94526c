"""A conversation as the page shows it: turns as sections, and in each what was said, done and asked, in order.

Page, stream and click render the same items. Every item has an element id, a place among its siblings (`order`) and
the number of the change that made it what it is (`seq`).
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db.models import Expression, F, OuterRef, Q, QuerySet, Subquery, Value

from assistant.doors import cards, questions
from assistant.doors.items import LAST, Item, Section, bubble, card_item, items_of, state_item, who_item
from assistant.gate import reversing
from assistant.models import OPEN, Conversation, Decision, Message, PendingAction, ToolCall, Turn
from assistant.turns import newest as newest_turn
from ledger.compiled import Compiled, a_number, an_id, some_ids
from ledger.models import Membership

TURNS_ON_A_PAGE = 30
WAITING = "waiting-messages"


def page(conversation: Conversation, reader: Membership, before: int | None = None) -> tuple[list[Section], int | None]:
    """The newest turns (or those before an ordinal) and the ordinal to go on from, if there are earlier ones."""
    turns = Turn.objects.filter(conversation=conversation)
    if before is not None:
        turns = turns.filter(ordinal__lt=before)
    newest = list(turns.order_by("-ordinal")[: TURNS_ON_A_PAGE + 1])
    shown = newest[:TURNS_ON_A_PAGE][::-1]
    earlier = shown[0].ordinal if len(newest) > TURNS_ON_A_PAGE else None
    return sections(conversation, reader, shown, with_loose=before is None), earlier


def changed(conversation: Conversation, reader: Membership, after: int) -> list[tuple[Section, Item]]:
    """What changed after a seq, oldest change first; each item as it is now, in its section's shell.

    Of a conversation with many turns the newest ones, as on the page.
    """
    news = _news(conversation, after)
    turn_ids = {one.turn_id for one in news if one.turn_id}
    if news and all(one.kind in QUICK and one.turn_id for one in news):
        made = _spoken(news, turn_ids)
    elif news:
        homeless = Message.objects.filter(pk__in=[one.pk for one in news if not one.turn_id])
        homes = set(_at_home(homeless).values_list("home", flat=True)) if homeless else set()
        touched = Turn.objects.filter(pk__in=turn_ids | homes).order_by("-ordinal")[:TURNS_ON_A_PAGE]
        made = sections(conversation, reader, list(touched)[::-1], with_loose=True, after=after)
    else:
        made = []
    found = [(section, item) for section in made for item in section.items if item.seq > after and item.event]
    return sorted(found, key=lambda pair: (pair[1].seq, pair[1].order))


class News(NamedTuple):
    """A row that changed: what it is (a message's role, or the name of the row), which one, of which turn."""

    kind: str
    pk: uuid.UUID
    turn_id: uuid.UUID | None


QUICK = frozenset({"user", "assistant", "turn"})
"""What is said needs no cards and no calls: most changes, and those that somebody waits for."""


def _news(conversation: Conversation, after: int) -> list[News]:
    """Every row that changed after a seq, in one query."""

    return [News(*row) for row in NEWS.all(conversation=conversation.pk, after=after)]


def _all_news() -> QuerySet[Any]:
    own = an_id("conversation")

    def rows(queryset: QuerySet[Any], kind: Expression | F, turn: str) -> QuerySet[Any]:
        return queryset.filter(seq__gt=a_number("after")).annotate(kind=kind).values_list("kind", "pk", turn)

    messages = rows(Message.objects.filter(conversation=own), F("role"), "turn_id")
    turns = rows(Turn.objects.filter(conversation=own), Value("turn"), "pk")
    calls = rows(ToolCall.objects.filter(turn__conversation=own), Value("call"), "turn_id")
    actions = rows(PendingAction.objects.filter(conversation=own), Value("action"), "turn_id")
    return messages.union(turns, calls, actions, all=True)


NEWS = Compiled(_all_news)


def _spoken(news: Sequence[News], turn_ids: Collection[uuid.UUID]) -> list[Section]:
    """Sections with the messages and turns that changed, and what these turns took up, which may have waited."""
    turns = {turn.pk: turn for turn in TURNS.all(turns=list(turn_ids))}
    fresh = {one.pk for one in news if one.kind != "turn"}
    begins: dict[uuid.UUID, int] = {}
    made = {pk: Section(f"turn-{pk}", 2 * turn.ordinal) for pk, turn in turns.items()}
    for message in SPOKEN.all(turns=list(turn_ids), fresh=list(fresh)):
        asked = message.role == Message.Role.USER
        if asked and not message.silent:
            begins[message.turn_id] = message.position
        made[message.turn_id].items.append(bubble(message))
    for pk, turn in turns.items():
        made[pk].items += [who_item(turn, begins.get(pk, 0)), state_item(turn)]
    return list(made.values())


TURNS = Compiled(lambda: Turn.objects.filter(pk=some_ids("turns")))
SPOKEN: Compiled[Any] = Compiled(
    lambda: (
        Message.objects.filter(Q(pk=some_ids("fresh")) | Q(role=Message.Role.USER), turn=some_ids("turns"))
        .select_related("author")
        .order_by("position")
    )
)


def sections(
    conversation: Conversation, reader: Membership, turns: Sequence[Turn], *, with_loose: bool, after: int = -1
) -> list[Section]:
    """These turns with everything in them, in a fixed number of queries.

    `with_loose`: and what belongs to no turn, as far as it changed after a seq.
    """
    ids = [turn.pk for turn in turns]
    made = {turn.pk: Section(f"turn-{turn.pk}", 2 * turn.ordinal) for turn in turns}
    loose = Section(WAITING, LAST)
    own = {"conversation": conversation.pk}
    messages = SHOWN.all(**own, turns=ids)
    homeless = HOMELESS.all(**own, after=after)
    calls = MADE.all(turns=ids)
    actions = ACTIONS.all(**own, turns=ids, after=after if with_loose else NEVER)
    decided: dict[uuid.UUID, list[Decision]] = defaultdict(list)
    if actions:
        for decision in DECIDED.all(actions=[action.pk for action in actions]):
            decided[decision.action_id].append(decision)

    asked = questions.of_all([action.pk for action in actions])
    reverses = {record.action_id: record for record in reversing.records(actions)}
    last_turn = newest_turn(conversation.pk)
    newest = last_turn.ordinal if last_turn else None
    said: dict[uuid.UUID | None, list[Message]] = defaultdict(list)
    for message in messages:
        said[message.turn_id].append(message)
    for message in homeless:
        stays = message.silent or message.role != Message.Role.USER
        home = made.get(message.home) if stays and message.home else loose if with_loose else None
        if home is not None:
            home.items.append(bubble(message, queued=not stays))
    for turn in turns:
        own_calls = [call for call in calls if call.turn_id == turn.pk]
        own_actions = [action for action in actions if action.turn_id == turn.pk]
        cards_of = {
            a.pk: cards.card(
                a,
                reader,
                decisions=decided[a.pk],
                asked=asked[a.pk],
                predecessor=_shown_before(a),
                taken_back=reverses.get(a.pk),
            )
            for a in own_actions
        }
        last = turn.ordinal == newest
        made[turn.pk].items += items_of(turn, said[turn.pk], own_calls, own_actions, cards_of, newest=last)
    for action in actions:
        if action.turn_id is None:
            made_card = cards.card(
                action,
                reader,
                decisions=decided[action.pk],
                asked=asked[action.pk],
                taken_back=reverses.get(action.pk),
            )
            loose.items.append(card_item(made_card, action, 0))
    everything = [*made.values(), loose] if loose.items else list(made.values())
    for section in everything:
        section.items.sort(key=lambda item: (item.order, item.element_id))
    return everything


NEVER = 2**63 - 1
SHOWN = Compiled(
    lambda: (
        Message.objects.filter(conversation=an_id("conversation"), turn=some_ids("turns"))
        .exclude(role=Message.Role.RECORD)
        .select_related("author")
        .order_by("position")
    )
)
HOMELESS: Compiled[Any] = Compiled(
    lambda: (
        _at_home(Message.objects.filter(conversation=an_id("conversation"), turn=None, seq__gt=a_number("after")))
        .exclude(role=Message.Role.RECORD)
        .select_related("author")
        .order_by("position")
    )
)
MADE = Compiled(
    lambda: (
        ToolCall.objects.filter(turn=some_ids("turns"))
        .select_related("action")
        .defer("result", "action__payload", "action__payload_text", "action__preview", "action__preview_text")
        .order_by("message__position", "index")
    )
)
ACTIONS = Compiled(
    lambda: (
        PendingAction.objects.filter(
            Q(turn=some_ids("turns")) | Q(turn=None, seq__gt=a_number("after")), conversation=an_id("conversation")
        )
        .select_related("requester", "edited_from")
        .order_by("created_at", "pk")
    )
)
DECIDED = Compiled(
    lambda: Decision.objects.filter(action=some_ids("actions")).select_related("member").order_by("slot")
)


def _at_home(messages: Any) -> Any:
    """Messages without a turn, with the turn that was last when they came (`home`)."""
    before = Message.objects.filter(
        conversation=OuterRef("conversation"), turn__isnull=False, position__lt=OuterRef("position")
    )
    return messages.annotate(home=Subquery(before.order_by("-position").values("turn")[:1]))


def _shown_before(action: PendingAction) -> PendingAction | None:
    return action.edited_from if action.edited_from_id and action.status in OPEN else None


def busy(conversation: Conversation) -> Turn | None:
    """The turn that is queued or running now."""
    going = (Turn.Status.QUEUED, Turn.Status.RUNNING)
    return Turn.objects.filter(conversation=conversation, status__in=going).first()
