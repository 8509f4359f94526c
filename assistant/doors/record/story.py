"""An action with everything that belongs to it, read in a fixed number of queries, as its page shows it."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from assistant.doors import questions, wording
from assistant.doors.record import evidence, proof
from assistant.doors.record.evidence import Check, Row, moment, state
from assistant.doors.record.proof import Proof
from assistant.models import Alert, Attempt, Decision, Message, PendingAction, Seen, Status, ToolCall
from ledger import record_words
from ledger.models import AuditEvent

MOST_EVENTS = 200
MOST_WORDS = 40


@dataclass(frozen=True)
class Said:
    """One line of the turn's talk."""

    who: str
    at: str
    text: Any


@dataclass(frozen=True)
class Event:
    """One event of the audit chain about the action."""

    id: uuid.UUID
    at: str
    kind: str
    who: str
    door: str
    address: str


@dataclass(frozen=True)
class Compared:
    """One value of the payload: as the record has it from when the card went up, and as it ran."""

    path: str
    shown: Any
    ran: Any
    same: bool


@dataclass(frozen=True)
class Story:
    """Everything about one action."""

    action: PendingAction
    checks: list[Check]
    asked: list[Row]
    payload: list[Row]
    ran: list[Row]
    decisions: list[list[Row]]
    seen: list[Row]
    questions: list[list[Row]]
    alerts: list[list[Row]]
    links: list[tuple[str, PendingAction]]
    trail: list[Row]
    said: list[Said]
    outside: list[Row]
    compared: list[Compared]
    not_taken: list[list[Row]]
    events: list[Event]
    more_events: bool
    proofs: list[Proof]

    @property
    def same(self) -> bool:
        """Whether every comparison holds."""
        return all(check.holds for check in self.checks)

    @property
    def headline(self) -> str:
        """What the comparisons come to, in one sentence."""
        if not self.same:
            return _("What was shown and what ran are NOT the same")
        if self.action.status == Status.EXECUTED:
            return _("What was shown and what ran are the same")
        if self.action.status in evidence.NOTHING_RAN:
            return _("Nothing ran, and what is stored is what was shown")
        return _("What was shown is what the one attempt was made with")


RELATED = ("requester", "conversation", "turn__member", "edited_from", "superseded_by", "compensates", "compensated_by")


def of(action: PendingAction) -> Story:
    """The action's story; the company's scope is open."""
    action = PendingAction.objects.select_related(*RELATED).get(pk=action.pk)
    decisions = list(Decision.objects.filter(action=action).select_related("member").order_by("slot"))
    attempt = Attempt.objects.filter(action=action).first()
    events = list(
        AuditEvent.objects.filter(subject_id=action.pk).select_related("actor").order_by("at", "id")[: MOST_EVENTS + 1]
    )
    return Story(
        action=action,
        checks=evidence.checks(action, decisions, attempt),
        asked=evidence.asked(action),
        payload=evidence.payload(action),
        ran=evidence.ran(action, attempt),
        decisions=[evidence.decided(decision) for decision in decisions],
        seen=_seen(action),
        questions=[_question(one) for one in questions.answered(questions.of_all([action.pk])[action.pk])],
        alerts=_alerts(action),
        links=_links(action),
        trail=_trail(action),
        said=_said(action),
        outside=evidence.outside(action),
        compared=_compared(action, attempt, events),
        not_taken=[_attempt(event) for event in events if event.kind.endswith("_not_taken")],
        events=[_event(event) for event in events[:MOST_EVENTS]],
        more_events=len(events) > MOST_EVENTS,
        proofs=proof.of(events[:MOST_EVENTS]),
    )


def _compared(action: PendingAction, attempt: Attempt | None, events: list[AuditEvent]) -> list[Compared]:
    """The payload of the event of the proposal beside that of the action, which is what the attempt was made with.

    Where the event was erased, or is older than such events, there is nothing on its side.
    """
    proposed = next((event for event in events if event.kind == "action.proposed"), None)
    text = proposed.told.get("payload", "") if proposed else ""
    shown = dict(wording.flattened(json.loads(text))) if text else {}
    ran = dict(wording.flattened(action.payload)) if attempt is not None else {}
    return [
        Compared(
            path,
            wording.shown_text(shown.get(path, ""), lines=True),
            wording.shown_text(ran.get(path, ""), lines=True),
            shown.get(path) == ran.get(path),
        )
        for path in dict.fromkeys([*shown, *ran])
    ]


def _attempt(event: AuditEvent) -> list[Row]:
    """A click that decided nothing, and why."""
    told = event.told
    return evidence.kept(
        (_("When"), moment(event.at)),
        (_("Who"), event.actor.name if event.actor else ""),
        (_("What"), record_words.word(event.kind)),
        (_("Through"), evidence.door(event.door)),
        (_("From where"), event.address),
        (_("What was answered"), wording.shown_text(str(told.get("sentence", "")), lines=True)),
        (_("Fingerprint of what they saw"), evidence.code(str(told.get("shown", "")))),
    )


def _seen(action: PendingAction) -> list[Row]:
    views = Seen.objects.filter(action=action).select_related("member").order_by("at")
    return [(moment(view.at), f"{view.member.name}, {evidence.door(view.door)}") for view in views]


def _question(one: questions.Answered) -> list[Row]:
    """What a person asked about the card and what the records answered at that time."""
    facts: list[Row] = [(label, shown.text) for group in one.groups for label, shown in group]
    return [
        (_("Question"), one.question),
        (_("Who"), f"{one.by}, {one.at}"),
        *(facts or [(_("Answer"), _("Nothing on record."))]),
    ]


def _alerts(action: PendingAction) -> list[list[Row]]:
    alerts = Alert.objects.filter(action=action).select_related("handled_by").order_by("raised_at")
    return [
        [
            (_("Raised"), moment(alert.raised_at)),
            (_("Handled"), moment(alert.handled_at) or _("not yet")),
            *([(_("By"), alert.handled_by.name)] if alert.handled_by else []),
            *([(_("Note"), wording.shown_text(alert.note, lines=True))] if alert.note else []),
        ]
        for alert in alerts
    ]


def _links(action: PendingAction) -> list[tuple[str, PendingAction]]:
    """Other actions that this one came from or led to."""
    named = [
        (_("It was made from"), action.edited_from),
        (_("Its place was taken by"), action.superseded_by),
        (_("It reverses"), action.compensates),
        (_("It was reversed by"), action.compensated_by),
    ]
    later = [(_("Made from it"), other) for other in PendingAction.objects.filter(edited_from=action).order_by("id")]
    attempts = PendingAction.objects.filter(compensates=action).order_by("id")
    reversals = [(_("Asked for to reverse it"), other) for other in attempts]
    found = [(label, other) for label, other in named if other is not None]
    known = {other.pk for _label, other in found}
    return [*found, *((label, other) for label, other in (*later, *reversals) if other.pk not in known)]


def _trail(action: PendingAction) -> list[Row]:
    """The turn, the step and the call that it came from; one started on a page has none but its conversation."""
    title = action.conversation.title or _("without a title")
    rows: list[Row] = [(_("Conversation"), f"{title} ({action.conversation_id})")]
    if action.turn is not None:
        turn = action.turn
        words = {"ordinal": turn.ordinal, "status": state(turn), "name": turn.member.name}
        rows.append((_("Turn"), _("%(ordinal)s, of %(name)s, %(status)s") % words))
        rows.append((_("Id of the turn"), evidence.code(str(turn.pk))))
    call = ToolCall.objects.filter(action=action).select_related("message").first()
    if call is not None:
        step = Message.objects.filter(
            turn_id=call.turn_id, role=Message.Role.ASSISTANT, position__lte=call.message.position
        ).count()
        rows += [
            (
                _("Step"),
                _("reply %(step)s of the turn, call %(call)s of the reply") % {"step": step, "call": call.index + 1},
            ),
            (_("Id of the call"), evidence.code(call.call_id)),
            (_("What the model said to the tool"), wording.shown_text(call.arguments, lines=True)),
            (_("What the model was told"), wording.shown_text(call.result, lines=True)),
        ]
    elif action.call_id:
        rows.append((_("Id of the call"), evidence.code(action.call_id)))
    return rows


def _said(action: PendingAction) -> list[Said]:
    """The words of that turn, and of no other (settled question 17)."""
    if action.turn_id is None:
        return []
    spoken = Message.objects.filter(
        turn_id=action.turn_id, role__in=[Message.Role.USER, Message.Role.ASSISTANT], silent=False
    )
    rows = spoken.exclude(text="").select_related("author").order_by("position")[:MOST_WORDS]
    return [
        Said(
            who=row.author.name if row.author else _("Assistant"),
            at=moment(row.created_at),
            text=wording.shown_text(row.text, lines=True),
        )
        for row in rows
    ]


def _event(event: AuditEvent) -> Event:
    return Event(
        id=event.pk,
        at=moment(event.at),
        kind=event.kind,
        who=evidence.who(event),
        door=evidence.door(event.door),
        address=event.address,
    )
