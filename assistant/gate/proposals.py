"""Put an action before a person: check, resolve, freeze, show. Nothing happens here but a row and a card.

The same request put up anew (edited, moved, asked again) is in renewing.py.
"""

import uuid
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.utils import translation
from django.utils.translation import gettext as _
from pydantic import ValidationError

from assistant.events import announce
from assistant.gate import closing, digest, policy, reading, retries, standing
from assistant.gate.outcome import Clock
from assistant.models import OPEN, Decision, PendingAction, Turn
from assistant.tools.effects import Level
from assistant.tools.facts import Outside, Phrase, Preview, plain
from assistant.tools.registry import Context, Prepared, Tool, ToolArguments
from ledger import audit, dates, jobs, reader
from ledger.company_settings import CompanySettings, current_settings
from ledger.errors import DomainError
from ledger.tenancy import new_id


@dataclass(frozen=True)
class Proposed:
    """The card that now waits; `again` if it is one that waited already."""

    action: PendingAction
    again: bool = False


def read_arguments(made: Tool, text: str) -> ToolArguments:
    """The arguments by the tool's own schema; raises DomainError INVALID_ARGUMENTS that names the fields."""
    try:
        return made.arguments.model_validate_json(text)
    except ValidationError as error:
        problems = [
            {"field": ".".join(str(part) for part in item["loc"]) or "arguments", "problem": item["msg"]}
            for item in error.errors(include_url=False, include_input=False, include_context=False)[:10]
        ]
        fields = ", ".join(item["field"] for item in problems)
        raise DomainError(
            "INVALID_ARGUMENTS",
            _("These arguments do not fit: %(fields)s.") % {"fields": fields},
            problems=problems,
        ) from None


@transaction.atomic
def propose(
    ctx: Context,
    made: Tool,
    arguments: str,
    *,
    conversation_id: Any,
    turn: Turn | None = None,
    call_id: str = "",
    reason: str = "",
    outside: tuple[Outside, ...] = (),
    match: str = "exact",
    beside: Collection[uuid.UUID] = (),
    edited_from: PendingAction | None = None,
    again_of: PendingAction | None = None,
    compensates: PendingAction | None = None,
) -> Proposed:
    """Prepare a gated tool's action and put its card up. Raises DomainError where a rule already says no.

    The same proposal, while its card is open, is that card (T87); the same tool for the same record supersedes it,
    unless both are asked for in one breath: the cards named in `beside` stay (T12). A card says where the same failed
    before (T84).
    """
    policy.require_running(made)
    settings = current_settings().values
    with translation.override(ctx.language):
        prepared = _prepare(ctx, made, arguments)
        verdict = policy.weigh(made, prepared, ctx, outside=outside, match=match, settings=settings)
    same = digest.sameness(made.name, plain(prepared.payload))
    open_cards = open_cards_of(conversation_id)
    if edited_from is None:
        for card in open_cards:
            if card.sameness == same:
                return Proposed(card, again=True)
    rejected = _rejected_before(conversation_id, same) if edited_from is None else None
    if rejected and turn is not None and turn.created_at < rejected.at:
        raise DomainError(
            "ALREADY_REJECTED",
            _("This was rejected here already: %(reason)s") % {"reason": _reason_of(rejected)},
            action=str(rejected.action_id),
        )
    if len(open_cards) >= policy.MAX_OPEN_CARDS:
        raise DomainError("TOO_MANY_CARDS", _("Too many cards are waiting in this conversation; decide those first."))
    with translation.override(ctx.language):
        shown = _with_own_words(made, prepared, outside, match, verdict)
        failed = retries.warning(conversation_id, same, before=again_of or edited_from)
        shown = replace(shown, warnings=(*failed, *shown.warnings))
        if rejected:
            shown = replace(shown, warnings=(*shown.warnings, Phrase("rejected_before", _told(rejected))))
    frozen_targets = [plain(target) for target in prepared.targets]
    action_id = new_id()
    for card in open_cards:
        same_thing = card.tool == made.name and card.targets[:1] == frozen_targets[:1]
        if edited_from is None and same_thing and card.pk not in beside:
            closing.supersede(card, by=ctx.member, closed_by="proposed_again")
    action = _insert(
        ctx,
        made,
        action_id=action_id,
        conversation_id=conversation_id,
        turn=turn,
        call_id=call_id,
        reason=reason[:1000],
        arguments=arguments,
        outside=[plain(source) for source in outside],
        payload=plain(prepared.payload),
        preview=plain(shown),
        summary=prepared.summary,
        targets=frozen_targets,
        amount_cents=prepared.amount_cents,
        messages=prepared.messages,
        match=match,
        verdict=verdict,
        sameness=same,
        settings=settings,
        edited_from=edited_from,
        compensates=compensates,
    )
    audit.record(
        "action.proposed",
        by=ctx.member,
        subject=action,
        tool=made.name,
        level=action.level,
        digest=action.digest,
        summary=action.summary,
        arguments=arguments,
        payload=action.payload_text,
        edited_from=edited_from.pk if edited_from else None,
    )
    if not standing.apply(action, made, dates.today(ctx.company.timezone)):
        jobs.later("expire_action", action.pk, at=action.expires_at)
    announce(action.conversation_id, action)
    return Proposed(action)


def open_cards_of(conversation_id: Any) -> list[PendingAction]:
    """The conversation's open cards, locked in one order. Those whose time is over are closed here, not reused."""
    late = ExpressionWrapper(Q(expires_at__lte=Clock()), BooleanField())
    held = PendingAction.objects.select_for_update(no_key=True).filter(conversation_id=conversation_id, status__in=OPEN)
    cards = list(held.annotate(late=late).order_by("pk"))
    for card in cards:
        if card.late:
            closing.expire(card.pk, closed_by="deadline")
    return [card for card in cards if not card.late]


def _rejected_before(conversation_id: Any, sameness: str) -> Decision | None:
    """The last no to exactly this in this conversation: it is not put up again unless the person asks anew."""
    return (
        Decision.objects.filter(
            action__conversation_id=conversation_id, action__sameness=sameness, verdict=Decision.Verdict.REJECT
        )
        .order_by("-at")
        .first()
    )


def _reason_of(rejected: Decision) -> str:
    return rejected.reason or rejected.reason_code or "-"


def _told(rejected: Decision) -> dict[str, Any]:
    return {"day": {"date": rejected.at.date().isoformat()}, "reason": _reason_of(rejected)}


def _prepare(ctx: Context, made: Tool, arguments: str) -> Prepared:
    if made.prepare is None:
        raise DomainError("NOT_AVAILABLE", _("This cannot be done here."))
    prepared = made.prepare(ctx, read_arguments(made, arguments))
    if not prepared.targets:
        raise DomainError("NO_TARGET", _("Nothing on record says what this would act on."))
    return prepared


def _with_own_words(
    made: Tool, prepared: Prepared, outside: tuple[Outside, ...], match: str, verdict: policy.Verdict
) -> Preview:
    """Add what the gate itself has to say: what was read from outside, how the record was found, how long an undo is
    possible, that one person decides what two should, and what a card that was raised to a strong one asks to be typed.
    """
    preview = prepared.preview
    warnings, consequences = preview.warnings, preview.consequences
    if outside:
        sources = ", ".join(sorted({source.ref for source in outside}))
        warnings = (*warnings, Phrase("read_outside_content", {"sources": sources}))
    if match == "fuzzy":
        warnings = (*warnings, Phrase("found_among_several"))
    if verdict.alone:
        minutes = max(1, verdict.undo_seconds // 60)
        warnings = (*warnings, Phrase("you_decide_alone", {"minutes": minutes}))
    if verdict.undo_seconds:
        consequences = (Phrase("leaves_after", {"seconds": verdict.undo_seconds}), *consequences)
    typed = preview.typed
    if verdict.level == Level.STRONG and not typed:
        typed = reader.bare_amount(prepared.amount_cents) if prepared.amount_cents else str(made.label)
    return replace(preview, consequences=consequences, warnings=warnings, typed=typed)


def _insert(
    ctx: Context,
    made: Tool,
    *,
    action_id: Any,
    payload: dict[str, Any],
    preview: dict[str, Any],
    summary: str,
    verdict: policy.Verdict,
    settings: CompanySettings,
    **fields: Any,
) -> PendingAction:
    payload_text, preview_text = audit.canonical(payload), audit.canonical(preview)
    action: PendingAction = PendingAction.objects.create(
        id=action_id,
        requester=ctx.member,
        epoch=ctx.member.epoch,
        routed=verdict.routed,
        approvals=verdict.approvals,
        alone=verdict.alone,
        door=ctx.door,
        tool=made.name,
        tool_version=made.version,
        level=verdict.level,
        effects=sorted(verdict.effects),
        operation=made.operation,
        language=ctx.language,
        payload_text=payload_text,
        payload=payload,
        preview_text=preview_text,
        preview=preview,
        summary=summary,
        digest=digest.digest(
            tool=made.name,
            version=made.version,
            payload_text=payload_text,
            preview_text=preview_text,
            summary=summary,
        ),
        undo_seconds=verdict.undo_seconds,
        compensation=made.compensation or "",
        expires_at=Clock() + timedelta(seconds=policy.expires_seconds(made, settings)),
        **fields,
    )
    action.refresh_from_db(fields=["expires_at"])
    return action


def context_of(action: PendingAction) -> Context:
    """The requester's own context, for preparing again in their name; roles are read anew."""
    member = reading.MEMBER.one(pk=action.requester_id)
    return Context(
        member=member,
        company=member.tenant,
        language=action.language,
        door=action.door,
        conversation_id=action.conversation_id,
        turn_id=action.turn_id,
    )


def sources_of(action: PendingAction) -> tuple[Outside, ...]:
    return tuple(Outside(**source) for source in action.outside)
