"""Whether the rows that a card was computed from are still as they were."""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

from django.apps import apps

from ledger.compiled import Compiled, some_ids

Versions = dict[tuple[str, str], int]


def versions(targets: Iterable[dict[str, Any]], *, lock: bool = False) -> Versions:
    """The versions now, one query for each kind of record; a record in the trash or gone is missing."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for target in targets:
        wanted[target["kind"]].append(target["id"])
    found: Versions = {}
    for kind in sorted(wanted):
        rows = _versions(kind, lock).all(ids=[uuid.UUID(one) for one in wanted[kind]])
        found |= {(kind, str(pk)): version for pk, version in rows}
    return found


@cache
def _versions(kind: str, lock: bool) -> Compiled[Any]:
    def build() -> Any:
        model: Any = apps.get_model("ledger", kind)
        rows = model.objects.filter(pk=some_ids("ids"), deleted_at=None).order_by("pk")
        return (rows.select_for_update(no_key=True) if lock else rows).values_list("pk", "version")

    return Compiled(build)


def moved(targets: list[dict[str, Any]], *, lock: bool = False) -> list[dict[str, Any]]:
    """The targets whose version is no longer the one that was shown."""
    now = versions(targets, lock=lock)
    return [target for target in targets if now.get((target["kind"], target["id"])) != target["version"]]
