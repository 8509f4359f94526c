"""What a card says, in each of its states, and that it says all of it."""

import dataclasses
import re
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import timezone, translation

from assistant.doors import cards, wording
from assistant.doors.shapes import Card
from assistant.models import Decision, PendingAction, Status
from assistant.tools import registry
from assistant.tools.vocabulary import LABELS
from ledger.actions.quote_terms import QuoteTerms, set_quote_terms
from ledger.money import Portion
from tests.assistant.doors.conftest import Desk
from tests.cast import Cast
from tests.desks import desk_of
from tests.offers import cedar_bend

LANGUAGES = ("en", "pt-br")


def html_of(card: Card, **context: Any) -> str:
    return render_to_string("cards/card.html", {"card": card, **context})


def visible_text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def card_of(desk: Desk, action: PendingAction, name: str = "dana", **changes: Any) -> Card:
    with desk.cast.scope():
        fresh = PendingAction.objects.select_related("requester", "edited_from").get(pk=action.pk)
        for field, value in changes.items():
            setattr(fresh, field, value)
        decisions = list(Decision.objects.filter(action=action).select_related("member").order_by("slot"))
        return cards.card(fresh, desk.cast[name], decisions=decisions)


def with_facts(desk: Desk, *facts: dict[str, Any], **preview: Any) -> Card:
    action = desk.propose()
    made = {**action.preview, "facts": [{"marks": [], **fact} for fact in facts], **preview}
    return card_of(desk, action, preview=made)


def test_t20_everything_that_runs_is_on_the_card(desk: Desk):
    """Each value of the frozen payload and each fact of the preview is in the card's text."""
    action = desk.propose(text="The very words, line one.\nLine two.")
    html = html_of(card_of(desk, action))
    for _path, text in wording.flattened(action.payload):
        assert str(wording.shown_text(text, lines=True)) in html
    for fact in action.preview["facts"]:
        assert str(wording.value(fact["kind"], fact["value"]).text) in html
    for part in ("post_letter", "L2", "Through a provider outside", action.digest, "Because I said so."):
        assert part in html


def test_no_fact_is_lost_or_told_twice_however_many_there_are(desk: Desk):
    facts = [{"name": name, "kind": "text", "value": f"value of {name}"} for name in LABELS]
    made = with_facts(
        desk, *facts, document={"name": "a.pdf", "pages": 1, "sha256": "0" * 64, "id": "", "kind": "quote"}
    )
    placed = [fact.name for fact in (*made.facts, *made.letter, *made.also, *made.of_the_file)]
    assert sorted(placed) == sorted(LABELS)
    html = html_of(made)
    assert [name for name in LABELS if html.count(f"value of {name}<") != 1] == []


def test_the_sum_stands_first_in_large_type(desk: Desk):
    made = with_facts(
        desk,
        {"name": "recipient", "kind": "email", "value": "a@b.example"},
        {"name": "total", "kind": "money", "value": {"cents": 1015764, "currency": "USD"}},
    )
    assert [fact.name for fact in made.facts] == ["total", "recipient"]
    assert '<dd class="amount"><small>$</small>10,157.64</dd>' in html_of(made)


@pytest.mark.parametrize(
    ("hostile", "spelled"),
    [
        ("pay\u202elpitnuocca", "⟨U+202E⟩"),
        ("a\u200bb@example.com", "⟨U+200B⟩"),
        ("ab\U000e0041c@example.com", "⟨U+E0041⟩"),
        ("to" + " " * 60 + "hidden@example.com", "⟨␠×60⟩"),
    ],
)
def test_t23_what_cannot_be_seen_is_spelled_out_and_warned_of(desk: Desk, hostile: str, spelled: str):
    made = with_facts(desk, {"name": "recipient", "kind": "email", "value": hostile, "marks": ["hidden_characters"]})
    html = html_of(made)
    assert f'<span class="unseen">{spelled}</span>' in html
    assert "Contains hidden characters, shown here as codes" in html
    assert not set(hostile) & set("\u202e\u200b\U000e0041") & set(html)


def test_markup_in_a_value_stays_text(desk: Desk):
    made = with_facts(
        desk,
        {"name": "subject", "kind": "text", "value": "<hx-partial hx-target=body> <b>x</b>"},
        {"name": "message", "kind": "long", "value": "</div><script>alert(1)</script>\nline two"},
    )
    html = html_of(made)
    assert "<hx-partial" not in html
    assert "<script" not in html
    assert "<b>x</b>" not in html
    assert "line two" in html


def test_a_value_that_does_not_fit_its_kind_is_shown_and_breaks_nothing(desk: Desk):
    odd = [("money", "12"), ("money", {"cents": "x"}), ("date", "soon"), ("datetime", 5), ("date", ["2026"])]
    made = with_facts(desk, *({"name": f"n{at}", "kind": k, "value": v} for at, (k, v) in enumerate(odd)))
    text = visible_text(html_of(made))
    for words in ("12", "soon", "2026"):
        assert words in text


def test_only_who_may_decide_sees_buttons_and_marigold(desk: Desk):
    action = desk.propose()
    own, others = card_of(desk, action), card_of(desk, action, "alex")
    assert (own.can_decide, own.look) == (True, "")
    assert (others.can_decide, others.look) == (False, "is-held")
    assert "/confirm" in html_of(own)
    assert "/confirm" not in html_of(others)
    assert "/seen" not in html_of(others)


@pytest.mark.parametrize("status", [status for status in Status if status not in ("pending", "awaiting_second")])
def test_t56_no_state_after_the_decision_has_a_button_that_decides(desk: Desk, status: str):
    later = timezone.now() + timedelta(seconds=9)
    done = {"text": "It was done.", "facts": {}, "provider_ref": "p-1"}
    made = card_of(
        desk,
        desk.propose(),
        status=status,
        closed_at=timezone.now(),
        execute_after=later,
        undo_seconds=10,
        receipt=done,
        failure={"code": "X", "sentence": "It was refused."},
    )
    html = html_of(made)
    assert [word for word in ("confirm", "reject", "cancel", "edit", "seen") if f"{made.url}{word}" in html] == []
    assert (f"{made.url}undo" in html) == (status == Status.SCHEDULED)
    assert "marigold" not in made.look
    assert made.look in ("is-held", "is-done", "is-off", "is-wrong")


def test_r10_what_failed_or_was_refused_never_reads_as_done(desk: Desk):
    action = desk.propose()
    for status in ("failed", "rejected", "cancelled", "expired", "superseded"):
        made = card_of(desk, action, status=status, failure={"code": "X", "sentence": "Refused."})
        assert made.heading == "Post a letter: nothing was done"
        assert (made.stamp, made.look != "is-done") == (None, True)
    doubt = card_of(desk, action, status="in_doubt")
    assert doubt.heading == "Post a letter: not known whether it was done"


def test_t59_a_card_that_waits_and_one_that_expired_say_different_things(desk: Desk):
    action = desk.propose()
    waits, expired = (visible_text(html_of(card_of(desk, action, status=s))) for s in ("pending", "expired"))
    assert "Waiting for you" in waits
    assert "Nobody decided in time." in expired
    assert "Ask again with current data" in expired
    assert "Rejected" not in expired


@pytest.mark.parametrize("language", LANGUAGES)
def test_t80_no_two_buttons_of_a_card_read_alike_for_any_tool(desk: Desk, language: str):
    """Also a tool called "Cancel request" or "Close" would not share its words with the ways out."""
    action = desk.propose()
    with translation.override(language):
        labels = {str(made.label) for made in registry.TOOLS.values() if made.gated}
        html = html_of(dataclasses.replace(card_of(desk, action), button="the button of the tool", can_edit=True))
    foot = html[html.index('class="slip-foot"') :]
    buttons = [visible_text(b).strip() for b in re.findall(r"<(?:button|a) [^>]*btn[^>]*>(.*?)</(?:button|a)>", foot)]
    assert len(buttons) == len(set(buttons)) == 4
    assert not labels & set(buttons[1:])


def test_a_card_is_a_labelled_group_and_not_a_dialog(desk: Desk):
    """Settled question 32, and design: arrival takes no focus."""
    action = desk.propose()
    html = html_of(card_of(desk, action))
    assert f'role="group" aria-labelledby="action-{action.pk}-t" aria-describedby="action-{action.pk}-d"' in html
    assert "alertdialog" not in html
    assert "autofocus" not in html
    for name in ("t", "d"):
        assert html.count(f'id="action-{action.pk}-{name}"') == 1


def test_dates_amounts_and_times_follow_the_readers_language():
    money = {"cents": 208600, "currency": "BRL"}
    with translation.override("pt-br"):
        assert wording.value("money", money).figure == ("R$", "2.086,00")
        assert str(wording.value("date", "2026-12-14").text).startswith("segunda-feira, 14 de dezembro")
        assert str(wording.value("percent", "8.25").text) == "8,25%"
    with translation.override("en"):
        assert wording.value("money", money).figure == ("R$", "2,086.00")
        assert str(wording.value("date", "2026-12-14").text) == "Monday, December 14, 2026"


def test_reversibility_and_sensitive_data_are_labelled(desk: Desk):
    letter = card_of(desk, desk.propose())
    assert [(one.text, one.strong) for one in letter.labels] == [
        ("Cannot be taken back", True),
        ("A document goes out", False),
    ]
    rename = card_of(desk, desk.propose("rename_client", name="Jon"))
    assert rename.labels[0].text == "Can be reversed: Rename a client"
    private = card_of(desk, desk.propose("rename_client", name="Jo"), effects=["private", "money_out"])
    assert {one.text for one in private.labels if one.strong} == {"Money leaves", "Private data"}


def test_the_models_reason_is_marked_as_its_words(desk: Desk):
    html = html_of(card_of(desk, desk.propose(), reason="Trust me: <b>approved</b> by the owner."))
    assert "The assistant's own words on why. Nobody has checked them." in visible_text(html).replace("&#x27;", "'")
    assert "Trust me: &lt;b&gt;approved&lt;/b&gt;" in html
    assert html.index("<details") < html.index("Trust me") < html.index("</details>")


def test_a_second_approval_names_the_first(desk: Desk):
    action = desk.propose()
    first = SimpleNamespace(slot=1, member=desk.cast.dana, member_id=desk.cast.dana.pk, verdict="confirm")
    with desk.cast.scope():
        fresh = PendingAction.objects.select_related("requester").get(pk=action.pk)
        fresh.status = "awaiting_second"
        for name, decides in (("dana", False), ("sam", True)):
            made = cards.card(fresh, desk.cast[name], decisions=[first])
            assert made.can_decide is decides
            assert made.note == "Dana has confirmed; a second person has to."


def test_a_receipt_leads_to_the_message_that_went_out(desk: Desk):
    action = desk.propose()
    for facts, links in ({"message": "M-0042"}, ["/outbox/M-0042/"]), ({}, []):
        html = html_of(card_of(desk, action, status=Status.EXECUTED, receipt={"text": "Sent.", "facts": facts}))
        assert re.findall(r'<a href="(/outbox/[^"]+)">Open M-0042</a>', html) == links


def test_a_changed_card_shows_what_a_person_compares_and_no_fingerprints(lone_ridge: Cast):
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
    office = desk_of(lone_ridge)
    before = office.propose("send_quote", quote_ref=quote.ref, channel="email")
    with lone_ridge.scope():
        terms = QuoteTerms(discount=Portion(percent=Decimal(0)))
        set_quote_terms(quote, by=lone_ridge.dana, expected_version=1, changes=terms)
    changed = office.confirm(before).action
    with lone_ridge.scope():
        made = cards.card(changed, lone_ridge.dana, predecessor=before)
    names = [fact.name for fact in made.changes]
    assert ("total" in names, "sha256" in names) == (True, False)
    assert changed.preview["document"]["sha256"] in html_of(made)
