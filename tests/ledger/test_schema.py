"""A walk over the schema: every table of a company has its policy, its keys and its ref by itself (settled 22, 23)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models

from ledger.models.base import BusinessModel
from ledger.models.people import Membership
from ledger.tenancy import TenantForeignKey, TenantModel
from tests import server
from tests.cast import Cast

OURS = ("ledger_", "assistant_")

# Read before a company is known, or not of any company. Nothing may be added here without a reason beside it.
WITHOUT_POLICY = {
    "ledger_user": "who signs in, before any company",
    "ledger_user_groups": "Django's own",
    "ledger_user_user_permissions": "Django's own",
    "ledger_access": "ids only: which companies a person may enter",
    "ledger_due": "ids only: what has to be looked at",
    "ledger_knock": "a hash and a count: how often an address knocks at a public page",
    "ledger_lifeline": "of no company: which database's life the rows belong to",
    "ledger_publiclink": "ids and the hash of a token: what a link opens",
}


def rows(statement: str, *values: object) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def our_tables() -> set[str]:
    names = rows("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace")
    return {name for (name,) in names if name.startswith(OURS)}


def column_tables(column: str) -> set[str]:
    found = rows(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = %s", column
    )
    return {name for (name,) in found if name.startswith(OURS)}


def definitions(kind: str) -> dict[str, set[str]]:
    """The constraints of a kind (u, f, c) by table, as PostgreSQL writes them."""
    found: dict[str, set[str]] = {}
    for table, text in rows(
        "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = %s", kind
    ):
        found.setdefault(table, set()).add(text)
    return found


def tenant_models() -> list[type[TenantModel]]:
    return [model for model in apps.get_models() if issubclass(model, TenantModel)]


def test_every_table_has_a_policy_or_is_on_the_closed_list() -> None:
    bound = rows(
        "SELECT c.relname FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid "
        "WHERE c.relrowsecurity AND c.relforcerowsecurity"
    )
    assert our_tables() - {name for (name,) in bound} == set(WITHOUT_POLICY)


def test_each_table_has_one_policy_for_reading_and_writing_by_its_company_alone() -> None:
    policies = rows(
        "SELECT c.relname, p.polcmd, p.polpermissive, pg_get_expr(p.polqual, p.polrelid), "
        "pg_get_expr(p.polwithcheck, p.polrelid) FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid"
    )
    wanted = "({column} = (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid)"
    for table, command, permissive, reading, writing in policies:
        rule = wanted.format(column="id" if table == "ledger_company" else "tenant_id")
        assert (command, permissive, reading, writing) == ("*", True, rule, rule), table
    assert len({table for table, *_rest in policies}) == len(policies)


def test_a_table_with_a_company_and_no_policy_carries_ids_only() -> None:
    told = {name for name in WITHOUT_POLICY if name in column_tables("tenant_id")}
    kinds = rows(
        "SELECT DISTINCT table_name, data_type FROM information_schema.columns "
        "WHERE table_name = ANY(%s) AND column_name NOT IN ('kind', 'token_sha256')",
        list(told),
    )
    harmless = {"uuid", "bigint", "integer", "timestamp with time zone"}
    assert {(table, kind) for table, kind in kinds if kind not in harmless} == set()


def test_every_table_of_a_company_can_be_named_with_its_company() -> None:
    unique = definitions("u")
    for model in tenant_models():
        assert "UNIQUE (tenant_id, id)" in unique[model._meta.db_table], model


def test_every_key_to_a_table_of_a_company_holds_the_company() -> None:
    """Whatever refers to such a table refers to (tenant, id) of it, and no key refers to its id alone."""
    scoped = {model._meta.db_table for model in tenant_models()}
    foreign = definitions("f")
    for model in tenant_models():
        for field in model._meta.local_fields:
            target = field.related_model
            if isinstance(target, type) and target._meta.db_table in scoped:
                table = target._meta.db_table
                wanted = f"FOREIGN KEY (tenant_id, {field.column}) REFERENCES {table}(tenant_id, id)"
                assert any(text.startswith(wanted) for text in foreign[model._meta.db_table]), (model, field)
                assert isinstance(field, TenantForeignKey), (model, field)
    plain = {text for texts in foreign.values() for text in texts if text.split(" REFERENCES ")[-1].endswith("(id)")}
    assert {text for text in plain if text.split(" REFERENCES ")[-1].removesuffix("(id)") in scoped} == set()


def test_every_business_record_has_a_ref_of_its_own_in_its_company() -> None:
    unique = definitions("u")
    with_ref = [model for model in tenant_models() if issubclass(model, BusinessModel)] + [Membership]
    for model in with_ref:
        assert "UNIQUE (tenant_id, ref)" in unique[model._meta.db_table], model


def test_the_role_of_the_tests_is_bound_by_the_policies() -> None:
    assert rows("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user") == [(False, False)]


@pytest.fixture
def new_table() -> Iterator[type[TenantModel]]:
    """A model that nobody prepared, as a later change would bring it."""

    class Gadget(TenantModel):
        ref = models.CharField(max_length=24)
        keeper = TenantForeignKey(Membership, related_name="+")
        before = TenantForeignKey("self", null=True, related_name="+")

        class Meta:
            app_label = "ledger"
            db_table = "ledger_gadget"

    with connection.schema_editor() as editor:
        editor.create_model(Gadget)
    yield Gadget
    with connection.schema_editor() as editor:
        editor.delete_model(Gadget)
    del apps.all_models["ledger"]["gadget"]
    apps.clear_cache()


def test_a_new_model_gets_all_of_it_by_itself(new_table: type[TenantModel], lone_ridge: Cast, strangers: Cast) -> None:
    assert rows("SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = 'ledger_gadget'::regclass") == [
        (True, True)
    ]
    assert {"UNIQUE (tenant_id, id)", "UNIQUE (tenant_id, ref)"} <= definitions("u")["ledger_gadget"]
    keys = definitions("f")["ledger_gadget"]
    assert "FOREIGN KEY (tenant_id, keeper_id) REFERENCES ledger_membership(tenant_id, id)" in keys
    assert "FOREIGN KEY (tenant_id, before_id) REFERENCES ledger_gadget(tenant_id, id)" in keys
    with lone_ridge.scope():
        new_table.objects.create(ref="G-1", keeper=lone_ridge.owner)
    with strangers.scope():
        assert rows("SELECT count(*) FROM ledger_gadget") == [(0,)]


def test_no_model_changed_without_its_migration(database: Any) -> None:
    database.make()
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_the_migrations_do_not_change_from_one_process_to_the_next(database_url: str) -> None:
    """Sets and dictionaries in a constraint would come out in another order under another hash seed."""
    command = [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run", "--verbosity=0"]
    environment = os.environ | {"PYTHONHASHSEED": "12345", "DJANGO_SETTINGS_MODULE": "tests.settings_processes"}
    done = subprocess.run(command, cwd=server.ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
