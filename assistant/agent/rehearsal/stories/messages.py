"""Notes, drafts and e-mails."""

from __future__ import annotations

import re
from typing import Final

from assistant.agent.rehearsal.finding import POINTING, find_party
from assistant.agent.rehearsal.intents import Intent
from assistant.agent.rehearsal.memory import Entity
from assistant.agent.rehearsal.situation import Done, Situation
from assistant.agent.rehearsal.steps import Step, Want, after, do, phrase, say
from assistant.agent.rehearsal.stories.parties import COMPANY
from assistant.agent.rehearsal.stories.quotes import channel_in
from assistant.agent.rehearsal.subjects import split_clause, subject
from assistant.agent.rehearsal.words import plain, refs_in

ABOUT: Final = re.compile(r"\b(?:about|regarding|sobre|a respeito d[aeo])\b\s+(?P<topic>.+)$", re.IGNORECASE)
LONGEST_SUBJECT: Final = 60


def note(s: Situation, want: Want) -> Step:
    """An internal note on the record that is named, or on the one spoken of last."""
    if not s.offers("add_note"):
        return say(s, "cannot_yet")
    command, body = split_clause(want.text)
    body = body or next(iter(reversed(want.answers)), "")
    refs = refs_in(command) or (refs_in(body) if not command.strip() else [])
    one = s.memory.get(refs[0]) if refs else _noted_on(s, want, command)
    if isinstance(one, Step):
        return one
    if not body:
        return say(s, "ask_note")
    done = s.result("add_note")
    if done is None:
        return do(s, "add_note", record_ref=one.ref, body=body)
    return say(s, "did_not_work", why=done.error) if done.error else say(s, "note_added", name=one.name or one.ref)


def _noted_on(s: Situation, want: Want, command: str) -> Entity | Step:
    latest = s.memory.latest("quote", "invoice", "client", "lead")
    if latest and POINTING.search(plain(command)):
        return s.memory.get(latest)
    return find_party(s, Want(want.intent, want.text), command)


def draft(s: Situation, want: Want) -> Step:
    if not s.offers("draft_message"):
        return say(s, "cannot_yet")
    found = _letter(s, want)
    if isinstance(found, Step):
        return found
    party, title, body = found
    done = s.result("draft_message")
    if done is None:
        channel = channel_in(want.words)
        return do(s, "draft_message", party_ref=party.ref, channel=channel, subject=title, body=body)
    return say(s, "did_not_work", why=done.error) if done.error else say(s, "draft_ready", name=party.name, body=body)


def email(s: Situation, want: Want) -> Step:
    """A message to a client or lead, as a card with its whole text; "email it" takes the last draft."""
    if not s.offers("send_email"):
        return say(s, "cannot_yet")
    if step := after(s, "send_email"):
        return step
    if (last := _last_draft(s)) and not split_clause(want.text)[1] and not subject(want.text):
        party = s.memory.get(str(last.arguments.get("party_ref") or ""))
        title, body = str(last.arguments.get("subject") or ""), str(last.arguments.get("body") or "")
        title = title or phrase(s, "subject_plain")
    else:
        found = _letter(s, want)
        if isinstance(found, Step):
            return found
        party, title, body = found
    text = phrase(s, "card_email", name=party.name or party.ref)
    return do(s, "send_email", text, party_ref=party.ref, subject=title, body=body)


def _letter(s: Situation, want: Want) -> tuple[Entity, str, str] | Step:
    """Whom it goes to, its subject and its text."""
    command, said = split_clause(want.text)
    about = ABOUT.search(command)
    command = command[: about.start()] if about else command
    party = find_party(s, want, command)
    if isinstance(party, Step):
        return party
    said = (
        said
        or (phrase(s, "about", topic=about["topic"]) if about else "")
        or (want.answers[-1] if want.answers else "")
    )
    if not said:
        return say(s, "ask_body", name=party.name or party.ref)
    sentence = said[0].upper() + said[1:].rstrip(" .") + "."
    title = (about["topic"] if about else said).strip(" .")[:LONGEST_SUBJECT]
    title = title[0].upper() + title[1:]
    return party, title, phrase(s, "greeting", name=_first_name(party), body=sentence)


def _first_name(party: Entity) -> str:
    name = party.name or party.ref
    return name if COMPANY.search(name) else name.split()[0]


def _last_draft(s: Situation) -> Done | None:
    return next((call for call in reversed(s.calls) if call.name == "draft_message" and not call.error), None)


STORIES: Final = {Intent.NOTE: note, Intent.DRAFT: draft, Intent.EMAIL: email}
