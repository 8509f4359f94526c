"""Each rejection, edit and deed found wrong as one case: what was said, what was proposed, what a person did.

A case holds what the company's people and clients wrote: it is for the company's own evals, and that it was taken out
is on record.
"""

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Q

from assistant.models import Decision, Message, PendingAction, SpotCheck, Status
from ledger import audit
from ledger.models import Company

SAID = (Message.Role.USER, Message.Role.ASSISTANT)
AT_ONCE = 200


def export(company: Company) -> Iterator[dict[str, Any]]:
    """The cases of the company in scope, oldest first. That they were taken out is recorded once all are."""
    number = 0
    for action in _actions():
        number += 1
        yield case(company, action)
    audit.record("audit.evals_exported", by=None, cases=number)


def _actions() -> Iterator[PendingAction]:
    rejected = Q(status=Status.REJECTED)
    edited = Q(status=Status.SUPERSEDED, closed_by="edit")
    wrong = Q(pk__in=SpotCheck.objects.filter(mark=SpotCheck.Mark.WRONG, action__isnull=False).values("action"))
    found = PendingAction.objects.filter(rejected | edited | wrong).select_related("requester", "superseded_by", "turn")
    return found.order_by("created_at", "pk").iterator(chunk_size=AT_ONCE)


def case(company: Company, action: PendingAction) -> dict[str, Any]:
    """One case as plain JSON. `expected` is what the person made of it, None where they did not want it at all."""
    successor = action.superseded_by if action.status == Status.SUPERSEDED else None
    return {
        "id": str(action.pk),
        "kind": _kind(action),
        "tenant": company.slug,
        "actor": action.requester.ref,
        "lang": action.language,
        "words": _words(action),
        "proposal": {"tool": action.tool, "arguments": json.loads(action.arguments)},
        "shown": {"summary": action.summary, "preview": action.preview, "level": action.level, "hash": action.digest},
        "verdict": _verdict(action),
        "expected": {"tool": successor.tool, "arguments": json.loads(successor.arguments)} if successor else None,
    }


def _kind(action: PendingAction) -> str:
    if action.status == Status.REJECTED:
        return "rejected"
    return "edited" if action.status == Status.SUPERSEDED else "wrong"


def _words(action: PendingAction) -> list[dict[str, str]]:
    """What was said up to the proposal, by people and by the assistant; of its own turn the people's words alone."""
    said = Message.objects.filter(
        conversation=action.conversation_id, role__in=SAID, silent=False, open=False, created_at__lte=action.created_at
    ).exclude(text="")
    if action.turn_id:
        said = said.exclude(role=Message.Role.ASSISTANT, turn=action.turn_id)
    return [{"role": role, "text": text} for role, text in said.order_by("position").values_list("role", "text")]


def _verdict(action: PendingAction) -> dict[str, str]:
    decision = Decision.objects.filter(action=action, verdict=Decision.Verdict.REJECT).first()
    if decision is not None:
        return {"code": decision.reason_code, "reason": decision.reason}
    check = SpotCheck.objects.filter(action=action, mark=SpotCheck.Mark.WRONG).order_by("at").first()
    return {"code": "", "reason": check.note if check else ""}
