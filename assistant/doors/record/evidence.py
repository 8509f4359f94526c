"""One action's whole story, as rows for a page: what was shown, who decided, what ran, and whether these are the same.

Everything is read from the rows; the card is rendered again from the frozen preview by the chat's own presenters.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from assistant.doors import cards, wording
from assistant.doors.shapes import Card
from assistant.gate import digest, passkeys
from assistant.models import Attempt, Decision, PendingAction, Status, ToolCall, Turn
from assistant.tools import registry
from ledger.models import AuditEvent, Via
from ledger.text import visible

VERDICTS: dict[str, Promise] = {
    "confirm": lazy("Confirmed"),
    "reject": lazy("Rejected"),
    "cancel": lazy("Closed without deciding"),
}
SLOTS: dict[int, Promise] = {
    1: lazy("First decision"),
    2: lazy("Second person's decision"),
    3: lazy("Undo before it ran"),
}
OUTCOMES: dict[str, Promise] = {
    "": lazy("Not known yet"),
    "executed": lazy("Done"),
    "failed": lazy("Not done"),
    "in_doubt": lazy("In doubt"),
}
CLOSED_BY: dict[str, Promise] = {
    "reject": lazy("A person's no"),
    "cancel": lazy("A person, without deciding"),
    "undo": lazy("A person, before it ran"),
    "edit": lazy("An edit"),
    "facts_changed": lazy("Records that changed"),
    "proposed_again": lazy("The same thing proposed again"),
    "new_message": lazy("A new message"),
    "deadline": lazy("Its deadline"),
    "stop": lazy("A stopped answer"),
    "paused": lazy("A pause of the assistant"),
    "person": lazy("A person with a note"),
}
NOTHING_RAN = (
    Status.PENDING,
    Status.AWAITING_SECOND,
    Status.SCHEDULED,
    Status.REJECTED,
    Status.CANCELLED,
    Status.EXPIRED,
    Status.SUPERSEDED,
)
STATES: dict[str, Promise] = {
    "queued": lazy("Queued"),
    "running": lazy("Running"),
    "waiting": lazy("Waits for a decision"),
    "done": lazy("Done"),
    "stopped": lazy("Stopped"),
    "interrupted": lazy("Interrupted"),
    "failed": lazy("Failed"),
    "proposed": lazy("Put before a person"),
    "skipped": lazy("Not run"),
}
"""Of turns and of tool calls."""
Row = tuple[str, str | SafeString]


@dataclass(frozen=True)
class Check:
    """One comparison in words, and whether it holds."""

    text: str
    holds: bool


def as_shown(action: PendingAction, *, image: str, file: str) -> Card:
    """The card as it was put before people, with nothing to press, whatever has become of it since.

    `image` and `file` are the names of the addresses of its document, which take the action's id.
    """
    then = copy.copy(action)
    then.status = Status.PENDING
    card = cards.card(then, action.requester, predecessor=action.edited_from)
    document = card.document
    if document is not None:
        picture, whole = reverse(image, args=[action.pk]), reverse(file, args=[action.pk])
        document = replace(document, image_url=picture, file_url=whole)
    return replace(
        card,
        look="is-off",
        tag=_("As it was shown"),
        can_decide=False,
        can_edit=False,
        asks=(),
        document=document,
        announcement="",
        successor_url="",
    )


def checks(action: PendingAction, decisions: Sequence[Decision], attempt: Attempt | None) -> list[Check]:
    """Whether what is stored, what each person saw and what ran carry one fingerprint (R2)."""
    found = [
        Check(_("What is stored still gives the fingerprint that was put on the card."), True)
        if digest.intact(action)
        else Check(_("What is stored does NOT give the fingerprint that was put on the card."), False)
    ]
    found += [_seen_by(action, decision) for decision in decisions]
    found += [_signed_by(decision) for decision in decisions if decision.assertion]
    found.append(_ran(action, attempt))
    return found


def _seen_by(action: PendingAction, decision: Decision) -> Check:
    words = {"name": decision.member.name}
    if decision.shown_hash == action.digest:
        return Check(_("%(name)s decided on exactly this.") % words, True)
    return Check(_("%(name)s decided on something ELSE: the fingerprints differ.") % words, False)


def _signed_by(decision: Decision) -> Check:
    """A passkey's signature, checked again just now."""
    words = {"name": decision.member.name}
    if passkeys.problem_of(decision) == "":
        return Check(_("The passkey of %(name)s signed exactly this.") % words, True)
    return Check(_("What is kept of the passkey of %(name)s does NOT hold for this.") % words, False)


def _ran(action: PendingAction, attempt: Attempt | None) -> Check:
    if action.status in NOTHING_RAN:
        if attempt is None:
            return Check(_("Nothing was run."), True)
        return Check(_("It was run, which its status does NOT allow."), False)
    if attempt is None:
        return Check(_("There is NO attempt on record, but it is said to have run."), False)
    if action.status != Status.EXECUTED:
        return Check(_("One attempt is on record; there is no receipt to compare."), True)
    if (action.receipt or {}).get("digest") == action.digest:
        return Check(_("The receipt is of exactly this: what was confirmed is what ran."), True)
    return Check(_("The receipt is of something ELSE: the fingerprints differ."), False)


def asked(action: PendingAction) -> list[Row]:
    """How the proposal came about."""
    return kept(
        (_("Tool"), f"{wording.tool_label(action.tool)} ({action.tool})"),
        (_("Version of the tool"), _version(action)),
        (_("Level"), f"L{action.level}"),
        (_("Effects"), ", ".join(str(wording.EFFECTS.get(e, e)) for e in action.effects)),
        (_("Where the effect is"), str(wording.OPERATIONS.get(action.operation, action.operation))),
        (_("Asked for by"), action.requester.name),
        (_("Through"), door(action.door)),
        (_("Asked at"), moment(action.created_at)),
        (_("Language"), action.language),
        (_("People it takes"), str(action.approvals)),
        (_("Decided by another than who asked"), _("yes") if action.routed else ""),
        (_("Read from outside"), ", ".join(f"{one['kind']} {one['ref']}" for one in action.outside)),
        (_("Arguments of the model"), wording.shown_text(action.arguments, lines=True)),
        (_("The model's own words on why"), wording.shown_text(action.reason, lines=True)),
        (_("Expires"), moment(action.expires_at)),
        (_("Undo window in seconds"), str(action.undo_seconds or "")),
        (_("Card closed"), moment(action.closed_at)),
        (_("Card closed by"), str(CLOSED_BY.get(action.closed_by, action.closed_by))),
    )


def _version(action: PendingAction) -> str:
    made = registry.get(action.tool)
    if made is None:
        return _("%(version)s; the tool is gone") % {"version": action.tool_version}
    if made.version != action.tool_version:
        return _("%(version)s; the tool has changed since") % {"version": action.tool_version}
    return action.tool_version


def outside(action: PendingAction) -> list[Row]:
    """What of the outside world was read before the action was proposed: kind and number of each."""
    return [
        (wording.label(str(one.get("kind", ""))), wording.shown_text(str(one.get("ref", "")))) for one in action.outside
    ]


def ran(action: PendingAction, attempt: Attempt | None) -> list[Row]:
    """The one attempt and what came of it."""
    rows: list[Row] = []
    if attempt is not None:
        rows += kept(
            (_("Worker"), attempt.worker),
            (_("Claimed"), moment(attempt.claimed_at)),
            (_("Claim held until"), moment(attempt.lease_until)),
            (_("Call went out"), moment(attempt.called_at)),
            (_("Ended"), moment(attempt.finished_at)),
            (_("Outcome"), str(OUTCOMES.get(attempt.outcome, attempt.outcome))),
            (_("Key at the provider"), code(str(action.pk))),
            *_values(_("Reserved"), attempt.reserved),
            *_values(_("Detail"), attempt.detail),
        )
    if action.receipt is not None:
        receipt = action.receipt
        rows += kept(
            (_("Receipt"), wording.shown_text(str(receipt.get("text", "")), lines=True)),
            (_("Provider's reference"), wording.shown_text(str(receipt.get("provider_ref", "")))),
            *_values(_("Receipt"), receipt.get("facts", {})),
            (_("Fingerprint on the receipt"), code(str(receipt.get("digest", "")))),
        )
    if action.failure is not None:
        failure = action.failure
        rows += kept(
            (_("Why it was not done"), wording.shown_text(str(failure.get("sentence", "")), lines=True)),
            (_("Code"), code(str(failure.get("code", "")))),
        )
    return rows


def state(row: Turn | ToolCall) -> str:
    return str(STATES.get(row.status, row.status))


def payload(action: PendingAction) -> list[Row]:
    """All that runs, value by value."""
    flat = wording.flattened(action.payload)
    return [(path, wording.shown_text(text, lines=True)) for path, text in flat]


def decided(decision: Decision) -> list[Row]:
    """One person's decision."""
    return kept(
        (_("When"), moment(decision.at)),
        (_("Who"), decision.member.name),
        (_("What"), str(VERDICTS.get(decision.verdict, decision.verdict))),
        (_("Which"), str(SLOTS.get(decision.slot, decision.slot))),
        (_("Through"), door(decision.door)),
        (_("From where"), decision.address),
        (_("Reason"), str(wording.REASONS.get(decision.reason_code, decision.reason_code))),
        (_("In their words"), wording.shown_text(decision.reason, lines=True)),
        (_("Evidence"), wording.shown_text(decision.evidence, lines=True)),
        *_file(decision.attachment or {}),
        (_("Passkey"), (decision.assertion or {}).get("name", "")),
        (_("Seconds on the screen"), "" if decision.seconds_shown is None else str(decision.seconds_shown)),
        (_("Fingerprint of what they saw"), code(decision.shown_hash)),
    )


def _file(attached: dict[str, Any]) -> list[Row]:
    """The file that came with a decision; its bytes open from the card."""
    return [
        (_("File"), attached.get("name", "")),
        (_("Fingerprint of the file"), code(attached.get("sha256", ""))),
    ]


def moment(at: Any) -> str:
    """An instant to the second in the company's time zone, alike in every language; "" for none."""
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S %Z}" if at else ""


def door(name: str) -> str:
    return str(wording.DOORS.get(name) or (Via(name).label if name in Via.values else name))


def who(event: AuditEvent) -> str:
    """The member; else one of the operator's staff, whom the body names; else the client, or the system."""
    if event.actor is not None:
        return event.actor.name
    operator = event.told.get("operator")
    if isinstance(operator, dict):
        return visible(str(operator.get("email", ""))).text
    return _("The client") if event.door == Via.PORTAL else _("The system")


def code(text: str) -> str | SafeString:
    return format_html("<code>{}</code>", text) if text else ""


def _values(label: str, held: dict[str, Any]) -> list[Row]:
    flat = wording.flattened(held) if held else ()
    return [(f"{label}: {path}", wording.shown_text(text, lines=True)) for path, text in flat]


def kept(*rows: Row) -> list[Row]:
    return [(label, text) for label, text in rows if text]
