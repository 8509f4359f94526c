"""What the role of DATABASE_URL may do where DATABASE_OWNER_URL names another as the owner of the tables.

It gets what the product does, table by table, and no more. That is read from the models' own triggers: a row that a
trigger never lets change or go needs no right to change it or take it away. TRUNCATE is given nowhere.
"""

from typing import Any

import pgtrigger
from django.apps import apps
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

READ_ONLY = {"django_migrations": frozenset({"SELECT"})}
"""Tables without a model, which migrate writes and a process reads."""

HELD = """
    SELECT c.relname, coalesce(array_agg(a.privilege_type) FILTER (WHERE a.grantee = r.oid), '{}')
      FROM pg_class c
      JOIN pg_roles r ON r.rolname = %s
      LEFT JOIN LATERAL aclexplode(c.relacl) a ON true
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  GROUP BY c.relname
"""
OTHERS_TABLES = """
    SELECT DISTINCT pg_get_userbyid(c.relowner) FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
       AND pg_get_userbyid(c.relowner) <> current_user
"""
ROLE = """
    SELECT rolsuper OR rolbypassrls, pg_has_role(rolname, current_user, 'MEMBER'),
           has_schema_privilege(rolname, current_schema(), 'CREATE')
      FROM pg_roles WHERE rolname = %s
"""


class WrongRoles(Exception):
    """The two roles cannot be kept apart as they are; one line that says what to do."""


def rights_of(model: type[Model]) -> frozenset[str]:
    """The rights that the product needs on a model's table."""
    denied = {
        right
        for right, operation in (("UPDATE", pgtrigger.Update), ("DELETE", pgtrigger.Delete))
        if any(_forbids(trigger, operation) for trigger in getattr(model._meta, "triggers", ()))
    }
    return frozenset({"SELECT", "INSERT", "UPDATE", "DELETE"}) - denied


def _forbids(trigger: Any, operation: Any) -> bool:
    """Whether the trigger refuses the operation for every row."""
    always = isinstance(trigger, pgtrigger.Protect) and trigger.condition is None
    partly = isinstance(trigger, pgtrigger.ReadOnly) and bool(trigger.fields or trigger.exclude)
    return always and not partly and str(operation) in str(trigger.operation).split(" OR ")


def wanted() -> dict[str, frozenset[str]]:
    """Every table with the rights that the product needs on it."""
    models = apps.get_models(include_auto_created=True)
    concrete = (model for model in models if not model._meta.proxy and model._meta.managed)
    return {model._meta.db_table: rights_of(model) for model in concrete} | READ_ONLY


def require_two_roles(connection: BaseDatabaseWrapper, role: str) -> None:
    """Raises WrongRoles unless the connection's role can own everything and `role` only use it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        owner = cursor.fetchone()[0]
        cursor.execute(ROLE, [role])
        found = cursor.fetchone()
        cursor.execute(OTHERS_TABLES)
        others = [name for (name,) in cursor.fetchall()]
    if found is None:
        raise WrongRoles(f"The role {role} of DATABASE_URL does not exist: CREATE ROLE {role} LOGIN, with a password.")
    strong, member, creates = found
    if strong:
        raise WrongRoles(f"The role {role} of DATABASE_URL is a superuser or has BYPASSRLS: no company is walled in.")
    if others:
        raise WrongRoles(
            f"Tables belong to {', '.join(others)}: in this database, as a superuser, "
            f"REASSIGN OWNED BY {others[0]} TO {owner}."
        )
    if member or creates:
        raise WrongRoles(
            f"The role {role} of DATABASE_URL may act as the owner or make tables: it must be no member of {owner}, "
            f"not own the database, and have no CREATE on its schema."
        )


@transaction.atomic
def apply(connection: BaseDatabaseWrapper, role: str) -> list[str]:
    """Give and take what is amiss; the statements that it took."""
    quote = connection.ops.quote_name
    needed, statements = wanted(), []
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        schema = cursor.fetchone()[0]
        cursor.execute(HELD, [role])
        for table, names in sorted(cursor.fetchall()):
            held, right = frozenset(names), needed.get(table, frozenset())
            if held - right:
                taken = ", ".join(sorted(held - right))
                statements.append(f"REVOKE {taken} ON {quote(table)} FROM {quote(role)}")
            if right - held:
                given = ", ".join(sorted(right - held))
                statements.append(f"GRANT {given} ON {quote(table)} TO {quote(role)}")
        cursor.execute("SELECT has_schema_privilege(%s, %s, 'USAGE')", [role, schema])
        if cursor.fetchone() != (True,):
            statements.append(f"GRANT USAGE ON SCHEMA {quote(schema)} TO {quote(role)}")
        for statement in statements:
            cursor.execute(statement)
    return statements
