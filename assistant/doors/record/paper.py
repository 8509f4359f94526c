"""The story of one action as it is printed: the same rows as on its page, as plain texts for the template to place."""

import html
from collections.abc import Iterable
from typing import Any

from django.utils import timezone, translation
from django.utils.html import strip_tags
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from assistant.doors import wording
from assistant.doors.record import evidence
from assistant.doors.record.events import Standing
from assistant.doors.record.evidence import Row, moment
from assistant.doors.record.story import Story
from assistant.doors.shapes import Card, CardFact
from ledger.documents.dossier import Dossier, Part, Table
from ledger.models import Company, Membership


def words(story: Story, *, company: Company, reader: Membership, standing: Standing) -> Dossier:
    """The whole of it, in the language in force; the card in that in which it was shown."""
    action = story.action
    parts = [
        Part(_("In short"), lines=[action.summary, str(action.get_status_display()), standing.sentence]),
        Part(_("What was compared"), lines=[check.text for check in story.checks]),
        Part(_("The words that led to it"), rows=[(f"{one.who}, {one.at}", _text(one.text)) for one in story.said]),
        Part(_("What was read from outside before"), rows=_rows(story.outside), empty=_("Nothing.")),
        Part(_("How it was asked for"), rows=_rows(story.asked)),
        _card(story),
        Part(_("On whose screen"), rows=_rows(story.seen), empty=_("On nobody's, as far as is known.")),
        *(Part(_("A question, and what the records answered"), rows=_rows(rows)) for rows in story.questions),
        *(Part(_("A decision"), rows=_rows(rows)) for rows in story.decisions),
        *(Part(_("A click that came to nothing"), rows=_rows(rows)) for rows in story.not_taken),
        _payload(story),
        Part(_("What ran, and the provider's receipt"), rows=_rows(story.ran), empty=_("Nothing ran.")),
        Part(
            _("Where it comes from and leads to"),
            rows=[(label, f"{other.summary} ({other.get_status_display()})") for label, other in story.links],
        ),
        _chain(story),
    ]
    return Dossier(
        title=_("The story of one action"),
        name=wording.tool_label(action.tool),
        company=company.name,
        sheet="us-letter" if company.country == "US" else "a4",
        language=get_language() or "en",
        note=_("Made on %(at)s for %(name)s from the record. Action %(id)s.")
        % {"at": moment(timezone.now()), "name": reader.name, "id": action.pk},
        headline=story.headline,
        good=story.same,
        parts=[part for part in parts if part.says_something],
        page=_("Page {page} of {pages}"),
    )


def _card(story: Story) -> Part:
    with translation.override(story.action.language):
        card = evidence.as_shown(story.action, image="audit_action_page", file="audit_action_document")
        rows = [(fact.label, _fact(fact)) for fact in (*card.facts, *card.letter, *card.also, *card.of_the_file)]
        lines = [card.heading, *_then(card)]
    rows.append((_("Summary, as it was shown"), story.action.summary))
    rows.append((_("Fingerprint"), story.action.digest))
    return Part(_("The card, as it was shown"), lines=lines, rows=rows)


def _then(card: Card) -> Iterable[str]:
    return (*card.warnings, *card.consequences, *(label.text for label in card.labels))


def _fact(fact: CardFact) -> str:
    marks = "".join(f" [{mark.text}]" for mark in fact.marks)
    return f"{_text(fact.shown.text)}{marks}"


def _payload(story: Story) -> Part:
    heads = [_("Value"), _("As it was shown"), _("As it ran"), _("The same")]
    rows = [[one.path, _text(one.shown), _text(one.ran), _told(one.same)] for one in story.compared]
    if story.ran or not rows:
        return Part(_("The payload, as shown and as executed"), table=Table(heads, rows) if rows else None)
    return Part(_("What would have run"), rows=[(row[0], row[1]) for row in rows])


def _chain(story: Story) -> Part:
    heads = [_("Link"), _("When"), _("What"), _("Hash"), _("Holds")]
    rows = [
        [str(one.seq), f"{one.at}\n{one.who}, {one.door}", one.word, one.hash, _told(one.holds)] for one in story.proofs
    ]
    return Part(_("The links of the chain that prove it"), table=Table(heads, rows) if rows else None)


def _rows(rows: Iterable[Row]) -> list[tuple[str, str]]:
    return [(label, _text(text)) for label, text in rows]


def _text(text: Any) -> str:
    """A page's fragment as plain text: what a person typed is escaped in it, so that no tag is theirs."""
    return html.unescape(strip_tags(str(text))) if hasattr(text, "__html__") else str(text)


def _told(holds: bool) -> str:
    return _("yes") if holds else _("NO")
