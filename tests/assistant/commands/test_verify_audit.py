"""`manage.py verify_audit`: every company's chain, and exit 1 with the first bad link of a broken one (R12)."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from ledger import audit
from ledger.models import AuditEvent, AuditLink, ChainHead
from tests.cast import Cast


def verify(*options: str) -> str:
    out = io.StringIO()
    call_command("verify_audit", *options, stdout=out)
    return out.getvalue()


def damage(cast: Cast) -> int:
    """Change one event as only the table's owner can; gives the number of its link."""
    with cast.scope(), connection.cursor() as cursor:
        event = AuditEvent.objects.get(kind="company.created")
        cursor.execute("ALTER TABLE ledger_auditevent DISABLE TRIGGER USER")
        cursor.execute("UPDATE ledger_auditevent SET body = body || ' ' WHERE id = %s", [event.pk])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE ledger_auditevent ENABLE TRIGGER USER")
        seq: int = AuditLink.objects.get(event=event).seq
        return seq


def test_a_whole_chain_is_told_with_its_length_and_its_head(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        head = ChainHead.objects.get()
    line = verify("--company", lone_ridge.company.slug)
    assert line == f"{lone_ridge.company.slug} {lone_ridge.tenant_id} whole, {head.seq} links, head {head.hash}\n"


def test_a_broken_chain_ends_with_its_first_bad_link(lone_ridge: Cast) -> None:
    seq = damage(lone_ridge)
    with pytest.raises(CommandError, match=f"Broken: {lone_ridge.company.slug}") as raised:
        verify("--company", lone_ridge.company.slug)
    assert raised.value.returncode == 1
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("verify_audit", "--company", lone_ridge.company.slug, stdout=out)
    assert out.getvalue() == f"{lone_ridge.company.slug} {lone_ridge.tenant_id} BROKEN at link {seq} (hash)\n"


def test_every_company_is_read_and_one_broken_chain_hides_no_other(lone_ridge: Cast, strangers: Cast) -> None:
    damage(lone_ridge)
    out = io.StringIO()
    with pytest.raises(CommandError, match=lone_ridge.company.slug) as raised:
        call_command("verify_audit", stdout=out)
    assert strangers.company.slug not in str(raised.value)
    lines = out.getvalue().splitlines()
    assert [line.split()[2] for line in lines if line.startswith(lone_ridge.company.slug)] == ["BROKEN"]
    assert [line.split()[2] for line in lines if line.startswith(strangers.company.slug)] == ["whole,"]


def test_a_company_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(CommandError, match="There is no company called no-such"):
        verify("--company", "no-such")


def test_one_company_alone_is_read_where_one_is_named(lone_ridge: Cast, strangers: Cast) -> None:
    damage(strangers)
    assert verify("--company", lone_ridge.company.slug).count("\n") == 1
    with lone_ridge.scope():
        assert audit.verify().whole
