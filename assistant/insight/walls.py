"""That no company's rows are seen from another (J9), asked of the database and not of the code that filters."""

from collections.abc import Iterator

from django.apps import apps
from django.db import connection
from django.db.models import Q

from assistant.models import PendingAction, Turn
from ledger.models import Due
from ledger.tenancy import TenantModel, current_tenant

UNGUARDED = """
    SELECT c.relname FROM pg_class c
     WHERE c.relname = ANY(%s) AND pg_table_is_visible(c.oid)
       AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid))
  ORDER BY 1
"""


def nobody_else_is_seen() -> Iterator[str]:
    """Every business table is behind its policy, shows this company alone, and every promise names a row of its own."""
    tables = sorted(model._meta.db_table for model in apps.get_models() if issubclass(model, TenantModel))
    with connection.cursor() as cursor:
        cursor.execute(UNGUARDED, [tables])
        for (table,) in cursor.fetchall():
            yield f"J9 {table}: not behind a policy that binds its owner"
        seen = " UNION ALL ".join(
            f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table} WHERE tenant_id <> %s)"  # noqa: S608 (our own names)
            for table in tables
        )
        cursor.execute(seen, [current_tenant()] * len(tables))
        for (table,) in cursor.fetchall():
            yield f"J9 {table}: another company's rows are seen"
    for rows, kinds in ((PendingAction.objects, Q(kind__endswith="_action")), (Turn.objects, Q(kind="turn"))):
        own, ours = Q(object_id__in=rows.values("pk")), Q(tenant_id=current_tenant())
        for promise in Due.objects.filter(kinds, (own & ~ours) | (ours & ~own)):
            yield f"J9 the promise {promise.kind} of {promise.object_id} names another company"
