"""Records by their public ref, in the company in scope; a stranger's ref and the trash answer the same: not found."""

from functools import cache
from typing import TypeVar

from django.db.models import CharField, QuerySet, Value
from django.utils.translation import gettext as _

from ledger.compiled import Compiled, Slot
from ledger.errors import NotFound
from ledger.models import BusinessModel, Client, Invoice, Lead, Quote, Site

Row = TypeVar("Row", bound=BusinessModel)

RECORDS: dict[str, type[BusinessModel]] = {
    "client": Client,
    "invoice": Invoice,
    "lead": Lead,
    "quote": Quote,
    "site": Site,
}
"""What a note may be attached to and the trash may give back, by kind."""


def by_ref(rows: "type[Row] | QuerySet[Row]", ref: str, *, trashed: bool = False) -> Row:
    """The one row of that ref (a model, or a query on it that says what to fetch along). Raises NotFound."""
    wanted = ref.strip().upper()
    row: Row | None
    if isinstance(rows, QuerySet):
        row = rows.filter(ref=wanted, deleted_at__isnull=not trashed).first()
    else:
        row = _of_ref(rows, trashed).first(ref=wanted)
    if row is None:
        raise NotFound(_("There is no record %(ref)s.") % {"ref": ref.strip()[:24]}, ref=ref.strip()[:24])
    return row


@cache
def _of_ref(model: type[Row], trashed: bool) -> Compiled[Row]:
    return Compiled(lambda: model.objects.filter(ref=Slot("ref", CharField()), deleted_at__isnull=not trashed))


def any_by_ref(ref: str, *, trashed: bool = False) -> BusinessModel:
    """The record of that ref, whatever its kind: one query to find it, one to read it. Raises NotFound."""
    wanted = ref.strip().upper()
    found = [
        model.objects.filter(ref=wanted, deleted_at__isnull=not trashed)
        .annotate(of_kind=Value(kind, CharField()))
        .values_list("of_kind", "pk")
        for kind, model in RECORDS.items()
    ]
    first = list(found[0].union(*found[1:], all=True)[:1])
    if not first:
        raise NotFound(_("There is no record %(ref)s.") % {"ref": ref.strip()[:24]}, ref=ref.strip()[:24])
    kind, key = first[0]
    row: BusinessModel = RECORDS[kind].objects.get(pk=key)
    return row
