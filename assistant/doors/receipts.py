"""What a card turns into once it is no longer open: held, running, a receipt, or why nothing was done."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from assistant.doors import wording
from assistant.doors.shapes import Ground, Held
from assistant.gate import pausing, reversing
from assistant.models import Decision, Message, PendingAction, Status
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger import permissions
from ledger.models import Membership


def settled(
    action: PendingAction,
    decisions: Sequence[Decision],
    made: registry.Tool | None,
    reader: Membership,
    taken_back: Message | None = None,
) -> dict[str, Any]:
    """What a card turns into: held, running, a receipt, or a word on why nothing was done."""
    return {"grounds": grounds(action, decisions), **_settled(action, decisions, made, reader, taken_back)}


def grounds(action: PendingAction, decisions: Sequence[Decision]) -> tuple[Ground, ...]:
    """What each person gave with a strong yes."""
    if action.level < Level.STRONG:
        return ()
    return tuple(_ground(action, d) for d in decisions if d.verdict == Decision.Verdict.CONFIRM)


def _ground(action: PendingAction, decision: Decision) -> Ground:
    attached = decision.attachment or {}
    where = [action.conversation_id, action.pk, decision.slot]
    signed = decision.assertion or {}
    return Ground(
        name=decision.member.name,
        how=_("signed with the passkey “%(name)s”") % {"name": signed["name"]} if signed else "",
        reason=decision.reason,
        evidence=decision.evidence,
        file_name=attached.get("name", ""),
        file_url=reverse("chat:action_evidence", args=where) if attached else "",
    )


def _settled(
    action: PendingAction,
    decisions: Sequence[Decision],
    made: registry.Tool | None,
    reader: Membership,
    taken_back: Message | None,
) -> dict[str, Any]:
    label = wording.tool_label(action.tool)
    confirmed = _confirmed_by(decisions)
    at = wording.moment(action.closed_at) if action.closed_at else ""
    match action.status:
        case Status.SCHEDULED:
            left = (action.execute_after - timezone.now()).total_seconds() if action.execute_after else 0
            held = None
            if action.undo_seconds and action.execute_after and left > 0:
                when = wording.clock(action.execute_after, seconds=True)
                held = Held(action.undo_seconds, round(left, 1), when)
            tag = _("Confirmed, can still be stopped") if held else _("Confirmed, waiting to run")
            return {
                "look": "is-held",
                "icon": "clock",
                "tag": tag,
                "heading": label,
                "lines": (confirmed,),
                "held": held,
            }
        case Status.EXECUTING:
            return {
                "look": "is-held", "icon": "clock", "tag": _("Running"), "heading": label, "lines": (confirmed,)
            }  # fmt: skip
        case Status.EXECUTED:
            receipt = action.receipt or {}
            return {
                "look": "is-done",
                "icon": "check",
                "tag": _("Done"),
                "heading": str(receipt.get("text") or label),
                "lines": (confirmed, _taken_back(taken_back)),
                "receipt": tuple(_receipt_rows(receipt)),
                **_message(receipt),
                "stamp": (_("Done"), at),
                "compensation": "" if taken_back else _compensation(action, reader),
                "compensated_url": link_to(action, action.compensated_by_id),
            }
        case Status.IN_DOUBT:
            why = _("The call went out and no answer came back. It is never sent again by itself.")
            if action.closed_by == "restored":
                why = _("The database was put back to an earlier moment: this may have been done after it or not.")
            return {
                "look": "is-wrong",
                "icon": "alert",
                "tag": _("In doubt"),
                "heading": _("%(label)s: not known whether it was done") % {"label": label},
                "lines": (why, confirmed),
            }
        case Status.FAILED:
            failure = action.failure or {}
            return {
                "look": "is-wrong",
                "icon": "alert",
                "tag": _("Not done"),
                "heading": _("%(label)s: nothing was done") % {"label": label},
                "lines": (str(failure.get("sentence", "")), confirmed),
                "can_ask_again": made is not None,
            }
        case _:
            return {
                "look": "is-off",
                "icon": "off",
                "tag": f"{Status(action.status).label}{', ' + at if at else ''}",
                "heading": _("%(label)s: nothing was done") % {"label": label},
                "lines": _why_closed(action, decisions),
                "paused": action.closed_by == pausing.PAUSED,
                "can_ask_again": action.status in (Status.EXPIRED, Status.CANCELLED) and made is not None,
            }


def _why_closed(action: PendingAction, decisions: Sequence[Decision]) -> tuple[str | SafeString, ...]:
    decision = decisions[-1] if decisions else None
    by = decision.member.name if decision else ""
    match action.status, action.closed_by:
        case Status.REJECTED, _any:
            reasons = [str(wording.REASONS.get(decision.reason_code, "")), decision.reason] if decision else []
            words = ": ".join(part for part in reasons if part)
            return (_("Rejected by %(name)s.") % {"name": by}, words)
        case Status.CANCELLED, "undo":
            return (_("%(name)s stopped it before it ran.") % {"name": by},)
        case Status.CANCELLED, "stop":
            return (_("Closed because the answer was stopped."),)
        case Status.CANCELLED, pausing.PAUSED:
            return (_("Closed: %(name)s paused the assistant.") % {"name": by},)
        case Status.CANCELLED, _any:
            return (_("Cancelled by %(name)s.") % {"name": by},) if by else ()
        case Status.EXPIRED, "new_message":
            return (_("A new message came before a decision."),)
        case Status.EXPIRED, "restored":
            return (
                _("The database was put back to an earlier moment. Look whether it was done before you ask again."),
            )
        case Status.EXPIRED, _any:
            return (_("Nobody decided in time."),)
        case Status.SUPERSEDED, "edit":
            return (_("It was edited; the new card asks again."),)
        case Status.SUPERSEDED, "facts_changed":
            return (_("The records changed; a new card shows the difference."),)
        case Status.SUPERSEDED, _any:
            return (_("A newer card took its place."),)
    return ()


def _confirmed_by(decisions: Iterable[Decision]) -> str:
    confirmed = [d for d in decisions if d.verdict == Decision.Verdict.CONFIRM]
    if not confirmed:
        return ""
    if confirmed[0].standing_id:
        words = {"name": confirmed[0].member.name, "time": wording.moment(confirmed[0].at)}
        return _("Ran by the standing approval of %(name)s at %(time)s.") % words
    names = _(" and ").join(d.member.name for d in confirmed)
    return _("Confirmed by %(names)s at %(time)s.") % {"names": names, "time": wording.moment(confirmed[-1].at)}


def _receipt_rows(receipt: dict[str, Any]) -> Iterator[tuple[str, SafeString]]:
    """What the receipt holds beside its sentence: its own facts and the provider's reference."""
    for name, raw in receipt.get("facts", {}).items():
        yield wording.label(name), _receipt_value(raw)
    if receipt.get("provider_ref"):
        yield _("Provider's reference"), wording.shown_text(receipt["provider_ref"])


def _message(receipt: dict[str, Any]) -> dict[str, str]:
    """The message that went out, and where it stands in the outbox."""
    ref = receipt.get("facts", {}).get("message")
    return {"message": ref, "message_url": reverse("message", args=[ref])} if ref else {}


def _receipt_value(raw: Any) -> SafeString:
    match raw:
        case {"cents": int(), "currency": str()}:
            return wording.value("money", raw).text
        case {"kind": str(kind), "value": inner}:
            return wording.value(kind, inner).text
        case _:
            return wording.value("text", raw).text


def _compensation(action: PendingAction, reader: Membership) -> str:
    """The reverse of a done deed, by its label, where that tool exists and the reader may (settled question 33)."""
    back = reversing.reverse_of(action)
    offered = back and not action.compensated_by_id and permissions.allowed(reader, back.permission)
    return str(back.label) if back and offered else ""


def _taken_back(record: Message | None) -> str:
    if record is None:
        return ""
    words = {"name": record.params.get("by", ""), "time": wording.moment(record.created_at)}
    return _("Taken back by %(name)s at %(time)s.") % words


def link_to(action: PendingAction, other_id: uuid.UUID | None) -> str:
    """Where another card of the same conversation stands in it."""
    return f"{reverse('chat:conversation', args=[action.conversation_id])}#action-{other_id}" if other_id else ""
