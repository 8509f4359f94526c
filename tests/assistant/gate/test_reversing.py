"""Taking back what was done: a new action where the reverse needs a card, at once where it needs none."""

import pytest

from assistant.agent import history
from assistant.gate import reversing
from assistant.models import Message, PendingAction
from assistant.tools.registry import TOOLS
from ledger.errors import DomainError, NotAllowed
from ledger.models import AuditEvent, Client, Membership
from tests.cast import Cast, john_smith
from tests.desks import Desk, desk_of


def done(cast: Cast, tool: str, **arguments: str) -> tuple[Desk, PendingAction]:
    with cast.scope():
        ref = john_smith(cast).ref
    desk = desk_of(cast)
    action = desk.run(desk.propose(tool, client_ref=ref, **arguments))
    assert action.status == "executed"
    return desk, action


def reverse(cast: Cast, action: PendingAction, by: Membership | None = None) -> PendingAction:
    with cast.scope():
        return reversing.reverse(action, by=by or cast.owner, language="en", door="web")


def names(cast: Cast) -> list[str]:
    with cast.scope():
        return list(Client.objects.filter(deleted_at=None).values_list("name", flat=True))


def test_a_reverse_that_needs_a_card_is_a_new_action(lone_ridge: Cast) -> None:
    desk, first = done(lone_ridge, "rename_client", name="Jon Smith")
    asked = reverse(lone_ridge, first)
    assert (asked.status, asked.compensates_id, asked.summary) == (
        "pending",
        first.pk,
        "Rename Jon Smith to John Smith.",
    )
    assert reverse(lone_ridge, first).pk == asked.pk
    assert names(lone_ridge) == ["Jon Smith"]
    asked = desk.run(asked)
    with lone_ridge.scope():
        first.refresh_from_db()
    assert (asked.status, first.compensated_by_id) == ("executed", asked.pk)
    assert names(lone_ridge) == ["John Smith"]
    with pytest.raises(DomainError, match="taken back already"):
        reverse(lone_ridge, first)


def test_a_reverse_that_needs_no_card_runs_at_once_and_once_and_is_told(lone_ridge: Cast) -> None:
    _desk, action = done(lone_ridge, "delete_client", subject_hint="John Smith")
    assert names(lone_ridge) == []
    assert reverse(lone_ridge, action).pk == action.pk
    assert names(lone_ridge) == ["John Smith"]
    with pytest.raises(DomainError, match="taken back already"):
        reverse(lone_ridge, action)
    with lone_ridge.scope():
        assert AuditEvent.objects.filter(kind="action.reversed").count() == 1
        record = Message.objects.get(action=action, code="reversed")
        assert [one.pk for one in reversing.records([action])] == [record.pk]
        assert record.params == {"by": "Dana"}


def test_nothing_but_what_was_done_is_taken_back(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        ref = john_smith(lone_ridge).ref
    waiting = desk_of(lone_ridge).propose("delete_client", client_ref=ref, subject_hint="John Smith")
    with pytest.raises(DomainError, match="cannot be taken back"):
        reverse(lone_ridge, waiting)
    with lone_ridge.scope():
        assert not Message.objects.filter(code="reversed").exists()


def test_who_may_not_restore_may_not_take_back_a_deletion(lone_ridge: Cast) -> None:
    _desk, action = done(lone_ridge, "delete_client", subject_hint="John Smith")
    with lone_ridge.scope():
        Membership.objects.filter(pk=lone_ridge.alex.pk).update(role="crew")
        alex = Membership.objects.get(pk=lone_ridge.alex.pk)
    with pytest.raises(NotAllowed):
        reverse(lone_ridge, action, by=alex)
    assert names(lone_ridge) == []


def test_the_model_reads_that_it_does_not_stand_any_more() -> None:
    assert "took it back" in history.NOTES[reversing.REVERSED]


def test_every_tool_whose_reverse_exists_knows_how_to_ask_it() -> None:
    offered = {made.name for made in TOOLS.values() if made.compensation in TOOLS}
    assert {made.name for made in TOOLS.values() if made.reverse} == offered
    assert "delete_quote" in offered
