"""Rows that store themselves promise what Django's own save promises."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from assistant.models import Conversation
from tests.cast import lone_ridge


def test_after_a_refused_insert_nothing_is_said_to_be_committed() -> None:
    """Whoever catches the error without a savepoint has lost the transaction, and its hooks with it."""
    dana, ran = lone_ridge(), list[str]()
    with dana.scope():
        first = Conversation.objects.create(starter=dana.owner)
    with dana.scope():
        Conversation.objects.create(starter=dana.owner, title="lost")
        transaction.on_commit(lambda: ran.append("committed"))
        with pytest.raises(IntegrityError):
            Conversation.objects.create(id=first.pk, starter=dana.owner)
    with dana.scope():
        assert not Conversation.objects.filter(title="lost").exists()
    assert ran == []


def test_an_update_of_no_row_is_an_error() -> None:
    dana = lone_ridge()
    with dana.scope():
        made = Conversation.objects.create(starter=dana.owner)
        Conversation.objects.filter(pk=made.pk).delete()
        made.title = "gone"
        with pytest.raises(DatabaseError), transaction.atomic():
            made.save(update_fields=["title"])
