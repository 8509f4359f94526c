"""Whether the rows that a card was computed from are still as they were."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.apps import apps

Versions = dict[tuple[str, str], int]


def _model(kind: str) -> Any:
    return apps.get_model("ledger", kind)


def versions(targets: Iterable[dict[str, Any]], *, lock: bool = False) -> Versions:
    """The versions now, one query for each kind of record; a record in the trash or gone is missing."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for target in targets:
        wanted[target["kind"]].append(target["id"])
    found: Versions = {}
    for kind in sorted(wanted):
        rows = _model(kind).objects.filter(pk__in=wanted[kind], deleted_at=None).order_by("pk")
        if lock:
            rows = rows.select_for_update(no_key=True)
        found |= {(kind, str(pk)): version for pk, version in rows.values_list("pk", "version")}
    return found


def moved(targets: list[dict[str, Any]], *, lock: bool = False) -> list[dict[str, Any]]:
    """The targets whose version is no longer the one that was shown."""
    now = versions(targets, lock=lock)
    return [target for target in targets if now.get((target["kind"], target["id"])) != target["version"]]
