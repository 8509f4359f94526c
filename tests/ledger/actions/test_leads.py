"""Leads: added with a word about duplicates, moved on the board by its table, won only by conversion or a quote."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection

from ledger.actions.conversions import convert_lead_to_client
from ledger.actions.leads import create_lead, delete_lead, move_lead_stage, update_lead, win_lead
from ledger.actions.notes import add_note, notes_of
from ledger.actions.quotes import create_quote
from ledger.actions.sites import add_site
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import OPEN_STAGES, AuditEvent, Client, Lead, Quote, Site, Stage, StageChange
from ledger.models.leads import TRANSITIONS
from tests.cast import Cast, joanne_smith, john_smith
from tests.offers import lines_of, send


def refused(code: str) -> Any:
    return pytest.raises(DomainError, check=lambda error: error.code == code)


def fresh(lead: Lead) -> Lead:
    return Lead.objects.get(pk=lead.pk)


# Added and changed


def test_a_lead_starts_as_new_with_its_first_step_and_note(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge, notes="Wants a call\nafter six", value_cents=900_000)
        assert (lead.ref, lead.stage, lead.version, lead.value_cents) == ("L-0001", "new", 1, 900_000)
        assert lead.address == "88 Barton Hills Dr, Austin, TX 78704"
        assert list(lead.stage_changes.values_list("from_stage", "to_stage", "by")) == [
            ("", "new", lone_ridge.owner.pk)
        ]
        assert notes_of(lead).get().body == "Wants a call\nafter six"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"phone": "512-555-0148"}, ["phone"]),
        ({"address": {"line1": "88 BARTON HILLS DR.", "city": "austin"}}, ["address"]),
        ({"email": "JOANNE@example.com"}, ["email"]),
    ],
)
def test_a_probable_duplicate_of_a_lead_is_asked_about(
    lone_ridge: Cast, other: dict[str, Any], same: list[str]
) -> None:
    with lone_ridge.scope():
        joanne_smith(lone_ridge, email="joanne@example.com")
        with pytest.raises(DomainError) as asked:
            create_lead(by=lone_ridge.owner, name="Somebody", **other)
        assert asked.value.code == "PROBABLE_DUPLICATE"
        assert [(found["ref"], found["same"]) for found in asked.value.data["candidates"]] == [("L-0001", same)]
        assert Lead.objects.count() == 1
        create_lead(by=lone_ridge.owner, name="Somebody", on_duplicate="create", **other)
        assert Lead.objects.count() == 2


def test_a_client_with_the_same_phone_is_named_too(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        john_smith(lone_ridge)
        with pytest.raises(DomainError) as asked:
            create_lead(by=lone_ridge.owner, name="Johnny", phone="+1 512 555 0142")
        assert [found["kind"] for found in asked.value.data["candidates"]] == ["client"]


def test_the_same_name_alone_is_no_duplicate_of_a_lead(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        joanne_smith(lone_ridge)
        assert create_lead(by=lone_ridge.owner, name="Joanne Smith").ref == "L-0002"


def test_a_change_writes_what_differs_under_its_version(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge)
        changed = update_lead(
            lead, by=lone_ridge.alex, expected_version=1, changes={"service": "Gutters", "owner": lone_ridge.alex}
        )
        assert (changed.version, changed.owner, changed.service) == (2, lone_ridge.alex, "Gutters")
        assert "gutters" in changed.search
        with refused("STALE_VERSION"):
            update_lead(lead, by=lone_ridge.alex, expected_version=1, changes={"service": "Roof"})
        with refused("UNKNOWN_FIELD"):
            update_lead(lead, by=lone_ridge.alex, expected_version=2, changes={"stage": "won"})
        with refused("AMOUNT_OUT_OF_RANGE"):
            update_lead(lead, by=lone_ridge.alex, expected_version=2, changes={"value_cents": -1})
        assert fresh(lead).version == 2


# The board


ALL = [stage.value for stage in Stage]


@pytest.mark.parametrize("before", ALL)
def test_every_step_of_the_board_is_allowed_or_refused_by_its_table(lone_ridge: Cast, before: str) -> None:
    """Each stage to each: by the action, and past it by SQL."""
    for after in ALL:
        with lone_ridge.scope():
            lead = _on(lone_ridge, before)
            allowed = (before, after) in TRANSITIONS and after != Stage.WON
            if after == before or allowed:
                moved = move_lead_stage(lead, by=lone_ridge.owner, stage=after, lost_reason="price")
                assert moved.stage == after
            else:
                with refused("WRONG_STATUS"):
                    move_lead_stage(lead, by=lone_ridge.owner, stage=after, lost_reason="price")
                assert fresh(lead).stage == before
        if before != after and (before, after) not in TRANSITIONS:
            with pytest.raises(DatabaseError, match="Invalid transition"), lone_ridge.scope():
                reason = "price" if after == Stage.LOST else ""
                Lead.objects.filter(pk=_on(lone_ridge, before).pk).update(stage=after, lost_reason=reason)


def _on(cast: Cast, stage: str) -> Lead:
    """A lead that stands there, by the way that leads there."""
    lead = joanne_smith(cast)
    if stage == Stage.WON:
        return win_lead(lead, by=None)
    return move_lead_stage(lead, by=cast.owner, stage=stage, lost_reason="timing")


def test_a_lost_lead_needs_a_reason_and_drops_it_when_it_is_opened_again(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge)
        with refused("LOST_REASON_NEEDED"):
            move_lead_stage(lead, by=lone_ridge.owner, stage="lost")
        with refused("LOST_REASON_NEEDED"):
            move_lead_stage(lead, by=lone_ridge.owner, stage="lost", lost_reason="because")
        lost = move_lead_stage(lead, by=lone_ridge.owner, stage="lost", lost_reason="price", note="18 % dearer")
        assert (lost.lost_reason, lost.stage_changes.get(to_stage="lost").note) == ("price", "18 % dearer")
        opened = move_lead_stage(lead, by=lone_ridge.owner, stage="contacted")
        assert opened.lost_reason == ""
    with pytest.raises(IntegrityError, match="lead_lost_has_reason"), lone_ridge.scope():
        Lead.objects.filter(pk=lead.pk).update(stage="lost")


def test_the_first_answer_is_kept_and_each_step_is_logged(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge)
        first = move_lead_stage(lead, by=lone_ridge.owner, stage="contacted").first_response_at
        assert first is not None
        move_lead_stage(lead, by=lone_ridge.owner, stage="estimating")
        move_lead_stage(lead, by=lone_ridge.owner, stage="new")
        again = move_lead_stage(lead, by=lone_ridge.owner, stage="contacted")
        assert again.first_response_at == first
        steps = lead.stage_changes.order_by("at").values_list("to_stage", flat=True)
        assert list(steps) == ["new", "contacted", "estimating", "new", "contacted"]
        assert AuditEvent.objects.filter(kind="lead.moved").count() == 4


def test_the_log_of_the_board_is_never_changed(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        joanne_smith(lone_ridge)
    for change in ("UPDATE ledger_stagechange SET to_stage = 'won'", "DELETE FROM ledger_stagechange"):
        with pytest.raises(DatabaseError, match="Cannot"), lone_ridge.scope(), connection.cursor() as cursor:
            cursor.execute(change)


def test_standing_still_is_no_step(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge)
        assert move_lead_stage(lead, by=lone_ridge.owner, stage="new").version == 1
        assert StageChange.objects.count() == 1


# Conversion


def test_an_open_lead_becomes_a_client_and_all_that_is_its_own_goes_along(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge, email="joanne@example.com", notes="Dog in the yard")
        quote = create_quote(lead, by=lone_ridge.owner, title="Roof", lines=lines_of("100.00"))
        client = convert_lead_to_client(lead, by=lone_ridge.alex)
        held = fresh(lead)
        assert (held.stage, held.converted_client, held.first_response_at) == ("won", client, None)
        contact = client.contacts.get()
        assert (contact.email, contact.phone) == ("joanne@example.com", "+15125550148")
        assert client.sites.get().address == "88 Barton Hills Dr, Austin, TX 78704"
        moved = Quote.objects.get(pk=quote.pk)
        assert (moved.client, moved.lead, moved.version) == (client, None, quote.version + 1)
        assert notes_of(client).get().body == "Dog in the yard"
        assert not notes_of(lead).exists()
        event = AuditEvent.objects.get(kind="lead.converted")
        assert '"quotes":["Q-0001"]' in event.body


def test_a_leads_own_site_goes_along_and_no_second_one_is_made(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge)
        site = add_site(lead, by=lone_ridge.owner, address={"line1": "5 Other St", "city": "Hutto"})
        client = convert_lead_to_client(lead, by=lone_ridge.owner)
        assert list(client.sites.all()) == [site]
        assert "5 other st" in Client.objects.get().search


@pytest.mark.parametrize("stored", ["Amy D'Angelo", "AMY D’ANGELO", "amy  dangelo"])
def test_h29_the_conversion_finds_the_client_whose_name_is_written_otherwise(lone_ridge: Cast, stored: str) -> None:
    with lone_ridge.scope():
        client = create_client_named(lone_ridge, stored)
        lead = create_lead(by=lone_ridge.owner, name="Amy D’Angelo")
        with pytest.raises(DomainError) as asked:
            convert_lead_to_client(lead, by=lone_ridge.owner)
        assert asked.value.code == "PROBABLE_DUPLICATE"
        assert [found["ref"] for found in asked.value.data["candidates"]] == [client.ref]
        assert (fresh(lead).stage, Client.objects.count()) == ("new", 1)
        assert convert_lead_to_client(lead, by=lone_ridge.owner, merge_into=client) == client
        assert Client.objects.count() == 1
        assert fresh(lead).converted_client == client


def create_client_named(cast: Cast, name: str) -> Client:
    return john_smith(cast, name=name, email="", phone="", address={})


def test_a_person_may_say_that_it_is_somebody_else(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        create_client_named(lone_ridge, "Amy D'Angelo")
        lead = create_lead(by=lone_ridge.owner, name="Amy D’Angelo")
        assert convert_lead_to_client(lead, by=lone_ridge.owner, as_new=True).name == "Amy D’Angelo"
        assert Client.objects.count() == 2


def test_a_merged_lead_adds_what_the_client_lacks_and_replaces_nothing(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        lead = joanne_smith(lone_ridge, name="John Smith", email="JOHN.SMITH@example.com")
        convert_lead_to_client(lead, by=lone_ridge.owner, merge_into=client)
        contacts = list(client.contacts.order_by("created_at").values_list("email", "phone", "main", "role"))
        assert contacts == [
            ("john.smith@example.com", "+15125550142", True, "to"),
            ("", "+15125550148", False, "none"),
        ]
        assert [site.address for site in client.sites.all()] == ["88 Barton Hills Dr, Austin, TX 78704"]
        assert Client.objects.get().name == "John Smith"


def test_a_lead_won_by_its_quote_may_still_become_a_client(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = win_lead(joanne_smith(lone_ridge), by=None)
        client = convert_lead_to_client(lead, by=lone_ridge.owner)
        assert fresh(lead).converted_client == client
        assert lead.stage_changes.filter(to_stage="won").count() == 1


@pytest.mark.parametrize("stage", ["lost", "junk"])
def test_a_closed_lead_is_not_converted(lone_ridge: Cast, stage: str) -> None:
    with lone_ridge.scope():
        lead = _on(lone_ridge, stage)
        with refused("WRONG_STATUS"):
            convert_lead_to_client(lead, by=lone_ridge.owner)
        assert not Client.objects.exists()


def test_a_lead_is_converted_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge)
        client = convert_lead_to_client(lead, by=lone_ridge.owner)
        for again in (None, client):
            with refused("WRONG_STATUS"):
                convert_lead_to_client(lead, by=lone_ridge.owner, merge_into=again)
        assert Client.objects.count() == 1
    with pytest.raises(IntegrityError, match="lead_converted_is_won"), lone_ridge.scope():
        Lead.objects.filter(pk=_on(lone_ridge, "new").pk).update(converted_client=client)


# The trash


@pytest.mark.parametrize("stage", [*OPEN_STAGES, "lost", "junk"])
def test_a_lead_that_is_not_won_goes_to_the_trash(lone_ridge: Cast, stage: str) -> None:
    with lone_ridge.scope():
        assert delete_lead(_on(lone_ridge, stage), by=lone_ridge.owner).deleted_at is not None


def test_a_won_lead_stays(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = _on(lone_ridge, "won")
        with refused("WRONG_STATUS"):
            delete_lead(lead, by=lone_ridge.owner)
    with pytest.raises(IntegrityError, match="lead_won_is_kept"), lone_ridge.scope():
        Lead.objects.filter(pk=lead.pk).update(deleted_at=lead.created_at)


def test_a_lead_with_a_quote_out_stays(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge, email="joanne@example.com")
        quote = create_quote(lead, by=lone_ridge.owner, title="Roof", lines=lines_of("100.00"))
        send(lone_ridge, quote)
        with pytest.raises(DomainError) as refusal:
            delete_lead(lead, by=lone_ridge.owner)
        assert (refusal.value.code, refusal.value.data["quotes"]) == ("HAS_ISSUED_DOCUMENTS", ["Q-0001"])


# Who


def test_a_strangers_lead_is_not_there(lone_ridge: Cast, strangers: Cast) -> None:
    with strangers.scope():
        theirs = joanne_smith(strangers)
    with lone_ridge.scope():
        for attempt in (
            lambda: update_lead(theirs, by=lone_ridge.owner, expected_version=None, changes={"name": "Taken"}),
            lambda: move_lead_stage(theirs, by=lone_ridge.owner, stage="junk"),
            lambda: convert_lead_to_client(theirs, by=lone_ridge.owner),
            lambda: delete_lead(theirs, by=lone_ridge.owner),
            lambda: add_site(theirs, by=lone_ridge.owner, address={"line1": "1 Main St"}),
        ):
            with pytest.raises(NotFound):
                attempt()
        assert not Client.objects.exists()
    with strangers.scope():
        assert (fresh(theirs).version, Site.objects.count()) == (1, 0)


def test_sales_moves_leads_and_does_not_delete_them(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge)
        move_lead_stage(lead, by=lone_ridge.alex, stage="contacted")
        with pytest.raises(NotAllowed):
            delete_lead(lead, by=lone_ridge.alex)


def test_a_note_on_a_lead_in_the_trash_is_refused(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lead = delete_lead(joanne_smith(lone_ridge), by=lone_ridge.owner)
        with refused("IN_TRASH"):
            add_note(lead, by=lone_ridge.owner, body="Late")
