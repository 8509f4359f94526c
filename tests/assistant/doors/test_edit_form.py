"""The edit form of a card: what stands in its fields, and what is read from them."""

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils import translation

from assistant.doors import edit_form
from assistant.models import PendingAction
from assistant.tools.registry import TOOLS
from assistant.tools.vocabulary import LABELS
from ledger.dates import today
from tests.bills import issued
from tests.cast import Cast
from tests.desks import desk_of
from tests.offers import cedar_bend

JOHN = "john.smith@example.com"


def test_every_field_that_may_be_edited_has_a_word_of_its_own() -> None:
    edited = {edit_form.SHOWN_AS.get(name, name) for made in TOOLS.values() for name in made.editable}
    of_the_tests = {"text"}
    assert edited - set(LABELS) <= of_the_tests


def send_quote(lone_ridge: Cast, **arguments: str) -> PendingAction:
    with lone_ridge.scope():
        quote = cedar_bend(lone_ridge)
    return desk_of(lone_ridge).propose("send_quote", quote_ref=quote.ref, channel="email", **arguments)


def test_the_address_that_the_tool_filled_in_stands_in_the_form(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        to, cc, message = edit_form.fields(send_quote(lone_ridge), TOOLS["send_quote"])
    assert (to.name, to.label, to.value, to.kind, to.wide, to.changed) == ("to", "To", JOHN, "address", True, False)
    assert (cc.name, cc.value, cc.kind) == ("cc", "", "lines")
    assert (message.name, message.value, message.kind, message.has_standard) == ("message", "", "long", True)


def test_words_that_were_given_have_no_standard_beside_them(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        _to, _cc, message = edit_form.fields(send_quote(lone_ridge, message="As agreed."), TOOLS["send_quote"])
    assert (message.value, message.has_standard) == ("As agreed.", False)


@pytest.mark.parametrize(
    ("given", "posted", "read"),
    [
        ({}, JOHN, None),
        ({}, "mary.smith@example.com", "mary.smith@example.com"),
        ({}, "", None),
        ({"to": JOHN}, JOHN, JOHN),
        ({"to": "mary.smith@example.com"}, JOHN, JOHN),
    ],
)
def test_only_an_address_that_was_typed_becomes_part_of_the_request(
    lone_ridge: Cast, given: dict[str, str], posted: str, read: str | None
) -> None:
    with lone_ridge.scope():
        action = send_quote(lone_ridge, **given)
        form = QueryDict(mutable=True)
        form.update({"to": posted, "cc": "a@example.com\r\nb@example.com", "message": ""})
        assert edit_form.read(action, TOOLS["send_quote"], form) == {
            "to": read,
            "cc": ["a@example.com", "b@example.com"],
            "message": None,
        }


def test_amounts_days_and_choices_are_shown_as_the_person_writes_them(aurora: Cast) -> None:
    """A browser shows the value of a number or date field in its person's way; the codes of a choice have words."""
    with aurora.scope():
        invoice = issued(aurora, "1500.00")
    action = desk_of(aurora).propose(
        "record_payment",
        client_ref=invoice.client.ref,
        amount="1500.00",
        method="check",
        received_on=today(aurora.company.timezone).isoformat(),
    )
    with aurora.scope(), translation.override("pt-br"):
        found = {field.name: field for field in edit_form.fields(action, TOOLS["record_payment"])}
        page = render_to_string("cards/field.html", {"field": found["amount"]})
        choice = render_to_string("cards/field.html", {"field": found["method"]})
    assert (found["amount"].kind, found["received_on"].kind) == ("amount", "date")
    assert 'type="number"' in page and 'value="1500.00"' in page
    assert '<option value="check" selected>Cheque</option>' in choice
