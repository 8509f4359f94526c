"""The record: appended only, chained by the database, and every way of tampering found (R12, J8)."""

import hashlib
import json
import threading

import pytest
from django.db import DatabaseError, connection, transaction

from ledger import audit, tenancy
from ledger.models import AuditEvent, AuditLink, ChainHead, Via
from tests.cast import Cast, john_smith


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def write(cast: Cast, *kinds: str) -> None:
    """Each kind in a transaction of its own."""
    for kind in kinds:
        with cast.scope():
            audit.record(kind, by=cast.owner, note="as it was")


def length(cast: Cast) -> int:
    with cast.scope():
        return ChainHead.objects.get().seq


@pytest.fixture
def chained(lone_ridge: Cast) -> Cast:
    write(lone_ridge, "test.one", "test.two", "test.three")
    return lone_ridge


# Appending


def test_an_event_tells_who_when_from_where_and_of_what(lone_ridge: Cast) -> None:
    with lone_ridge.scope(), audit.entering(Via.MCP, "192.0.2.7"):
        client = john_smith(lone_ridge)
    with lone_ridge.scope():
        event = AuditEvent.objects.get(kind="client.created")
        told = json.loads(event.body)
        assert (event.actor_id, event.door, event.address) == (lone_ridge.owner.pk, "mcp", "192.0.2.7")
        assert (event.subject_kind, event.subject_id) == ("client", client.pk)
        assert told["detail"] == {"ref": "C-0001", "name": "John Smith"}
        assert told["actor_name"] == "Dana"
        assert event.at.isoformat() == told["at"]


def test_what_is_rolled_back_leaves_neither_event_nor_link(chained: Cast) -> None:
    before = length(chained)
    with pytest.raises(ZeroDivisionError), chained.scope():
        audit.record("test.never", by=chained.owner)
        raise ZeroDivisionError
    assert length(chained) == before
    with chained.scope():
        assert not AuditEvent.objects.filter(kind="test.never").exists()
        assert audit.verify() == audit.ChainState(before)


def test_the_links_follow_from_salt_body_and_columns_alone(chained: Cast) -> None:
    """The formula written out once more, byte by byte."""
    with chained.scope():
        running = audit.GENESIS
        for link in AuditLink.objects.order_by("seq").select_related("event"):
            event = link.event
            own = hashlib.sha256(f"{event.salt}\n{event.body}".encode()).hexdigest()
            actor = f'"{event.actor_id}"' if event.actor_id else "null"
            subject = f'"{event.subject_id}"' if event.subject_id else "null"
            columns = (
                f'["{event.tenant_id}", "{event.pk}", "{event.kind}", "{event.at:%Y-%m-%dT%H:%M:%S.%f}", {actor},'
                f' "{event.door}", "{event.subject_kind}", {subject}]'
            )
            running = hashlib.sha256(f"2\n{running}\n{columns}\n{own}".encode()).hexdigest()
            assert (link.version, link.body_hash, link.hash) == (2, own, running)
        assert ChainHead.objects.get().hash == running


def test_an_older_link_keeps_its_own_formula(chained: Cast) -> None:
    """A chain that began with links of version 1 goes on with those of version 2, and both are verified."""
    with chained.scope():
        statements = []
        running = audit.GENESIS
        for link in AuditLink.objects.order_by("seq").select_related("event"):
            running = hashlib.sha256(f"{running}\n{link.event.body}".encode()).hexdigest()
            statements.append(f"{LINK} hash = '{running}', version = 1, body_hash = '' WHERE seq = {link.seq}")
            statements.append(f"{EVENT} salt = '' WHERE id = '{link.event_id}'")
        _without_triggers([*statements, "UPDATE ledger_chainhead SET hash = %(top)s"], top=running)
    write(chained, "test.younger")
    with chained.scope():
        assert list(AuditLink.objects.order_by("-seq").values_list("version", flat=True)[:2]) == [2, 1]
        assert audit.verify() == audit.ChainState(length(chained))
        old = AuditEvent.objects.get(kind="test.two")
        seq = AuditLink.objects.get(event=old).seq
        _without_triggers([f"{EVENT} body = replace(body, 'as it was', 'as we like') WHERE id = %(id)s"], id=old.pk)
    with chained.scope():
        assert audit.verify() == audit.ChainState(seq - 1, seq, "hash")


@pytest.mark.parametrize("kind", ['test.quoted "word" and \\\\', "test.ação", "test.tab\t\x01\x7f/"])
def test_columns_with_strange_characters_are_written_alike_by_both(lone_ridge: Cast, kind: str) -> None:
    write(lone_ridge, kind)
    with lone_ridge.scope():
        assert audit.verify().whole


def test_events_of_one_transaction_are_linked_in_their_order(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        for number in range(5):
            audit.record("test.step", by=None, number=number)
    with lone_ridge.scope():
        links = AuditLink.objects.filter(event__kind="test.step").order_by("seq").select_related("event")
        assert [json.loads(link.event.body)["detail"]["number"] for link in links] == [0, 1, 2, 3, 4]


def test_each_company_has_a_chain_of_its_own(chained: Cast, strangers: Cast) -> None:
    before = length(strangers)
    write(chained, "test.four")
    assert length(strangers) == before
    for cast in (chained, strangers):
        with cast.scope():
            assert audit.verify().whole


def test_no_float_gets_into_the_record() -> None:
    with pytest.raises(TypeError, match="no floats"):
        audit.canonical({"amount": 1.5})


def test_the_same_value_is_the_same_text() -> None:
    assert audit.canonical({"b": [1, None, True], "a": "é"}) == audit.canonical({"a": "é", "b": (1, None, True)})
    assert audit.canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'


# The database refuses


@pytest.mark.parametrize("table", ["ledger_auditevent", "ledger_auditlink"])
@pytest.mark.parametrize("change", ["UPDATE {} SET id = id", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_nothing_written_is_changed_or_removed(chained: Cast, table: str, change: str) -> None:
    before = length(chained)
    with pytest.raises(DatabaseError, match="Cannot"), chained.scope():
        sql(change.format(table))
    with chained.scope():
        assert audit.verify() == audit.ChainState(before)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger_chainhead SET seq = seq - 1",
        "UPDATE ledger_chainhead SET hash = repeat('0', 64)",
        "DELETE FROM ledger_chainhead",
        "TRUNCATE ledger_chainhead",
    ],
)
def test_the_head_never_goes_back_or_away(chained: Cast, change: str) -> None:
    before = length(chained)
    with pytest.raises(DatabaseError, match="Cannot"), chained.scope():
        sql(change)
    assert length(chained) == before


# Tampering by somebody who may switch the triggers off: the table's owner


EVENT, LINK = "UPDATE ledger_auditevent SET ", "UPDATE ledger_auditlink SET "
TAMPERED: dict[str, tuple[str, list[str]]] = {
    "a changed body": ("hash", [EVENT + "body = replace(body, 'as it was', 'as we like') WHERE id = %(id)s"]),
    "a changed column": ("columns", [EVENT + "door = 'mcp' WHERE id = %(id)s"]),
    "another actor": ("columns", [EVENT + "actor_id = NULL WHERE id = %(id)s"]),
    "a changed hash": ("hash", [LINK + "hash = repeat('a', 64) WHERE event_id = %(id)s"]),
    "a removed link": ("missing", ["DELETE FROM ledger_auditlink WHERE event_id = %(id)s"]),
    "a removed event": (
        "missing",
        [
            "DELETE FROM ledger_auditlink WHERE event_id = %(id)s",
            "DELETE FROM ledger_auditevent WHERE id = %(id)s",
        ],
    ),
    "a changed hash of a body": ("hash", [LINK + "body_hash = repeat('a', 64) WHERE event_id = %(id)s"]),
    "another subject": ("columns", [EVENT + "subject_kind = 'client' WHERE id = %(id)s"]),
    "another address": ("columns", [EVENT + "address = '192.0.2.9' WHERE id = %(id)s"]),
    "another formula": ("hash", [LINK + "version = 1 WHERE event_id = %(id)s"]),
    "an erasure without a deed": (
        "erased",
        [
            EVENT
            + """body = '{"erased":"0190f3a2-0000-7000-8000-000000000000"}', salt = '', address = ''
                    WHERE id = %(id)s"""
        ],
    ),
    "two that changed places": (
        "hash",
        [
            LINK + "seq = seq + 1000 WHERE event_id = %(id)s",
            LINK + "seq = seq - 1 WHERE seq = %(seq)s + 1",
            LINK + "seq = %(seq)s + 1 WHERE event_id = %(id)s",
        ],
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_is_found_at_the_first_link_that_it_touched(chained: Cast, what: str) -> None:
    problem, statements = TAMPERED[what]
    with chained.scope():
        event = AuditEvent.objects.get(kind="test.two")
        seq = AuditLink.objects.get(event=event).seq
        _without_triggers(statements, id=event.pk, seq=seq)
    with chained.scope():
        assert audit.verify() == audit.ChainState(seq - 1, seq, problem)


def test_a_cut_tail_is_found_by_the_head(chained: Cast) -> None:
    top = length(chained)
    with chained.scope():
        last = AuditLink.objects.get(seq=top).event_id
        _without_triggers(TAMPERED["a removed event"][1], id=last)
    with chained.scope():
        assert audit.verify() == audit.ChainState(top - 1, top, "head")


def test_an_event_that_was_slipped_in_without_a_link_is_found(chained: Cast) -> None:
    top = length(chained)
    planted = (
        "INSERT INTO ledger_auditevent (id, tenant_id, kind, at, door, address, subject_kind, salt, body) "
        "VALUES (%(id)s, %(tenant)s, 'test.planted', now(), 'web', '', '', '', '{}')"
    )
    with chained.scope():
        _without_triggers([planted], id=tenancy.new_id(), tenant=chained.tenant_id)
    with chained.scope():
        assert audit.verify() == audit.ChainState(top, top + 1, "unlinked")


def test_an_untouched_chain_is_whole(chained: Cast) -> None:
    with chained.scope():
        state = audit.verify()
    assert state.whole
    assert state.length == length(chained)


# Concurrency


def test_eight_writers_make_one_chain_without_a_gap(lone_ridge: Cast) -> None:
    before = length(lone_ridge)
    failures: list[BaseException] = []
    start = threading.Barrier(8)

    def writer() -> None:
        try:
            start.wait(10)
            write(lone_ridge, *(["test.race"] * 10))
        except BaseException as failure:
            failures.append(failure)
        finally:
            connection.close()

    threads = [threading.Thread(target=writer) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    with lone_ridge.scope():
        assert audit.verify() == audit.ChainState(before + 80)
        numbers = list(AuditLink.objects.order_by("seq").values_list("seq", flat=True))
        assert numbers == list(range(1, before + 81))


def test_a_verification_is_not_disturbed_by_what_is_written_meanwhile(lone_ridge: Cast) -> None:
    before = length(lone_ridge)

    def writer() -> None:
        try:
            write(lone_ridge, *(["test.meanwhile"] * 150))
        finally:
            connection.close()

    thread = threading.Thread(target=writer)
    thread.start()
    found = []
    while thread.is_alive():
        with lone_ridge.scope():
            found.append(audit.verify())
    thread.join(60)
    assert [state for state in found if not state.whole] == []
    assert len({state.length for state in found}) > 2, "nothing was written meanwhile"
    assert length(lone_ridge) == before + 150


def test_a_link_that_was_added_past_the_head_is_found(chained: Cast) -> None:
    top = length(chained)
    planted = (
        "INSERT INTO ledger_auditevent (id, tenant_id, kind, at, door, address, subject_kind, salt, body) "
        "VALUES (%(id)s, %(tenant)s, 'test.planted', now(), 'web', '', '', '', '{}')"
    )
    link = (
        "INSERT INTO ledger_auditlink (id, tenant_id, seq, event_id, hash, version, body_hash) "
        "VALUES (%(id)s, %(tenant)s, %(seq)s, %(id)s, repeat('b', 64), 2, '')"
    )
    with chained.scope():
        _without_triggers([planted, link], id=tenancy.new_id(), tenant=chained.tenant_id, seq=top + 1)
    with chained.scope():
        assert audit.verify() == audit.ChainState(top, top + 1, "head")


def test_a_writer_waits_only_at_the_end_of_another(lone_ridge: Cast) -> None:
    """The head is locked by the last statement before the commit: while one transaction works, another commits."""
    done: list[int] = []

    def other() -> None:
        try:
            write(lone_ridge, "test.quick")
            done.append(1)
        finally:
            connection.close()

    with lone_ridge.scope():
        audit.record("test.slow", by=lone_ridge.owner)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(10)
        assert done == [1]
    with lone_ridge.scope():
        assert audit.verify().whole


def _without_triggers(statements: list[str], **values: object) -> None:
    """What a table's owner can do and the product never does; within the transaction of the caller."""
    tables = ("ledger_auditevent", "ledger_auditlink", "ledger_chainhead")
    with transaction.atomic(), connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for statement in statements:
            cursor.execute(statement, values)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
