"""An owner of the tables and a role that runs the product: the second may do what the product does, and no more."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from psycopg import sql

from assistant.models import Decision, PendingAction
from ledger import grants
from ledger.models import AuditEvent, AuditLink, Client, Invoice
from tests.own_server import address, own_server
from tests.server import ROOT

APPEND_ONLY = {
    "assistant_decision",
    "assistant_evidencefile",
    "assistant_question",
    "assistant_reviewpolicy",
    "ledger_acceptance",
    "ledger_attachment",
    "ledger_auditevent",
    "ledger_auditlink",
    "ledger_creditnote",
    "ledger_deliveryevent",
    "ledger_priceversion",
    "ledger_settingsversion",
    "ledger_stagechange",
    "ledger_storeddocument",
}


@dataclass(frozen=True)
class Installation:
    """A migrated database with two roles, and a superuser's way in."""

    owner: str
    runtime: str
    admin: str

    def manage(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "DATABASE_URL": self.runtime,
            "DATABASE_OWNER_URL": self.owner,
            "DJANGO_SETTINGS_MODULE": "tests.settings_processes",
        }
        environment.pop("AVAL_PROCESS", None)
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=environment | settings, capture_output=True, text=True, check=False
        )

    def rights(self) -> dict[str, frozenset[str]]:
        query = """
            SELECT table_name, array_agg(privilege_type::text) FROM information_schema.role_table_grants
             WHERE grantee = 'runtime' AND table_schema = 'public' GROUP BY table_name
        """
        with psycopg.connect(self.admin) as connection:
            return {name: frozenset(held) for name, held in connection.execute(query).fetchall()}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with own_server(tmp_path_factory.mktemp("grants")) as access:
        with psycopg.connect(access.admin_url, autocommit=True) as admin:
            admin.execute("CREATE ROLE keeper LOGIN PASSWORD 'keeper'")
            admin.execute("CREATE ROLE runtime LOGIN PASSWORD 'runtime'")
            admin.execute("CREATE DATABASE split OWNER keeper")
        own = Installation(
            address(access, "keeper", "keeper", "split"),
            address(access, "runtime", "runtime", "split"),
            address(access, "postgres", access.admin_password, "split"),
        )
        migrated = own.manage("migrate", "--no-input", "--verbosity=0")
        assert migrated.returncode == 0, migrated.stderr
        yield own


def test_the_rights_follow_from_what_the_triggers_forbid() -> None:
    every = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE"})
    for model in (AuditEvent, AuditLink, Decision):
        assert grants.rights_of(model) == {"SELECT", "INSERT"}
    for model in (PendingAction, Invoice):
        assert grants.rights_of(model) == every - {"DELETE"}
    assert grants.rights_of(Client) == every
    assert {table for table, rights in grants.wanted().items() if rights == {"SELECT", "INSERT"}} == APPEND_ONLY


def test_migrate_gives_the_product_what_it_needs_and_no_more(installation: Installation) -> None:
    assert installation.rights() == grants.wanted()


@pytest.mark.parametrize("table", sorted(APPEND_ONLY))
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_r12_the_product_cannot_change_what_is_only_added_to(
    installation: Installation, table: str, statement: str
) -> None:
    """Without any trigger: the right itself is missing."""
    with psycopg.connect(installation.runtime) as own, pytest.raises(psycopg.errors.InsufficientPrivilege):
        own.execute(sql.SQL(statement).format(sql.Identifier(table)))


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE ledger_auditevent DISABLE TRIGGER ALL",
        "ALTER TABLE ledger_client NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY client_tenant ON ledger_client",
        "DROP TABLE ledger_auditevent CASCADE",
        "CREATE TABLE mine (id int)",
        "SET ROLE keeper",
        "SET session_replication_role = replica",
        "DELETE FROM django_migrations",
    ],
)
def test_r12_r13_the_product_cannot_take_its_walls_down(installation: Installation, statement: str) -> None:
    with psycopg.connect(installation.runtime) as own, pytest.raises(psycopg.errors.InsufficientPrivilege):
        own.execute(statement)


def test_the_product_works_with_what_it_has(installation: Installation) -> None:
    """The demonstration writes companies, quotes, invoices, payments and their record through the product's actions."""
    for command in (["load_demo"], ["verify_audit"], ["check_invariants"]):
        done = installation.manage(*command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    with psycopg.connect(installation.admin) as admin:
        found = admin.execute("SELECT count(*) > 100 FROM ledger_auditlink").fetchone()
    assert found == (True,)


ERASE = """
from ledger import audit, tenancy
from ledger.actions import erasing
from ledger.models import Access, Client, Membership
with tenancy.tenant(Access.objects.order_by("pk").first().tenant_id):
    owner = Membership.objects.filter(role="owner").first()
    deed = erasing.erase_person(Client.objects.order_by("ref").first(), by=owner, reason="Asked.")
with tenancy.tenant(deed.tenant_id):
    print(deed.told["count"] > 0, audit.verify().whole)
"""


def test_a_person_is_erased_by_a_role_that_may_change_no_event(installation: Installation) -> None:
    """The function runs as the owner of the tables; the product's own role has no right to change one."""
    done = installation.manage("shell", "-c", ERASE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "True True"


def test_a_second_migrate_takes_back_what_somebody_gave(installation: Installation) -> None:
    with psycopg.connect(installation.admin, autocommit=True) as admin:
        admin.execute("GRANT UPDATE, TRUNCATE ON ledger_auditevent TO runtime")
        admin.execute("REVOKE INSERT ON ledger_client FROM runtime")
    assert installation.rights() != grants.wanted()
    assert installation.manage("migrate", "--no-input", "--verbosity=0").returncode == 0
    assert installation.rights() == grants.wanted()


@pytest.mark.parametrize(
    ("prepare", "undo", "said"),
    [
        ("GRANT keeper TO runtime", "REVOKE keeper FROM runtime", "may act as the owner"),
        ("GRANT CREATE ON SCHEMA public TO runtime", "REVOKE CREATE ON SCHEMA public FROM runtime", "or make tables"),
        ("ALTER ROLE runtime BYPASSRLS", "ALTER ROLE runtime NOBYPASSRLS", "has BYPASSRLS"),
        (
            "ALTER TABLE ledger_note OWNER TO runtime",
            "ALTER TABLE ledger_note OWNER TO keeper",
            "REASSIGN OWNED BY runtime TO keeper",
        ),
    ],
)
def test_roles_that_are_not_apart_are_refused_in_one_line(
    installation: Installation, prepare: str, undo: str, said: str
) -> None:
    with psycopg.connect(installation.admin, autocommit=True) as admin:
        admin.execute(prepare)
        try:
            refused = installation.manage("migrate", "--no-input")
        finally:
            admin.execute(undo)
    assert refused.returncode == 1
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_role_that_is_not_there_is_named(installation: Installation) -> None:
    strange = installation.runtime.replace("runtime:runtime", "nobody:nothing")
    refused = installation.manage("migrate", "--no-input", DATABASE_URL=strange)
    assert (refused.returncode, "The role nobody of DATABASE_URL does not exist" in refused.stderr) == (1, True)
