"""Clicks on cards: who may know of one, what was seen, and what goes on record whatever comes of it."""

import uuid
from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction
from django.utils import timezone

from assistant.gate import closing, passkeys, reading
from assistant.gate.evidence import Given, described, keep
from assistant.gate.sight import readable
from assistant.gate.sight import visible as visible
from assistant.models import OPEN, Decision, PendingAction, Seen
from assistant.tools.effects import Level
from ledger import audit
from ledger.actions.delegations import givers_of
from ledger.models import Membership

Verdict = Decision.Verdict
ARMING_SECONDS = 0.7
"""How long a card's buttons ignore everything on a page, from the first moment that they are in sight."""


class Kind(StrEnum):
    """How an answer came out; the doors translate it (settled question 5)."""

    DECIDED = "decided"
    REPEATED = "repeated"
    CONFLICT = "conflict"
    MISSING = "missing"
    REFUSED = "refused"


@dataclass(frozen=True)
class Answer:
    """The outcome of a click, the card as it stands and, where something was refused, the sentence to show."""

    kind: Kind
    action: PendingAction | None = None
    sentence: str = ""


@dataclass(frozen=True)
class Click:
    """One person's click: on which card of which conversation, through which door, on what they had been shown.

    `assertion` is a passkey's answer as JSON (`PublicKeyCredential.toJSON()`), unchecked; `evidence` is words, `file` a
    file.
    """

    action_id: uuid.UUID
    conversation_id: uuid.UUID
    by: Membership
    shown_hash: str
    typed: str = ""
    held: bool = False
    reason_code: str = ""
    reason: str = ""
    evidence: str = ""
    file: Given | None = None
    assertion: str = ""
    fresh_login: bool = False


def find(click: Click) -> PendingAction | None:
    """The card, if this person may know of it: the requester, or one who may decide where another has to."""
    action = reading.IN_CONVERSATION.first(pk=click.action_id, conversation=click.conversation_id)
    return action if action is not None and visible(action, click.by) else None


def read(click: Click) -> PendingAction | None:
    """The card, if this person may read it: also what has ended, for heads, which goes on record."""
    action = reading.IN_CONVERSATION.first(pk=click.action_id, conversation=click.conversation_id)
    if action is None or not readable(action, click.by):
        return None
    if not visible(action, click.by):
        audit.record("action.read", by=click.by, subject=action, digest=action.digest)
    return action


@transaction.atomic
def seen(click: Click) -> bool:
    """The card is visible on this person's screen: the first time is kept and audited."""
    action = find(click)
    if action is None:
        return False
    _row, first = Seen.objects.get_or_create(action=action, member=click.by, door=audit.origin().door)
    if first:
        audit.record("action.seen", by=click.by, subject=action, digest=action.digest, shown=click.shown_hash)
    return True


def decide(
    action: PendingAction, click: Click, verdict: Verdict, slot: int, *, proof: passkeys.Proof | None = None
) -> None:
    """Put the decision on record: who, when, from where, on what they were shown, for how long, with what evidence."""
    shown = Seen.objects.filter(action=action, member=click.by, door=audit.origin().door).first()
    waited = max(0.0, (timezone.now() - shown.at).total_seconds()) if shown else None
    given = click.file if verdict == Verdict.CONFIRM and action.level >= Level.STRONG else None
    attachment = described(given) if given else None
    made: Decision = Decision.objects.create(
        action=action,
        slot=slot,
        verdict=verdict,
        member=click.by,
        door=audit.origin().door,
        address=audit.origin().address,
        reason_code=click.reason_code[:24],
        reason=click.reason[:2000],
        evidence=click.evidence[:2000],
        attachment=attachment,
        assertion=proof.kept if proof else None,
        seconds_shown=None if waited is None else int(waited),
        shown_hash=click.shown_hash,
    )
    if given:
        keep(made, given)
    if proof:
        passkeys.used(proof)
    audit.record(
        f"action.{PAST[verdict]}" if slot != 3 else "action.undone",
        by=click.by,
        subject=action,
        slot=slot,
        digest=action.digest,
        shown=click.shown_hash,
        seconds_shown=None if waited is None else int(waited),
        arming=_arming(waited),
        reason_code=click.reason_code,
        reason=click.reason,
        evidence=click.evidence[:2000],
        attachment=attachment["sha256"] if attachment else "",
        passkey=passkeys.fingerprint_of(proof.kept) if proof else "",
        stands_in_for=[giver.ref for giver in givers_of(click.by)],
        outcome="won",
    )


def _arming(waited: float | None) -> str:
    """What the record says of a decision that came sooner than a page's buttons allow: nothing refuses it, since a
    program or a page without scripts tells no first sight, but it may be asked about later.
    """
    if waited is None:
        return "unseen"
    return "early" if waited < ARMING_SECONDS else "armed"


PAST = {Verdict.CONFIRM: "confirmed", Verdict.REJECT: "rejected", Verdict.CANCEL: "cancelled"}


def note(click: Click, action: PendingAction, word: str, answer: Answer) -> Answer:
    """One audit row for each attempt that decided nothing (J2)."""
    audit.record(
        f"action.{word}_not_taken",
        by=click.by,
        subject=action,
        outcome=str(answer.kind),
        status=action.status,
        digest=action.digest,
        shown=click.shown_hash,
        sentence=answer.sentence,
    )
    return answer


def late(click: Click, action: PendingAction, verdict: Verdict | None, word: str = "") -> Answer:
    """Nothing moved: the same answer again, a decided or changed card, or one whose time is over.

    `verdict` is what the click would have put on record; an edit puts nothing there, so it never says it was the same.
    """
    action.refresh_from_db()
    if action.status in OPEN:
        closing.expire(action.pk, closed_by="deadline")
        action.refresh_from_db()
    own = Decision.objects.filter(action=action, member=click.by, verdict=verdict, shown_hash=click.shown_hash)
    if word == "undo":
        own = own.filter(slot=3)
    if own.exists() and action.digest == click.shown_hash:
        return note(click, action, word or str(verdict), Answer(Kind.REPEATED, action))
    return note(click, action, word or str(verdict), Answer(Kind.CONFLICT, action))
