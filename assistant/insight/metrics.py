"""What became of a period's cards, and how they were decided: the figures of `/insight/` and of the weekly letter.

The cards that were put up in the period are the ground of every figure, so that each rate says of how many. What ran
out, was replaced, or found nobody is counted by itself and is nobody's no (T61). All is summed in the database: four
statements, whatever the number of cards.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db import connection

from assistant.gate.closing import SECOND_TIMEOUT
from assistant.gate.standing import DOOR
from ledger.models import Membership
from ledger.tenancy import current_tenant

WORDS_PER_SECOND = 4
LEAST_SECONDS, MOST_SECONDS = 1, 30
"""Within these a card is read at WORDS_PER_SECOND: a yes that came sooner was given without reading it."""


class Rate(NamedTuple):
    """So many of so many."""

    part: int
    of: int

    @property
    def percent(self) -> int | None:
        """Rounded to whole percent, half up; None of nothing."""
        return (200 * self.part + self.of) // (2 * self.of) if self.of else None


@dataclass(frozen=True)
class Cards:
    """What became of cards; every card is in exactly one of the first eleven after `proposed`.

    `unedited`, `after_edit` and `by_rule` were approved: by a person as they were, by a person after changing them, by
    a standing approval without anybody's click. `edited` gave way to a changed card, `undone` were approved and taken
    back before they ran. `second_timeouts` waited for a second person, `expired` for the first. `executed`, `failed`,
    `in_doubt` and `running` are what came of the approved; `ran_clicked` are those that were done, or may have been,
    after a person's click, of `ran`.
    """

    proposed: int = 0
    unedited: int = 0
    after_edit: int = 0
    by_rule: int = 0
    edited: int = 0
    rejected: int = 0
    cancelled: int = 0
    undone: int = 0
    expired: int = 0
    second_timeouts: int = 0
    superseded: int = 0
    waiting: int = 0
    executed: int = 0
    failed: int = 0
    in_doubt: int = 0
    running: int = 0
    ran: int = 0
    ran_clicked: int = 0

    @property
    def approved(self) -> int:
        return self.unedited + self.after_edit + self.by_rule

    @property
    def withdrawn(self) -> int:
        """Taken back by a person without blame, before the yes or after it."""
        return self.cancelled + self.undone

    @property
    def judged(self) -> int:
        """Cards that a person judged as the assistant had made them, or rejected."""
        return self.unedited + self.edited + self.rejected

    @property
    def unedited_rate(self) -> Rate:
        return Rate(self.unedited, self.judged)

    @property
    def edited_rate(self) -> Rate:
        return Rate(self.edited, self.judged)

    @property
    def rejected_rate(self) -> Rate:
        return Rate(self.rejected, self.judged)

    @property
    def expired_rate(self) -> Rate:
        return Rate(self.expired + self.second_timeouts, self.proposed)

    @property
    def failed_rate(self) -> Rate:
        return Rate(self.failed, self.executed + self.failed + self.in_doubt)

    @property
    def coverage(self) -> Rate:
        """Deeds that a person clicked for, of all that the gate let run."""
        return Rate(self.ran_clicked, self.ran)


@dataclass(frozen=True)
class Answers:
    """What people answered, and how fast. Seconds are from when the card was put up (for a second person: from the
    first one's yes) to the answer. `hasty` yeses came sooner than the card can be read, of those `timed`: how long a
    card was on a screen is not known of every door.
    """

    confirmed: int = 0
    rejected: int = 0
    edited: int = 0
    cancelled: int = 0
    median_seconds: int | None = None
    p95_seconds: int | None = None
    hasty: int = 0
    timed: int = 0

    @property
    def number(self) -> int:
        return self.confirmed + self.rejected + self.edited + self.cancelled

    @property
    def hasty_rate(self) -> Rate:
        return Rate(self.hasty, self.timed)


@dataclass(frozen=True)
class Line:
    """The figures of one tool, person or door; `name` is for people, where the key is an id."""

    key: str
    cards: Cards = Cards()
    answers: Answers = Answers()
    name: str = ""


@dataclass(frozen=True)
class Resumed:
    """Turns that went on after their cards, and the tokens that this took, of all tokens of turns with cards."""

    turns: int = 0
    tokens: int = 0
    with_cards: int = 0
    all_tokens: int = 0

    @property
    def each(self) -> int | None:
        """Tokens that a resumption took on average, rounded down."""
        return self.tokens // self.turns if self.turns else None


@dataclass(frozen=True)
class Checked:
    """What was looked at afterwards: of the sample so many are marked, so many `wrong`; `reported` are receipts that
    somebody marked wrong unasked. `slipped` deeds got through and are wrong, by either way, of `ran`.
    """

    drawn: int = 0
    marked: int = 0
    wrong: int = 0
    reported: int = 0
    slipped: int = 0

    @property
    def wrong_rate(self) -> Rate:
        return Rate(self.wrong, self.marked)


@dataclass(frozen=True)
class Report:
    """Everything of one period. Tools, people and doors: the busiest first. Days: those with a card."""

    cards: Cards = Cards()
    answers: Answers = Answers()
    tools: list[Line] = field(default_factory=list)
    people: list[Line] = field(default_factory=list)
    doors: list[Line] = field(default_factory=list)
    days: list[tuple[date, Cards]] = field(default_factory=list)
    resumed: Resumed = Resumed()
    checked: Checked = Checked()


COHORT = """
    WITH cohort AS MATERIALIZED (
        SELECT id, tenant_id, tool, door, turn_id, created_at, status, closed_by, edited_from_id
          FROM assistant_pendingaction
         WHERE tenant_id = %(tenant)s AND created_at >= %(since)s AND created_at < %(until)s)
"""
CARDS = (
    COHORT  # noqa: S608 (our own text)
    + """
    , fates AS (
        SELECT a.tool, a.door, (a.created_at AT TIME ZONE %(zone)s)::date AS day, a.status,
               (yes.door = %(rule)s) IS TRUE AS by_rule,
               a.status IN ('scheduled', 'executing', 'executed', 'failed', 'in_doubt') AS approved,
               a.closed_by, EXISTS (
                   WITH RECURSIVE before AS (
                       SELECT closed_by, edited_from_id FROM assistant_pendingaction WHERE id = a.edited_from_id
                    UNION ALL
                       SELECT older.closed_by, older.edited_from_id
                         FROM assistant_pendingaction older JOIN before ON older.id = before.edited_from_id)
                   SELECT FROM before WHERE closed_by = 'edit') AS after_edit
          FROM cohort a
          LEFT JOIN assistant_decision yes ON yes.action_id = a.id AND yes.slot = 1 AND yes.verdict = 'confirm')
    SELECT GROUPING(tool, door, day), tool, door, day,
           count(*),
           count(*) FILTER (WHERE approved AND NOT by_rule AND NOT after_edit),
           count(*) FILTER (WHERE approved AND NOT by_rule AND after_edit),
           count(*) FILTER (WHERE approved AND by_rule),
           count(*) FILTER (WHERE status = 'superseded' AND closed_by = 'edit'),
           count(*) FILTER (WHERE status = 'rejected'),
           count(*) FILTER (WHERE status = 'cancelled' AND closed_by <> 'undo'),
           count(*) FILTER (WHERE status = 'cancelled' AND closed_by = 'undo'),
           count(*) FILTER (WHERE status = 'expired' AND closed_by <> %(second)s),
           count(*) FILTER (WHERE status = 'expired' AND closed_by = %(second)s),
           count(*) FILTER (WHERE status = 'superseded' AND closed_by <> 'edit'),
           count(*) FILTER (WHERE status IN ('pending', 'awaiting_second')),
           count(*) FILTER (WHERE status = 'executed'),
           count(*) FILTER (WHERE status = 'failed'),
           count(*) FILTER (WHERE status = 'in_doubt'),
           count(*) FILTER (WHERE status IN ('scheduled', 'executing')),
           count(*) FILTER (WHERE status IN ('executing', 'executed', 'in_doubt')),
           count(*) FILTER (WHERE status IN ('executing', 'executed', 'in_doubt') AND NOT by_rule)
      FROM fates GROUP BY GROUPING SETS ((), (tool), (door), (day))
"""
)
"""The words on a card are counted by the spaces of its preview, which has none between its parts, two words for each
fact (its label and its value) and the spaces of its sentence."""
ANSWERS = (
    COHORT  # noqa: S608 (our own text)
    + """
    , answers AS (
        SELECT a.tool, d.door, d.member_id, d.verdict,
               extract(epoch FROM d.at - coalesce(first.at, a.created_at)) AS waited, d.seconds_shown,
               least(greatest((length(c.summary) - length(replace(c.summary, ' ', '')) + 1
                             + length(c.preview_text) - length(replace(c.preview_text, ' ', ''))
                             + 2 * jsonb_array_length(c.preview -> 'facts')) / %(pace)s::numeric,
                              %(least)s), %(most)s) AS needed
          FROM cohort a
          JOIN assistant_decision d ON d.action_id = a.id AND d.door <> %(rule)s AND d.slot < 3
          JOIN assistant_pendingaction c ON c.id = a.id
          LEFT JOIN assistant_decision first ON first.action_id = a.id AND first.slot = 1 AND d.slot = 2
     UNION ALL
        SELECT a.tool, e.door, e.actor_id, 'edit', extract(epoch FROM e.at - a.created_at), NULL, NULL
          FROM cohort a
          JOIN ledger_auditevent e ON e.tenant_id = a.tenant_id AND e.subject_id = a.id
           AND e.kind = 'action.superseded'
         WHERE a.closed_by = 'edit')
    SELECT GROUPING(tool, door, member_id), tool, door, member_id,
           count(*) FILTER (WHERE verdict = 'confirm'),
           count(*) FILTER (WHERE verdict = 'reject'),
           count(*) FILTER (WHERE verdict = 'edit'),
           count(*) FILTER (WHERE verdict = 'cancel'),
           floor(percentile_disc(0.5) WITHIN GROUP (ORDER BY waited) FILTER (WHERE verdict <> 'cancel'))::bigint,
           floor(percentile_disc(0.95) WITHIN GROUP (ORDER BY waited) FILTER (WHERE verdict <> 'cancel'))::bigint,
           count(*) FILTER (WHERE verdict = 'confirm' AND seconds_shown + 1 <= needed),
           count(*) FILTER (WHERE verdict = 'confirm' AND seconds_shown IS NOT NULL)
      FROM answers GROUP BY GROUPING SETS ((), (tool), (door), (member_id))
"""
)
RESUMED = (
    COHORT  # noqa: S608 (our own text)
    + """
    , turns AS (SELECT turn_id, min(created_at) AS carded FROM cohort WHERE turn_id IS NOT NULL GROUP BY turn_id)
    SELECT count(DISTINCT turns.turn_id) FILTER (WHERE m.tokens > 0 AND m.created_at > carded),
           coalesce(sum(m.tokens) FILTER (WHERE m.created_at > carded), 0),
           count(DISTINCT turns.turn_id), coalesce(sum(m.tokens), 0)
      FROM turns LEFT JOIN assistant_message m ON m.turn_id = turns.turn_id AND m.role = 'assistant'
"""
)
CHECKED = """
    SELECT count(*) FILTER (WHERE sampled), count(*) FILTER (WHERE sampled AND mark <> ''),
           count(*) FILTER (WHERE sampled AND mark = 'wrong'), count(*) FILTER (WHERE NOT sampled),
           count(DISTINCT coalesce(action_id, call_id)) FILTER (WHERE mark = 'wrong')
      FROM assistant_spotcheck
     WHERE tenant_id = %(tenant)s AND drawn_at >= %(since)s AND drawn_at < %(until)s
"""


def report(since: datetime, until: datetime, zone: str) -> Report:
    """The figures of the company in scope for the cards put up from `since` to before `until`; days are of `zone`."""
    given: dict[str, Any] = {
        "tenant": current_tenant(),
        "since": since,
        "until": until,
        "zone": zone,
        "rule": DOOR,
        "second": SECOND_TIMEOUT,
        "pace": WORDS_PER_SECOND,
        "least": LEAST_SECONDS,
        "most": MOST_SECONDS,
    }
    with connection.cursor() as cursor:
        cards = _groups(cursor, CARDS, given, Cards)
        answers = _groups(cursor, ANSWERS, given, Answers)
        cursor.execute(RESUMED, given)
        resumed = Resumed(*(int(value) for value in cursor.fetchone()))
        cursor.execute(CHECKED, given)
        checked = Checked(*cursor.fetchone())
    return Report(
        cards=cards[ALL].get(None, Cards()),
        answers=answers[ALL].get(None, Answers()),
        tools=_lines(cards[FIRST], answers[FIRST]),
        people=_named(_lines({}, answers[THIRD])),
        doors=_lines(cards[SECOND], answers[SECOND]),
        days=sorted(cards[THIRD].items()),
        resumed=resumed,
        checked=checked,
    )


ALL, FIRST, SECOND, THIRD = 0b111, 0b011, 0b101, 0b110
"""Which of the three columns a row is grouped by, as GROUPING says it: a bit is 0 where its column counts."""


def _groups(cursor: Any, sql: str, given: dict[str, Any], made: Any) -> dict[int, dict[Any, Any]]:
    cursor.execute(sql, given)
    found: dict[int, dict[Any, Any]] = {ALL: {}, FIRST: {}, SECOND: {}, THIRD: {}}
    for grouping, first, second, third, *figures in cursor.fetchall():
        key = {ALL: None, FIRST: first, SECOND: second, THIRD: third}[grouping]
        found[grouping][key] = made(*figures)
    return found


def _lines(cards: dict[Any, Cards], answers: dict[Any, Answers]) -> list[Line]:
    keys: Iterable[Any] = [*cards, *(key for key in answers if key not in cards)]
    lines = [Line(str(key or ""), cards.get(key, Cards()), answers.get(key, Answers())) for key in keys]
    return sorted(lines, key=lambda line: (-line.cards.proposed, -line.answers.number, line.key))


def _named(lines: list[Line]) -> list[Line]:
    ids = [uuid.UUID(line.key) for line in lines if line.key]
    names = {str(pk): name for pk, name in Membership.objects.filter(pk__in=ids).values_list("pk", "name")}
    return [Line(line.key, line.cards, line.answers, names.get(line.key, "")) for line in lines]
