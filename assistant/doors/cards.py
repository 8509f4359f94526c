"""From the rows of an action to what its card shows. Templates get these dataclasses and ask nothing.

Every word on a card comes from the frozen preview, the database and gettext (R6). The model's own words appear once,
under Details, marked as such.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from assistant.doors import questions, receipts, wording
from assistant.doors.record.readers import story_url
from assistant.doors.shapes import FEW, FIRST, OF_THE_FILE, Card, CardDocument, CardFact, Details, Label
from assistant.doors.wording import Shown
from assistant.gate import passkeys, policy, renewing
from assistant.models import OPEN, Decision, Message, PendingAction, Question, Status
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger import webauthn
from ledger.models import Membership


def url_of(action: PendingAction, *tail: str) -> str:
    name = "_".join(("action", *tail))
    return reverse(f"chat:{name}", args=[action.conversation_id, action.pk])


def card(
    action: PendingAction,
    reader: Membership,
    *,
    decisions: Sequence[Decision] = (),
    asked: Sequence[Question] = (),
    predecessor: PendingAction | None = None,
    order: int = 0,
    taken_back: Message | None = None,
    wrong: str = "",
) -> Card:
    """The card as this reader sees it now. `wrong` is a sentence about a click that was not taken.

    `asked` is what was asked about it, `taken_back` the record of a reverse that needed no card (gate.reversing).
    """
    made = registry.get(action.tool)
    decides = made is not None and action.status in OPEN and _decides(action, reader, made, decisions)
    preview = action.preview
    facts = tuple(_fact(fact) for fact in preview.get("facts", ()))
    sum_of = next((fact.shown for fact in facts if fact.shape == "sum"), None)
    common: dict[str, Any] = {
        "id": action.pk,
        "conversation_id": action.conversation_id,
        "status": action.status,
        "tool": action.tool,
        "tool_label": wording.tool_label(action.tool),
        "summary": wording.shown_text(action.summary),
        "summary_text": action.summary,
        "digest": action.digest,
        "url": url_of(action),
        "order": order,
        "seq": action.seq,
        "level": action.level,
        "figure": sum_of,
        "labels": _labels(action),
        "details": _details(action),
        "document": _document(action),
        "wrong": wrong,
        "asks": questions.offered(action, reader, asked),
        "answers": questions.answered(asked),
        "successor_url": receipts.link_to(action, action.superseded_by_id),
        "story_url": story_url(action, reader),
    }
    if action.status in OPEN:
        strong = decides and action.level >= Level.STRONG and not action.stale
        signing = _signing(action, reader) if strong else {}
        return Card(**common, **signing, **_waiting(action, decides, facts, predecessor, made, decisions))
    return Card(**common, **receipts.settled(action, decisions, made, reader, taken_back))


def _waiting(
    action: PendingAction,
    decides: bool,
    facts: tuple[CardFact, ...],
    predecessor: PendingAction | None,
    made: registry.Tool | None,
    decisions: Sequence[Decision],
) -> dict[str, Any]:
    question = wording.sentence(action.preview["title"])
    stale = action.stale or {}
    changed = _changed_facts(stale.get("changes", ())) if stale else _changes(predecessor, action)
    tag = _("Waiting for you")
    if not decides:
        second = action.status == Status.AWAITING_SECOND
        tag = _("Waiting for a second person") if second else _("Waiting for someone who may decide this")
    elif changed or stale:
        tag = _("Changed, please look again")
    return {
        "look": "" if decides else "is-held",
        "icon": "pause",
        "tag": tag,
        "heading": question,
        "button": _("Review the change") if stale else wording.sentence(action.preview["button"]),
        "expires": wording.moment(action.expires_at),
        "expires_iso": action.expires_at.isoformat(),
        **_places(facts, with_file=bool(action.preview.get("document"))),
        "changes": changed,
        "consequences": tuple(wording.sentence(phrase) for phrase in action.preview.get("consequences", ())),
        "warnings": tuple(wording.sentence(phrase) for phrase in action.preview.get("warnings", ())),
        "note": _first_approval(decisions) if action.status == Status.AWAITING_SECOND else "",
        "grounds": receipts.grounds(action, decisions),
        "stale": _stale_words(stale) if stale else "",
        "alone": action.alone,
        "can_decide": decides,
        "can_edit": bool(decides and made and made.editable),
        "typed": action.preview.get("typed", ""),
        "announcement": _("Waiting for you: %(summary)s") % {"summary": action.summary} if decides else "",
    }


def _signing(action: PendingAction, reader: Membership) -> dict[str, Any]:
    """What the reader's browser asks a passkey for, as JSON, and whether the reader lacks one that is required."""
    ways: passkeys.Ways = vars(reader).setdefault("ways_of_presence", None) or passkeys.ways_of(reader)
    vars(reader)["ways_of_presence"] = ways  # one reader's cards ask once
    here = webauthn.site()
    if not ways.keys or here is None:
        return {"unsigned": ways.required}
    asked = {
        "challenge": webauthn.encode(passkeys.challenge_of(action)),
        "rpId": here.rp_id,
        "origin": here.origin,
        "credentials": [{"id": key.credential_id, "transports": key.transports} for key in ways.keys],
    }
    return {"sign": json.dumps(asked)}


def _decides(action: PendingAction, reader: Membership, made: registry.Tool, decisions: Sequence[Decision]) -> bool:
    if not policy.may_answer(reader, made, action, [decision.member_id for decision in decisions]):
        return False
    if action.status == Status.AWAITING_SECOND:
        return reader.pk not in {action.requester_id, *(decision.member_id for decision in decisions)}
    return action.requester_id == reader.pk or action.routed


def _fact(fact: dict[str, Any], before: Shown | None = None) -> CardFact:
    marks = tuple(wording.mark(code) for code in fact.get("marks", ()))
    return CardFact(
        fact["name"], wording.label(fact["name"]), wording.value(fact["kind"], fact["value"]), marks, before
    )


def _places(facts: Sequence[CardFact], *, with_file: bool) -> dict[str, tuple[CardFact, ...]]:
    """Every fact in one place: judged first, the letter in full, the other figures, what the file says of itself."""
    letter = tuple(fact for fact in facts if fact.shown.kind == "long" or fact.name == "subject")
    of_the_file = tuple(fact for fact in facts if with_file and fact.name in OF_THE_FILE)
    rest = [fact for fact in facts if fact not in letter and fact not in of_the_file]
    first = [fact for fact in rest if fact.name in FIRST or fact.marks or len(rest) <= FEW]
    first.sort(key=lambda fact: FIRST.index(fact.name) if fact.name in FIRST else len(FIRST))
    also = tuple(fact for fact in rest if fact not in first)
    return {"facts": tuple(first), "letter": letter, "also": also, "of_the_file": of_the_file}


def _stale_words(stale: dict[str, Any]) -> str:
    """What is said of a card whose records have moved since it was put up."""
    if stale.get("refused"):
        return _("This can no longer be done as it stands: %(why)s") % {"why": stale["refused"]}
    if stale.get("changes"):
        return _("It changed since this card was put up. A press shows the new one; nothing is done by it.")
    return _("A record behind this card changed, though nothing that it shows. A press shows it anew.")


def _changes(before: PendingAction | None, after: PendingAction) -> tuple[CardFact, ...]:
    """What a person compares between a card and the one before it."""
    return _changed_facts(renewing.changes(before, after)) if before else ()


def _changed_facts(changes: Sequence[dict[str, Any]]) -> tuple[CardFact, ...]:
    """What differs; the file's new fingerprint stands under Details."""
    return tuple(
        CardFact(
            change["name"],
            wording.label(change["name"]),
            wording.value(change["kind"], change["after"]),
            before=wording.value(change["kind"], change["before"]),
        )
        for change in changes
        if change["name"] not in OF_THE_FILE
    )


def _document(action: PendingAction) -> CardDocument | None:
    attached = action.preview.get("document")
    if not attached:
        return None
    return CardDocument(
        name=attached["name"],
        pages=attached["pages"],
        sha256=attached["sha256"],
        image_url=url_of(action, "page"),
        file_url=url_of(action, "document"),
    )


def _labels(action: PendingAction) -> tuple[Label, ...]:
    """Reversibility first, then what the effects say."""
    made = registry.get(action.tool)
    reverse_tool = registry.get(action.compensation) if action.compensation else None
    if made is None or made.irreversible or not action.compensation:
        first = Label(_("Cannot be taken back"), strong=True)
    elif reverse_tool is None:
        first = Label(_("Can be reversed"))
    else:
        first = Label(_("Can be reversed: %(how)s") % {"how": reverse_tool.label})
    effects = [effect for effect in wording.EFFECTS if effect in action.effects]
    return (first, *(Label(str(wording.EFFECTS[e]), e in wording.STRONG_EFFECTS) for e in effects))


def _details(action: PendingAction) -> Details:
    code = "<code>{}</code>"
    rows: list[tuple[str, str | SafeString]] = [
        (_("Tool"), format_html(code, action.tool)),
        (_("Level"), f"L{action.level}"),
        (_("Operation"), str(wording.OPERATIONS.get(action.operation, action.operation))),
        (_("Asked for by"), action.requester.name),
        (_("Through"), str(wording.DOORS.get(action.door, action.door))),
        (_("Asked at"), wording.moment(action.created_at)),
        (_("Read from outside"), ", ".join(source["ref"] for source in action.outside)),
        (_("Summary"), wording.shown_text(action.summary)),
        (_("Fingerprint"), format_html(code, action.digest)),
    ]
    return Details(
        rows=tuple((name, text) for name, text in rows if text),
        arguments=tuple(
            (path, wording.shown_text(text, lines=True)) for path, text in wording.flattened(action.payload)
        ),
        reason=wording.shown_text(action.reason, lines=True),
    )


def _first_approval(decisions: Sequence[Decision]) -> str:
    first = next((d for d in decisions if d.slot == 1), None)
    return _("%(name)s has confirmed; a second person has to.") % {"name": first.member.name} if first else ""
