"""What the database itself holds of passkeys: frozen but for counter and use, removed for good, never deleted."""

from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from ledger.models import Passkey
from tests.cast import Cast


@pytest.fixture
def key(lone_ridge: Cast) -> Passkey:
    with lone_ridge.scope():
        made: Passkey = Passkey.objects.create(
            member=lone_ridge.dana,
            name="Key",
            site="localhost",
            credential_id="AAAA",
            public_key="BBBB",
            sign_count=7,
        )
        return made


def refused(cast: Cast, key: Passkey, **changes: Any) -> bool:
    """Whether the database refuses the change; one that it takes is rolled back."""
    with cast.scope():
        try:
            with transaction.atomic():
                Passkey.objects.filter(pk=key.pk).update(**changes)
                transaction.set_rollback(True)
        except DatabaseError:
            return True
        return False


def test_only_counter_use_and_removal_change_and_the_counter_grows(lone_ridge: Cast, key: Passkey) -> None:
    for changes in (
        {"name": "Other"},
        {"site": "elsewhere.example"},
        {"credential_id": "CCCC"},
        {"public_key": "CCCC"},
        {"member": lone_ridge.sam},
        {"sign_count": 6},
    ):
        assert refused(lone_ridge, key, **changes), changes
    for changes in ({"sign_count": 8}, {"sign_count": 7, "last_used_at": timezone.now()}):
        assert not refused(lone_ridge, key, **changes), changes


def test_a_removed_key_stays_and_never_comes_back(lone_ridge: Cast, key: Passkey) -> None:
    with lone_ridge.scope():
        Passkey.objects.filter(pk=key.pk).update(removed_at=timezone.now())
    for changes in ({"removed_at": None}, {"sign_count": 9}):
        assert refused(lone_ridge, key, **changes), changes
    with lone_ridge.scope(), pytest.raises(DatabaseError), transaction.atomic():
        key.delete()
