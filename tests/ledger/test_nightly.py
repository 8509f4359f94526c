"""Every company's chain is read each night, whatever happened to the worker, and a broken one is never silent (R12)."""

import uuid
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.utils import timezone

from assistant.models import Alert
from ledger import audit, jobs, nightly, tasks
from ledger.models import AuditEvent, AuditLink, ChainCheck, ChainHead, Company, Due
from tests.cast import Cast


def promise(cast: Cast) -> Due:
    return Due.objects.get(kind=nightly.KIND, object_id=cast.tenant_id)


def run(cast: Cast) -> None:
    jobs.run(nightly.KIND, cast.tenant_id, cast.tenant_id)


def damage(cast: Cast) -> int:
    """Change one event as only the table's owner can; gives the number of its link."""
    with cast.scope(), connection.cursor() as cursor:
        event = AuditEvent.objects.get(kind="company.created")
        cursor.execute("ALTER TABLE ledger_auditevent DISABLE TRIGGER USER")
        cursor.execute("UPDATE ledger_auditevent SET body = body || ' ' WHERE id = %s", [event.pk])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE ledger_auditevent ENABLE TRIGGER USER")
        return int(AuditLink.objects.get(event=event).seq)


def test_the_sweep_promises_each_company_a_night_once(lone_ridge: Cast, strangers: Cast) -> None:
    tasks.sweep()
    first = promise(lone_ridge)
    assert timedelta(0) < first.run_at - timezone.now() < timedelta(hours=27)
    assert first.run_at.astimezone(UTC).hour == 3
    tasks.sweep()
    assert promise(lone_ridge).pk == first.pk and promise(strangers).tenant_id == strangers.tenant_id


def test_a_night_that_the_worker_slept_through_is_made_up_for(lone_ridge: Cast) -> None:
    nightly.promise_all()
    Due.objects.filter(pk=promise(lone_ridge).pk).update(run_at=timezone.now() - timedelta(days=3))
    jobs.dispatch_due(limit=10_000)
    assert promise(lone_ridge).lease is not None, "it was woken"
    run(lone_ridge)
    with lone_ridge.scope():
        check = ChainCheck.objects.get()
        assert (check.bad_seq, check.problem, check.length) == (None, "", ChainHead.objects.get().seq - 1)
        assert check.checked_at is not None and timezone.now() - check.checked_at < timedelta(minutes=1)
        told = AuditEvent.objects.get(kind="audit.verified")
        assert (told.door, told.told) == ("system", {"length": check.length, "bad_seq": None, "problem": ""})
        assert not Alert.objects.exists()
    local = promise(lone_ridge).run_at.astimezone(ZoneInfo("America/Chicago"))
    assert local.hour == 3 and local > datetime.now(UTC) + timedelta(minutes=59)


def test_a_long_chain_is_read_in_pieces_that_go_on_where_the_last_ended(
    lone_ridge: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nightly, "PIECE", 2)
    with lone_ridge.scope():
        for _ in range(7):
            audit.record("test.step", by=None)
    nightly.promise_all()
    monkeypatch.setattr(nightly, "monotonic", iter(range(1000)).__next__)
    monkeypatch.setattr(nightly, "SECONDS", 1.5)
    run(lone_ridge)
    with lone_ridge.scope():
        check = ChainCheck.objects.get()
        assert (check.seq, check.checked_at) == (2, None), "one piece, and nothing is concluded"
        assert check.hash == AuditLink.objects.get(seq=2).hash
        top = ChainHead.objects.get().seq
    assert promise(lone_ridge).run_at <= timezone.now(), "the rest is promised at once"
    for _ in range(top):
        run(lone_ridge)
        with lone_ridge.scope():
            if ChainCheck.objects.get().checked_at:
                break
    with lone_ridge.scope():
        check = ChainCheck.objects.get()
        assert (check.length, check.bad_seq, check.seq) == (top, None, 0)


def test_a_broken_chain_raises_one_alert_and_is_not_mended(lone_ridge: Cast, strangers: Cast) -> None:
    seq = damage(lone_ridge)
    for cast in (lone_ridge, strangers):
        run(cast)
    run(lone_ridge)
    with lone_ridge.scope():
        check = ChainCheck.objects.get()
        assert (check.bad_seq, check.problem) == (seq, "hash")
        assert [(alert.kind, alert.action_id) for alert in Alert.objects.all()] == [("chain_broken", None)]
        assert audit.verify() == audit.ChainState(seq - 1, seq, "hash"), "still as it was found"
        Alert.objects.update(handled_at=timezone.now(), note="A test changed it.")
    run(lone_ridge)
    with lone_ridge.scope():
        assert Alert.objects.filter(handled_at=None).count() == 1, "as long as it is broken it is told again"
    with strangers.scope():
        assert not Alert.objects.exists()


def test_a_tail_that_is_cut_between_two_pieces_is_found(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        top = ChainHead.objects.get()
        ChainCheck.objects.create(seq=top.seq + 5, hash="a" * 64)
    run(lone_ridge)
    with lone_ridge.scope():
        assert ChainCheck.objects.get().problem == "head"


@pytest.mark.parametrize("hour", [0, 2, 3, 23])
def test_the_next_night_is_at_least_an_hour_away_and_at_most_a_day(hour: int) -> None:
    company = Company(pk=uuid.UUID(int=7), timezone="America/Sao_Paulo")
    now = datetime(2026, 11, 30, hour, 15, tzinfo=ZoneInfo("America/Sao_Paulo"))
    night = nightly.next_night(company, now)
    assert (night.hour, night.minute) == (3, 7)
    assert timedelta(hours=1) <= night - now <= timedelta(hours=25)
