"""What a card says of a message that is about to go out: to whom, in which words, and what to look at twice."""

import re
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from assistant.tools.facts import Fact, Phrase
from ledger.actions.letters import Letter
from ledger.actions.messages import Mailing
from ledger.actions.recipients import Recipient, Recipients
from ledger.models import Client, ClientMessage, Lead, StoredDocument
from ledger.text import visible

_LINKS = re.compile(r"\b(?:https?://|www\.)[^\s<>\"“”]+", re.IGNORECASE)


def mailing(letter: Letter, people: Recipients) -> Mailing:
    """The letter to exactly these addresses."""
    return Mailing(
        letter,
        to=tuple(one.address for one in people.to),
        cc=tuple(one.address for one in people.cc),
        bcc=tuple(one.address for one in people.bcc),
    )


def frozen_mail(letter: Letter, people: Recipients) -> dict[str, Any]:
    """The part of a payload that says what goes out and to whom."""
    planned = mailing(letter, people)
    return {
        "to": list(planned.to),
        "cc": list(planned.cc),
        "bcc": list(planned.bcc),
        "subject": letter.subject,
        "body": letter.body,
        "language": letter.language,
    }


def thawed_mail(payload: dict[str, Any]) -> Mailing:
    """The same, read back from the frozen payload."""
    return Mailing(
        Letter(payload["subject"], payload["body"], payload["language"]),
        to=tuple(payload["to"]),
        cc=tuple(payload["cc"]),
        bcc=tuple(payload["bcc"]),
    )


def party_fact(party: Client | Lead) -> Fact:
    """Name and city, from the record; hidden characters are marked."""
    name = ", ".join(part for part in (party.name, party.city) if part)
    kind = "lead" if isinstance(party, Lead) else "client"
    return Fact(kind, "text", name, ("hidden_characters",) if visible(name).hidden else ())


def people_facts(people: Recipients) -> list[Fact]:
    """One line for each address, marked with what is known of it."""
    groups = (("recipient", people.to), ("cc", people.cc), ("bcc", people.bcc))
    return [
        Fact(name, "email", one.address, () if name == "bcc" else _marks(one))
        for name, group in groups
        for one in group
    ]


def letter_facts(letter: Letter) -> list[Fact]:
    """Subject and the whole text, with words in the place of the link, which exists only once it was sent."""
    facts = [Fact("subject", "text", letter.subject), Fact("message", "long", shown_body(letter.body))]
    links = sorted(set(_LINKS.findall(letter.body)))
    return [*facts, Fact("links", "text", links)] if links else facts


def shown_body(body: str) -> str:
    return body.replace(ClientMessage.LINK, "[" + _("the link to see and accept it") + "]")


def people_warnings(party: Client | Lead, people: Recipients) -> list[Phrase]:
    """A sentence for each address that a person should look at twice."""
    who = party.name
    return [
        *(Phrase("address_not_on_record", {"address": one.address, "who": who}) for one in people.strangers),
        *(Phrase("address_changed", {"address": one.address}) for one in people.all if one.changed_recently),
        *(Phrase("address_lookalike", {"address": one.address}) for one in people.all if one.warnings),
    ]


def words_warnings(written: str, kept: str, strange: Sequence[str]) -> list[Phrase]:
    """What is to be said of words that were added: hidden characters taken out, figures that the record lacks."""
    warnings = []
    if visible(written, lines=True).hidden and written.strip() != kept:
        warnings.append(Phrase("hidden_characters_removed"))
    if strange:
        warnings.append(Phrase("figures_not_on_record", {"figures": ", ".join(strange)}))
    return warnings


def document_warnings(document: StoredDocument) -> list[Phrase]:
    """What is to be said of a document in which characters print as empty boxes."""
    return [] if document.complete else [Phrase("document_incomplete")]


def addressed(people: Recipients) -> str:
    """Every address in To, for a sentence."""
    return ", ".join(one.address for one in people.to)


def _marks(one: Recipient) -> tuple[str, ...]:
    marks = {
        "not_on_record": not one.on_record,
        "changed_recently": one.changed_recently,
        "new_address": not one.used_before,
        "same_as_last": one.used_before and not one.changed_recently,
        "lookalike": bool(one.warnings),
    }
    return tuple(mark for mark, applies in marks.items() if applies)
