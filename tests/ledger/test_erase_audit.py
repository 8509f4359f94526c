"""`manage.py erase_audit`: the end of the time for which the record is kept (docs/decisions/0013)."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command

from ledger import audit
from ledger.actions import erasing
from ledger.models import AuditEvent
from tests.cast import Cast, john_smith


def erase(cast: Cast, name: str, before: datetime, slug: str = "") -> str:
    out = io.StringIO()
    options = {"before": before.date(), "by": cast[name].user.email, "reason": "Seven years are over."}
    call_command("erase_audit", slug or cast.company.slug, stdout=out, **options)
    return out.getvalue()


def test_an_owner_has_what_is_old_erased_and_the_chain_stays_whole(
    lone_ridge: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "AT_ONCE", 2)
    with lone_ridge.scope():
        john_smith(lone_ridge)
    with lone_ridge.scope():
        count = AuditEvent.objects.count()
    today, tomorrow = datetime.now(UTC), datetime.now(UTC) + timedelta(days=1)
    assert erase(lone_ridge, "dana", today) == f"0 events from before {today.date()} were erased\n"
    assert erase(lone_ridge, "dana", tomorrow) == f"{count} events from before {tomorrow.date()} were erased\n"
    with lone_ridge.scope():
        assert not AuditEvent.objects.filter(body__contains="John Smith").exists()
        assert {event.actor for event in AuditEvent.objects.filter(kind="audit.erased")} == {lone_ridge.dana}
        assert audit.verify().whole


def test_nobody_else_and_nowhere_else(lone_ridge: Cast, strangers: Cast) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    with pytest.raises(CommandError, match="You may not do this"):
        erase(lone_ridge, "sam", tomorrow)
    with pytest.raises(CommandError, match="There is no"):
        erase(lone_ridge, "dana", tomorrow, slug=strangers.company.slug)
    with lone_ridge.scope():
        assert not AuditEvent.objects.filter(salt="").exists()
