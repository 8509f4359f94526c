"""What became of proposals: told from records and results, and from nothing else."""

from __future__ import annotations

from typing import Any, Final

from assistant.agent.rehearsal.describing import described
from assistant.agent.rehearsal.finding import first_property
from assistant.agent.rehearsal.memory import Entity, items_of
from assistant.agent.rehearsal.situation import Proposal, Record, Situation
from assistant.agent.rehearsal.steps import Step, Want, after, call, do, phrase, say
from assistant.agent.rehearsal.words import amounts_in, email_in, refs_in

TOLD: Final = frozenset(
    {"executed", "failed", "cancelled", "expired", "superseded", "in_doubt", "edited", "rejected", "awaiting_second"}
)
LOOK_UPS: Final = (
    ("send_quote", "quote_ref", "get_quote"),
    ("send_invoice", "invoice_ref", "get_invoice"),
    ("refund_payment", "payment_ref", "get_payment"),
)
RECIPIENTS: Final = ("sent_to", "recipient", "to", "email")


def news(s: Situation) -> Step:
    """The turn goes on because cards were decided: say what the records say, each once.

    That a card was changed goes without saying where what became of the changed one is told.
    """
    news = [record for record in s.news if record.event in TOLD]
    told = [_told(s, record) for record in [one for one in news if one.event != "edited"] or news]
    if any(record.event == "rejected" for record in s.news):
        told.append(phrase(s, "change_how"))
    return Step("\n\n".join(dict.fromkeys(told)) or phrase(s, "never_mind"))


def outcome(s: Situation, want: Want) -> Step:
    """ "Did it go out?": the record of the document, else of the action, else what the history says."""
    proposal = _asked_about(s, want)
    if proposal is None:
        return say(s, "nothing_yet")
    for tool, argument, getter in LOOK_UPS:
        ref = proposal.arguments.get(argument)
        if proposal.tool == tool and isinstance(ref, str) and s.offers(getter):
            done = s.result(getter, **{argument: ref})
            return _state_of(s, ref, proposal) if done and not done.error else do(s, getter, **{argument: ref})
    if proposal.action and s.offers("get_action"):
        done = s.result("get_action", action_ref=proposal.action)
        if done is None:
            return do(s, "get_action", action_ref=proposal.action)
        if not done.error:
            one = Entity("", {"name": proposal.summary, "status": str(done.result.get("status") or "")})
            return say(s, "state_is", one=described(s, one))
    return Step(_from_history(s, proposal))


def again(s: Situation, want: Want) -> Step:
    """The last proposal once more: a new card, whatever became of the old one."""
    if not s.proposals:
        return say(s, "nothing_again")
    batch = [proposal for proposal in s.proposals if proposal.batch == s.proposals[-1].batch]
    undone = [proposal for proposal in batch if proposal.outcome != "executed"]
    return _proposed_again(s, [(proposal.tool, proposal.arguments) for proposal in undone or batch])


def amend(s: Situation, want: Want) -> Step:
    """ "Make it 350", "use karen@example.com": the last proposal with another amount or recipient."""
    amounts, address = amounts_in(want.text, s.language), email_in(want.text)
    last = s.proposals[-1] if s.proposals else None
    if last and address and last.tool in s.tools and first_property(s, last.tool, ("to",)):
        return _proposed_again(s, [(last.tool, last.arguments | {"to": address})])
    if last and amounts and "amount" in last.arguments:
        return _proposed_again(s, [(last.tool, last.arguments | {"amount": amounts[-1]})])
    return say(s, "ask_change")


def pending(s: Situation, want: Want) -> Step:
    done = s.result("list_pending_actions")
    if done is None:
        return do(s, "list_pending_actions")
    if done.error:
        return say(s, "did_not_work", why=done.error)
    items = [Entity("", item) for item in items_of(done.result) if isinstance(item, dict)]
    if not items:
        return say(s, "pending_none")
    lines = "\n".join(f"- {described(s, _card(item))}" for item in items)
    return say(s, "list", count=len(items), lines=lines)


def _card(item: Entity) -> Entity:
    return Entity("", {"name": item.fact("summary", "title", "tool"), "status": item.fact("status")})


def _told(s: Situation, record: Record) -> str:
    what = _sentence(record.summary)
    if record.event == "executed":
        text = str(record.receipt.get("text") or "").strip()
        return phrase(s, "executed", what=_sentence(text) if text else what)
    if record.event == "rejected":
        if record.reason:
            return phrase(s, "rejected_reason", what=what, reason=record.reason.rstrip("."))
        return phrase(s, "rejected", what=what)
    why = f" {_sentence(record.reason)}" if record.reason and record.event in ("failed", "in_doubt") else ""
    return phrase(s, record.event, what=what + why)


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _asked_about(s: Situation, want: Want) -> Proposal | None:
    refs = refs_in(want.text)
    for proposal in reversed(s.proposals):
        if not refs or set(refs) & {str(value) for value in proposal.arguments.values()}:
            return proposal
    return None


def _state_of(s: Situation, ref: str, proposal: Proposal) -> Step:
    one = s.memory.get(ref)
    said = _from_history(s, proposal) if proposal.outcome != "executed" else ""
    to = _delivered_to(one) or _recipient(s, proposal)
    state = phrase(s, "state_to", one=described(s, one), to=to) if to else phrase(s, "state_is", one=described(s, one))
    return Step(" ".join(part for part in (said, state) if part))


def _delivered_to(one: Entity) -> str:
    """Where the record says that it went: its own field, or its newest message's."""
    sent = [message for message in one.facts.get("messages") or () if isinstance(message, dict)]
    return one.fact(*RECIPIENTS) or (_joined(sent[0].get("to")) if sent else "")


def _recipient(s: Situation, proposal: Proposal) -> str:
    """Where it went, by the record of what was executed."""
    for record in reversed(s.records):
        if record.event == "executed" and record.tool == proposal.tool:
            found = next((record.receipt[key] for key in RECIPIENTS if record.receipt.get(key)), "")
            return _joined(found.get("value") if isinstance(found, dict) else found)
    return ""


def _joined(found: Any) -> str:
    return ", ".join(map(str, found)) if isinstance(found, list) else str(found or "")


def _from_history(s: Situation, proposal: Proposal) -> str:
    summary = _sentence(proposal.summary or proposal.tool)
    if not proposal.outcome:
        return phrase(s, "open_still", what=summary)
    matching = [r for r in s.records if r.event == proposal.outcome and r.tool == proposal.tool]
    return _told(s, matching[-1]) if matching and proposal.outcome in TOLD else phrase(s, "under_way", what=summary)


def _proposed_again(s: Situation, wished: list[tuple[str, dict[str, Any]]]) -> Step:
    if any(tool not in s.tools for tool, _ in wished):
        return say(s, "cannot_yet")
    if step := after(s, wished[0][0]):
        return step
    return Step(phrase(s, "card_again"), tuple(call(s, tool, **arguments) for tool, arguments in wished))
