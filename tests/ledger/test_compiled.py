"""Queries whose SQL is made once: they answer as the queryset would, for every company and with every value."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assistant.models import Conversation, Turn
from ledger.compiled import Compiled, a_number, an_id, some_ids, some_words
from ledger.tenancy import TenantRequired
from tests.cast import lone_ridge, strangers


def conversation(cast, title: str = "") -> Conversation:
    return Conversation.objects.create(starter=cast.owner, title=title)


FIND = Compiled(lambda: Conversation.objects.select_related("starter").filter(pk=an_id()))
TITLES = Compiled(
    lambda: Conversation.objects.filter(pk=some_ids("of")).order_by("title").values_list("title", flat=True)
)


def test_it_answers_as_the_queryset_does():
    with lone_ridge().scope() as cast:
        made = conversation(cast, "Roofs")
        found = FIND.one(pk=made.pk)
        assert (found, found.title, found.starter.name) == (made, "Roofs", cast.dana.name)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert FIND.one(pk=made.pk).starter == cast.dana
        assert len(queries) == 1


def test_the_company_is_the_one_in_scope_at_each_run():
    ours, theirs = lone_ridge(), strangers()
    with ours.scope():
        made = conversation(ours)
        assert FIND.first(pk=made.pk) == made
    with theirs.scope():
        assert FIND.first(pk=made.pk) is None
    with pytest.raises(TenantRequired):
        FIND.first(pk=made.pk)


def test_lists_numbers_and_words_are_values_too():
    newer = Compiled(
        lambda: (
            Turn.objects.filter(conversation=an_id("of"), ordinal__gt=a_number("after"), status=some_words("status"))
            .order_by("ordinal")
            .values_list("ordinal", flat=True)
        )
    )
    with lone_ridge().scope() as cast:
        first, second = conversation(cast, "A"), conversation(cast, "B")
        assert TITLES.all(of=[second.pk, first.pk]) == ["A", "B"]
        assert TITLES.all(of=[]) == []
        for ordinal, status in enumerate(("done", "failed", "done"), start=1):
            Turn.objects.create(conversation=first, member=cast.dana, ordinal=ordinal, status=status)
        assert newer.all(of=first.pk, after=1, status=["done", "stopped"]) == [3]


def test_a_missing_row_is_said_and_a_wrong_slot_is_refused():
    with lone_ridge().scope() as cast:
        with pytest.raises(Conversation.DoesNotExist):
            FIND.one(pk=cast.company.pk)
        with pytest.raises(TypeError, match=r"has the slots \['pk'\] and was given \['id'\]"):
            FIND.all(id=cast.company.pk)


def test_it_can_lock():
    locked = Compiled(lambda: Conversation.objects.select_for_update(no_key=True).filter(pk=an_id()))
    with lone_ridge().scope() as cast:
        made = conversation(cast)
        with CaptureQueriesContext(connection) as queries:
            assert locked.one(pk=made.pk) == made
        assert queries[0]["sql"].endswith("FOR NO KEY UPDATE")
