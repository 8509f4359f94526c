"""Leads and clients: add, change, move, convert, archive, delete."""

from __future__ import annotations

import re
from typing import Any, Final

from assistant.agent.rehearsal.describing import described, status_word
from assistant.agent.rehearsal.finding import find_party
from assistant.agent.rehearsal.intents import Intent, intent_of
from assistant.agent.rehearsal.memory import Entity, ref_of
from assistant.agent.rehearsal.situation import Done, Situation
from assistant.agent.rehearsal.steps import Step, Want, after, do, phrase, say
from assistant.agent.rehearsal.stories.reading import STAGES, word_code
from assistant.agent.rehearsal.subjects import subject
from assistant.agent.rehearsal.words import EMAIL, PHONE, email_in, phone_in, plain

COMPANY: Final = re.compile(
    r"\b(llc|inc|ltd|ltda|group|hoa|church|dental|condom[ií]nio|igreja|padaria|f[aá]brica|s\.?a\.?)\b", re.I
)
LABELS: Final = re.compile(r"^(phone|tel\w*|e-?mail|cel\w*|fone|name|nome|contact|contato)\b\s*[:#]?\s*", re.IGNORECASE)
INTRODUCTION: Final = re.compile(
    r"^.*?\b(?:leads?|clients?|customers?|clientes?)\b(?:\s+(?:for|named|called|chamad[oa]|d[aeo]|para|pr[ao]))?\s*:?\s*",
    re.IGNORECASE | re.DOTALL,
)
LOST_REASONS: Final = {
    "price": ("price", "expensive", "preco", "caro"),
    "competitor": ("competitor", "competition", "concorrente", "concorrencia"),
    "no_reply": ("reply", "answer", "response", "resposta", "respondeu"),
    "out_of_area": ("area", "far", "longe"),
    "timing": ("timing", "time", "prazo", "tempo"),
    "duplicate": ("duplicate", "duplicado", "repetido"),
}
ADDRESS: Final = re.compile(
    r"\b(?:address|endere[cç]o)\b.*?\b(?:to|para|pra)\b\s+(?P<line>[^,]+,[^,]+.*)$", re.IGNORECASE
)
ANYWAY: Final = re.compile(r"\b(no|nope|anyway|different|create|new|nao|outr[oa]|mesmo assim|cria|diferente)\b")


def create_lead(s: Situation, want: Want) -> Step:
    return _create(s, want, "create_lead", "lead_made", "ask_lead")


def create_client(s: Situation, want: Want) -> Step:
    return _create(s, want, "create_client", "client_made", "ask_client")


def _create(s: Situation, want: Want, tool: str, made: str, question: str) -> Step:
    if not s.offers(tool):
        return say(s, "cannot_yet")
    details = party_details(want.text) if _introduced(want.text) else {}
    if not details.get("name") and want.answers:
        details = party_details(want.answers[0])
    if not details.get("name"):
        return say(s, question)
    anyway = any(ANYWAY.search(plain(answer)) for answer in want.answers[-1:])
    if done := s.result(tool):
        return _created(s, done, made)
    if want.answers and not anyway and intent_of(want.answers[-1]) is Intent.DECIDE:
        return say(s, "never_mind")
    kind = "company" if COMPANY.search(details["name"]) else "person"
    return do(s, tool, **details, kind=kind, on_duplicate="create" if anyway else None)


def _introduced(text: str) -> bool:
    return bool(INTRODUCTION.match(text)) and bool(INTRODUCTION.sub("", text).strip())


def _created(s: Situation, done: Done, made: str) -> Step:
    if same := _duplicates(done):
        return say(s, "duplicates", listed=", ".join(described(s, one) for one in same))
    if done.error:
        return say(s, "did_not_work", why=done.error)
    return say(s, made, one=described(s, s.memory.get(ref_of(done.result) or s.memory.latest("lead", "client"))))


def _duplicates(done: Done) -> list[Entity]:
    """Whom the tool takes for the same person, where it asked back instead of adding one."""
    if done.result.get("error") != "PROBABLE_DUPLICATE":
        return []
    data = done.result.get("data")
    listed = data.get("candidates") if isinstance(data, dict) else None
    return [Entity(ref_of(item), item) for item in listed or () if isinstance(item, dict)]


def party_details(text: str) -> dict[str, str]:
    """Name, phone, e-mail and the rest as notes, from "Maria Lopez, 512-555-0133, roof leak"."""
    text = INTRODUCTION.sub("", text, count=1).strip(" .")
    phone, email = phone_in(text), email_in(text)
    parts = [
        LABELS.sub("", part).strip(" .;") for part in re.split(r",|;|\n| - ", PHONE.sub(" ", EMAIL.sub(" ", text)))
    ]
    parts = [part for part in parts if re.search(r"[^\W\d_]", part)]
    name = LABELS.sub("", parts[0]) if parts else ""
    return {"name": name[:200], "phone": phone, "email": email, "notes": ", ".join(parts[1:])}


def move_lead(s: Situation, want: Want) -> Step:
    if not s.offers("move_lead_stage"):
        return say(s, "cannot_yet")
    stage = word_code(want.words, STAGES)
    lead = find_party(s, want, re.sub(r"\b(to|as|para|pra|como)\b.*$", "", want.text), ("lead",))
    if isinstance(lead, Step):
        return lead
    if not stage:
        return say(s, "ask_stage")
    reason = word_code(want.words, LOST_REASONS) if stage == "lost" else ""
    if stage == "lost" and not reason:
        if not want.answers:
            return say(s, "ask_lost")
        reason = "other"
    done = s.result("move_lead_stage")
    if done is None:
        return do(s, "move_lead_stage", lead_ref=lead.ref, stage=stage, lost_reason=reason)
    if done.error:
        return say(s, "did_not_work", why=done.error)
    return say(s, "stage_changed", name=lead.name or lead.ref, stage=status_word(s, stage))


def convert_lead(s: Situation, want: Want) -> Step:
    return _one_card(s, want, ("lead",), "convert_lead_to_client", "lead_ref", "card_convert")


def delete_lead(s: Situation, want: Want) -> Step:
    return _one_card(s, want, ("lead",), "delete_lead", "lead_ref", "card_delete")


def delete_client(s: Situation, want: Want) -> Step:
    return _one_card(s, want, ("client",), "delete_client", "client_ref", "card_delete")


def archive_client(s: Situation, want: Want) -> Step:
    if not s.offers("archive_client"):
        return say(s, "cannot_yet")
    client = find_party(s, want, want.text, ("client",))
    if isinstance(client, Step):
        return client
    done = s.result("archive_client")
    if done is None:
        return do(s, "archive_client", client_ref=client.ref)
    if done.proposed:
        return say(s, "on_the_card")
    return say(s, "did_not_work", why=done.error) if done.error else say(s, "archived", name=client.name or client.ref)


def update_contact(s: Situation, want: Want) -> Step:
    """Change phone, e-mail or address; the record is read first, for its version."""
    party = find_party(s, want, re.split(r"\b(?:to|para|pra)\b", want.text)[0])
    if isinstance(party, Step):
        return party
    kind = "lead" if party.kind == "lead" else "client"
    tool, getter, argument = f"update_{kind}", f"get_{kind}", f"{kind}_ref"
    if not s.offers(tool):
        return say(s, "cannot_yet")
    patch = _patch(want.words, kind)
    if not patch:
        return say(s, "ask_change")
    if done := s.result(tool):
        return (
            say(s, "did_not_work", why=done.error)
            if done.error
            else say(s, "contact_changed", name=party.name or party.ref)
        )
    read = s.result(getter, **{argument: party.ref}) if s.offers(getter) else None
    if read is None and s.offers(getter):
        return do(s, getter, **{argument: party.ref})
    version = read.result.get("version") if read else None
    return do(s, tool, **{argument: party.ref}, expected_version=version, patch=patch)


def _patch(text: str, kind: str) -> dict[str, Any]:
    if email := email_in(text):
        return {"email": email}
    if phone := phone_in(text):
        return {"phone": phone}
    match = ADDRESS.search(text)
    if match is None:
        return {}
    line1, city, *rest = [part.strip(" .") for part in match["line"].split(",")]
    address = {"line1": line1, "city": city} | ({"region": rest[0]} if rest else {})
    return {"billing_address" if kind == "client" else "address": address}


def _one_card(s: Situation, want: Want, kinds: tuple[str, ...], tool: str, argument: str, words: str) -> Step:
    if not s.offers(tool):
        return say(s, "cannot_yet")
    if step := after(s, tool):
        return step
    party = find_party(s, want, want.text, kinds)
    if isinstance(party, Step):
        return party
    hint = want.hint(subject(want.words) or party.name, party.ref)
    return do(s, tool, phrase(s, words, name=described(s, party)), **{argument: party.ref}, subject_hint=hint)


STORIES: Final = {
    Intent.CREATE_LEAD: create_lead,
    Intent.CREATE_CLIENT: create_client,
    Intent.MOVE_LEAD: move_lead,
    Intent.CONVERT_LEAD: convert_lead,
    Intent.DELETE_LEAD: delete_lead,
    Intent.DELETE_CLIENT: delete_client,
    Intent.ARCHIVE_CLIENT: archive_client,
    Intent.UPDATE_CONTACT: update_contact,
}
