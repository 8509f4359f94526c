"""The company scope: the manager, the scope's rules (settled 21), row-level security by raw SQL, composite keys.

All of it as the product's own role, which is neither superuser nor exempt from row-level security (R13).
"""

import contextlib
import threading
import uuid
from collections.abc import Iterator

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, IntegrityError, connection, transaction

from ledger import tenancy
from ledger.actions.clients import create_client
from ledger.models import Client, Company, Contact, Lead, SettingsVersion, Site
from ledger.tenancy import TenantConflict, TenantRequired
from tests.cast import Cast, john_smith


def sql(statement: str, *values: object) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else [(cursor.rowcount,)]


@pytest.fixture
def neighbours(lone_ridge: Cast, strangers: Cast) -> Iterator[tuple[Cast, Cast]]:
    """Two companies that each have a client C-0001 called John Smith."""
    for cast in (lone_ridge, strangers):
        with cast.scope():
            john_smith(cast)
    yield lone_ridge, strangers


# The manager


def test_outside_a_scope_nothing_is_answered(neighbours: tuple[Cast, Cast]) -> None:
    for question in (Client.objects.count, Client.objects.all, lambda: Client.objects.filter(ref="C-0001")):
        with pytest.raises(TenantRequired):
            question()


def test_outside_a_scope_nothing_is_saved(lone_ridge: Cast) -> None:
    with pytest.raises(TenantRequired):
        SettingsVersion(tenant_id=lone_ridge.tenant_id, number=9, values={}).save()
    with pytest.raises(TenantRequired):
        SettingsVersion.objects.create(number=9, values={})
    with pytest.raises(TenantRequired):
        SettingsVersion.objects.bulk_create([SettingsVersion(tenant_id=lone_ridge.tenant_id, number=9, values={})])


def test_inside_a_scope_only_its_own_rows_exist(neighbours: tuple[Cast, Cast]) -> None:
    ours, theirs = neighbours
    with ours.scope():
        found = Client.objects.get(ref="C-0001")
        assert found.tenant_id == ours.tenant_id
        assert Client.objects.count() == 1
    with theirs.scope():
        assert not Client.objects.filter(pk=found.pk).exists()


def test_a_row_of_another_company_is_not_saved(neighbours: tuple[Cast, Cast]) -> None:
    ours, theirs = neighbours
    with ours.scope():
        client = Client.objects.get()
    with theirs.scope():
        client.name = "Taken"
        with pytest.raises(TenantConflict):
            client.save(update_fields=["name"])
    with ours.scope():
        assert Client.objects.get().name == "John Smith"


# The scope (settled 21)


def test_the_setting_lives_for_the_transaction_only(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        assert sql("SELECT current_setting('app.tenant', true)") == [(str(lone_ridge.tenant_id),)]
    assert sql("SELECT COALESCE(current_setting('app.tenant', true), '')") == [("",)]


def test_the_setting_is_gone_after_a_rollback(lone_ridge: Cast) -> None:
    with pytest.raises(ZeroDivisionError), lone_ridge.scope():
        raise ZeroDivisionError
    assert sql("SELECT COALESCE(current_setting('app.tenant', true), '')") == [("",)]
    assert not tenancy.has_tenant()


def test_a_rollback_takes_all_of_the_scope_back(lone_ridge: Cast) -> None:
    with pytest.raises(ZeroDivisionError), lone_ridge.scope():
        john_smith(lone_ridge)
        raise ZeroDivisionError
    with lone_ridge.scope():
        assert Client.objects.count() == 0


def test_a_second_company_inside_the_first_is_refused(neighbours: tuple[Cast, Cast]) -> None:
    ours, theirs = neighbours
    with ours.scope():
        with pytest.raises(TenantConflict), theirs.scope():
            raise AssertionError("the other company was entered")
        assert tenancy.current_tenant() == ours.tenant_id
        assert Client.objects.count() == 1


def test_the_same_company_may_be_entered_again(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        with lone_ridge.scope():
            john_smith(lone_ridge)
        assert tenancy.current_tenant() == lone_ridge.tenant_id
        assert Client.objects.count() == 1
        assert sql("SELECT current_setting('app.tenant', true)") == [(str(lone_ridge.tenant_id),)]


def test_an_inner_scope_that_fails_takes_only_its_own_back(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        john_smith(lone_ridge)
        with contextlib.suppress(ZeroDivisionError), lone_ridge.scope():
            john_smith(lone_ridge, name="Never")
            raise ZeroDivisionError
        assert Client.objects.get().name == "John Smith"


def test_a_scope_opens_its_own_transaction(lone_ridge: Cast) -> None:
    with pytest.raises(TenantConflict), transaction.atomic(), lone_ridge.scope():
        raise AssertionError("a scope inside a foreign transaction")


def test_two_threads_are_in_two_companies(neighbours: tuple[Cast, Cast]) -> None:
    ours, theirs = neighbours
    inside, done = threading.Event(), threading.Event()
    seen: list[uuid.UUID] = []

    def other() -> None:
        try:
            with theirs.scope():
                inside.set()
                done.wait(10)
                seen.append(Client.objects.get().tenant_id)
        finally:
            connection.close()

    thread = threading.Thread(target=other)
    with ours.scope():
        thread.start()
        assert inside.wait(10)
        assert Client.objects.get().tenant_id == ours.tenant_id
        done.set()
        thread.join(10)
    assert seen == [theirs.tenant_id]


def test_each_tenant_walks_the_companies_and_refuses_inside_one(neighbours: tuple[Cast, Cast]) -> None:
    ids = [cast.tenant_id for cast in neighbours]
    walked = [(tenant_id, Client.objects.count()) for tenant_id in tenancy.each_tenant(ids)]
    assert walked == [(ids[0], 1), (ids[1], 1)]
    with neighbours[0].scope(), pytest.raises(ImproperlyConfigured):
        next(tenancy.each_tenant(ids))


# Raw SQL: the manager is not there, the database decides


def test_without_a_company_raw_sql_sees_nothing(neighbours: tuple[Cast, Cast]) -> None:
    assert sql("SELECT count(*) FROM ledger_client") == [(0,)]
    assert sql("SELECT count(*) FROM ledger_company") == [(0,)]
    assert sql("UPDATE ledger_client SET name = 'Taken'") == [(0,)]
    assert sql("DELETE FROM ledger_client") == [(0,)]
    with pytest.raises(DatabaseError, match="row-level security"):
        sql(
            "INSERT INTO ledger_sequence (id, tenant_id, kind, series, next) VALUES (%s, %s, 'x', '', 1)",
            uuid.uuid4(),
            neighbours[0].tenant_id,
        )


def test_raw_sql_in_a_scope_cannot_read_another_company(neighbours: tuple[Cast, Cast]) -> None:
    ours, theirs = neighbours
    with ours.scope():
        assert sql("SELECT DISTINCT tenant_id FROM ledger_client") == [(ours.tenant_id,)]
        assert sql("SELECT count(*) FROM ledger_client WHERE tenant_id = %s", theirs.tenant_id) == [(0,)]
        assert sql("SELECT id FROM ledger_company") == [(ours.tenant_id,)]


def test_raw_sql_in_a_scope_cannot_change_or_remove_another_companys_rows(neighbours: tuple[Cast, Cast]) -> None:
    ours, theirs = neighbours
    with ours.scope():
        assert sql("UPDATE ledger_client SET name = 'Taken' WHERE tenant_id = %s", theirs.tenant_id) == [(0,)]
        assert sql("DELETE FROM ledger_contact WHERE tenant_id = %s", theirs.tenant_id) == [(0,)]
        assert sql("UPDATE ledger_company SET name = 'Taken' WHERE id = %s", theirs.tenant_id) == [(0,)]
    with theirs.scope():
        assert Client.objects.get().name == "John Smith"
        assert Contact.objects.count() == 1
        assert Company.objects.get().name == "Other Co"


def test_raw_sql_in_a_scope_cannot_write_a_row_into_another_company(neighbours: tuple[Cast, Cast]) -> None:
    ours, theirs = neighbours
    row = (uuid.uuid4(), theirs.tenant_id)
    with pytest.raises(DatabaseError, match="row-level security"), ours.scope():
        sql("INSERT INTO ledger_sequence (id, tenant_id, kind, series, next) VALUES (%s, %s, 'planted', '', 1)", *row)
    with pytest.raises(DatabaseError, match="row-level security"), ours.scope():
        sql("UPDATE ledger_sequence SET tenant_id = %s", theirs.tenant_id)


def test_a_key_to_another_companys_row_is_refused(neighbours: tuple[Cast, Cast]) -> None:
    """Foreign keys are checked past row-level security; that the company is part of them is what refuses this."""
    ours, theirs = neighbours
    with theirs.scope():
        foreign = Client.objects.get()
    with ours.scope():
        own = Contact.objects.get()
    with pytest.raises(IntegrityError, match="contact_client_same_tenant"), ours.scope():
        sql("UPDATE ledger_contact SET client_id = %s WHERE id = %s", foreign.pk, own.pk)
    with pytest.raises(IntegrityError, match="site_client_same_tenant"), ours.scope():
        Site.objects.create(ref="S-9", client_id=foreign.pk, line1="1 Main St", label="planted")
    with pytest.raises(IntegrityError, match="lead_owner_same_tenant"), ours.scope():
        Lead.objects.create(ref="L-9", name="Planted", name_key="planted", owner_id=theirs.owner.pk)


def test_a_ref_is_unique_in_its_company_and_free_in_another(neighbours: tuple[Cast, Cast]) -> None:
    ours, _theirs = neighbours
    with pytest.raises(IntegrityError, match="client_ref"), ours.scope():
        create_client(by=ours.owner, kind="person", name="Second", ref="C-0001", on_duplicate="create")


def test_a_client_with_rows_below_it_cannot_be_removed_by_raw_sql(neighbours: tuple[Cast, Cast]) -> None:
    with pytest.raises(IntegrityError, match="contact_client_same_tenant"), neighbours[0].scope():
        sql("DELETE FROM ledger_client")
